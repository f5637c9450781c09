// What instrumented CUDA includes: the wrappers around accesses and barriers, for nvcc.
//
// The other half, which drains the log on the host, is one unit of its own (runtime.cu); it takes the place of the parts
// of the CUDA runtime that allocate and launch, by the linker's --wrap.
#pragma once

#ifndef __CUDACC__
#error raceproof: this text is for nvcc; for other compilers instrument with --backend cpu
#endif

#include "kernel.hpp"
#include "sync.hpp"
#ifdef RACEPROOF_GROUPS
#include "groups.hpp"
#endif
#include "unit.hpp"

namespace raceproof_cuda {

namespace {

#ifdef RACEPROOF_GROUPS
// Whether a type is a group of CUDA's; any other object that has a `sync` of its own keeps it.
template <class T> __device__ auto try_passed(const T& group, int) -> decltype(passed_by(group)) { passed_by(group); }
#endif
template <class T> __device__ void try_passed(const T&, long) {}

template <class T> __device__ __forceinline__ auto sync(T&& group) -> decltype(group.sync()) {
    struct After {
        const T& group;
        __device__ ~After() { try_passed(group, 0); }
    };
    if constexpr (__is_same(decltype(group.sync()), void)) {
        group.sync();
        try_passed(group, 0);
    } else {
        After after{group};
        return group.sync();
    }
}

}  // namespace

}  // namespace raceproof_cuda

namespace raceproof {
using namespace raceproof_cuda;
}
