// `__half`, as cuda_fp16.h has it.
#pragma once

#include "raceproof.hpp"

typedef raceproof::Narrow<5> __half;
typedef __half half;
typedef __half::Raw __half_raw;
typedef raceproof::NarrowPair<__half> __half2;
typedef __half2 half2;

#define RACEPROOF_NUMBER __half
#define RACEPROOF_PAIR __half2
#define RACEPROOF_NAME(before, after) before##half##after
#include "narrow_functions.hpp"

inline __half2 __half2half2(__half value) { return {value, value}; }
