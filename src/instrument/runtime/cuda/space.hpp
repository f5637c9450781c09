// In which memory an address lies. Where the device's own answer is not to be had, as in the test of the protocol on
// the cpu back end, whoever includes this defines RACEPROOF_SPACE and the three functions.
#pragma once

#include "ring.hpp"

namespace raceproof_cuda {

enum class Where : u32 { unshared, global, shared };

namespace {

#if defined(__CUDA_ARCH__) && !defined(RACEPROOF_SPACE)
extern __shared__ unsigned char dynamic_shared_memory[];

// In assembly: of the compiler's own functions, some calls on bit-fields do not compile (nvcc 13.0).
__device__ __forceinline__ bool is_global(u64 address) {
    u32 is_so;
    asm("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is_so) : "l"(address));
    return is_so != 0;
}

__device__ __forceinline__ bool is_shared(u64 address) {
    u32 is_so;
    asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is_so) : "l"(address));
    return is_so != 0;
}

__device__ __forceinline__ u64 place_in_shared(u64 address) {
    u64 place;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(place) : "l"(address));
    return place;
}

// Shared memory by its place in the block's, everything else by its address. Nobody else knows the stack of a thread,
// and nobody can write constants.
__device__ __forceinline__ Where where(const volatile void* pointer, u64& address) {
    address = (u64)pointer;
    if (is_global(address)) return Where::global;
    if (!is_shared(address)) return Where::unshared;
    address = place_in_shared(address);
    return Where::shared;
}

__device__ __forceinline__ u32 dynamic_bytes() {
    u32 bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return bytes;
}

__device__ __forceinline__ u32 dynamic_place() {
    return u32(place_in_shared((u64)dynamic_shared_memory));
}
#endif

}  // namespace

}  // namespace raceproof_cuda
