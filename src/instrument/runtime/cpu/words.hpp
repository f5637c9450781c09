// What stands before every line of CUDA: the qualifiers, which mean nothing to a C++ compiler, and the headers that
// nvcc includes on its own.
//
// The standard headers come first, so that none of them sees the macros below.
#pragma once

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __device_builtin__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))
// Empty, because system headers write __attribute__((__noinline__)).
#define __noinline__
#define __align__(bytes) __attribute__((aligned(bytes)))
// A declaration that the instrumenter left alone still belongs to the one block that its OS thread runs.
#define __shared__ static thread_local

#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef __NVCC__
#define __NVCC__ 1
#endif
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 0
// By these, headers of users find out which of CUDA's headers were included.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define CUDART_VERSION 12080
#define CUDA_VERSION 12080
#define CUDART_CB

#define CUDART_INF_F (__builtin_inff())
#define CUDART_NAN_F (__builtin_nanf(""))
#define CUDART_INF (__builtin_inf())
#define CUDART_NAN (__builtin_nan(""))
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_MIN_DENORM_F 1.401298464e-45f
#define CUDART_MAX_NORMAL_F 3.402823466e+38f
#define CUDART_SQRT_HALF_F 0.707106781f

namespace raceproof {
// A type that takes no part in the deduction of template arguments.
template <class T> struct plain_type { using type = T; };
template <class T> using plain = typename plain_type<T>::type;
}  // namespace raceproof
