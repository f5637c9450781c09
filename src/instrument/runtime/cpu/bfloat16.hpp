// `__nv_bfloat16`, as cuda_bf16.h has it.
#pragma once

#include "raceproof.hpp"

typedef raceproof::Narrow<8> __nv_bfloat16;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat16::Raw __nv_bfloat16_raw;
typedef raceproof::NarrowPair<__nv_bfloat16> __nv_bfloat162;
typedef __nv_bfloat162 nv_bfloat162;

#define RACEPROOF_NUMBER __nv_bfloat16
#define RACEPROOF_PAIR __nv_bfloat162
#define RACEPROOF_NAME(before, after) before##bfloat16##after
#include "narrow_functions.hpp"

inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 value) { return {value, value}; }
