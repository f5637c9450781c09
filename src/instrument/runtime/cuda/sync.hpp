// Barriers: each is passed, and then told.
//
// What orders threads is counted by the host (blocks.hpp). Shuffles and votes order nothing, whatever the hardware does.
#pragma once

#include "access.hpp"

namespace raceproof_cuda {

namespace {

__device__ __forceinline__ void passed(u32 type, u32 named) {
#ifdef RACEPROOF_LOGS
    if (context.enabled) log_mark(context, type, 0, named, 0);
#else
    (void)type, (void)named;
#endif
}

__device__ __forceinline__ void syncthreads() {
    __syncthreads();
    passed(sync_block, 0);
}

__device__ __forceinline__ int syncthreads_count(int predicate) {
    int result = __syncthreads_count(predicate);
    passed(sync_block, 0);
    return result;
}

__device__ __forceinline__ int syncthreads_and(int predicate) {
    int result = __syncthreads_and(predicate);
    passed(sync_block, 0);
    return result;
}

__device__ __forceinline__ int syncthreads_or(int predicate) {
    int result = __syncthreads_or(predicate);
    passed(sync_block, 0);
    return result;
}

__device__ __forceinline__ void syncwarp(u32 lanes = 0xffffffff) {
    __syncwarp(lanes);
    passed(sync_warp, lanes);
}

}  // namespace

}  // namespace raceproof_cuda
