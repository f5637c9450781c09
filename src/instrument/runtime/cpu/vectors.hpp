// CUDA's vector types, their make_ functions, and dim3; sizes and alignments are those of CUDA on LP64.
#pragma once

#include "words.hpp"

#define RACEPROOF_VECTORS(base, element, align2, align4)                                                        \
    struct base##1 { element x; };                                                                              \
    struct alignas(align2) base##2 { element x, y; };                                                           \
    struct base##3 { element x, y, z; };                                                                        \
    struct alignas(align4) base##4 { element x, y, z, w; };                                                     \
    constexpr inline base##1 make_##base##1(element x) { return base##1{x}; }                                   \
    constexpr inline base##2 make_##base##2(element x, element y) { return base##2{x, y}; }                     \
    constexpr inline base##3 make_##base##3(element x, element y, element z) { return base##3{x, y, z}; }       \
    constexpr inline base##4 make_##base##4(element x, element y, element z, element w) {                       \
        return base##4{x, y, z, w};                                                                             \
    }

RACEPROOF_VECTORS(char, signed char, 2, 4)
RACEPROOF_VECTORS(uchar, unsigned char, 2, 4)
RACEPROOF_VECTORS(short, short, 4, 8)
RACEPROOF_VECTORS(ushort, unsigned short, 4, 8)
RACEPROOF_VECTORS(int, int, 8, 16)
RACEPROOF_VECTORS(uint, unsigned int, 8, 16)
RACEPROOF_VECTORS(long, long, 16, 16)
RACEPROOF_VECTORS(ulong, unsigned long, 16, 16)
RACEPROOF_VECTORS(longlong, long long, 16, 16)
RACEPROOF_VECTORS(ulonglong, unsigned long long, 16, 16)
RACEPROOF_VECTORS(float, float, 8, 16)
RACEPROOF_VECTORS(double, double, 16, 16)
#undef RACEPROOF_VECTORS

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};

// Where the running CUDA thread is. A block stays on one OS thread, so these are that thread's own.
inline thread_local uint3 threadIdx{};
inline thread_local uint3 blockIdx{};
inline thread_local dim3 blockDim{};
inline thread_local dim3 gridDim{};
constexpr int warpSize = 32;
