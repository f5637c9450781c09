// The records of a warp: what they look like, and how lanes that do the same thing write one together.
//
//   word 0   type (4 bits), kind (4), warp of the block (8), bytes of the access (16), site (32)
//   word 1   block of the grid, linear
//   word 2   lanes (32), and by type: stride between lanes (line), lanes that a sync names (sync_warp)
//   word 3   line, list: address of the lowest lane; wide: address; shared: place (32), bytes (32)
//   then     list: for each lane in order, 32 bits: its address less that of the lowest; wide: bytes
//
// An address of shared memory counts from the start of the block's, and its kind has the bit `in_shared`.
#pragma once

#include "ring.hpp"

namespace raceproof_cuda {

enum Type : u32 { nothing, line, list, wide, sync_block, sync_warp, sync_grid, shared_extent, thread_end, refused };

// The first five are those of the log.
enum AccessKind : u32 { reads, writes, atomic_block, atomic_device, atomic_system, reads_and_writes, in_shared = 8 };

// What a kernel did that cannot be logged.
enum Refusal : u32 { sync_of_large_tile };

constexpr u32 MOST_BYTES = 0xffff;

// The words of a record, of which the first three are given.
__host__ __device__ inline u32 words_of(u64 first, u64 third) {
    u32 lanes = 0;
    for (u32 left = u32(third); left; left &= left - 1) lanes++;
    switch (u32(first & 15)) {
        case line:
        case shared_extent: return 4;
        case list: return 4 + (lanes + 1) / 2;
        case wide: return 5;
        default: return 3;
    }
}

// How a parameter of a kernel is to be read.
enum class Form : u32 { truth, integer, natural, floating, pointer, bytes };

constexpr u32 MOST_PARAMETER_BYTES = 256;

#ifndef RACEPROOF_HOST_ONLY
namespace {

__device__ __forceinline__ u32 linear_thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

__device__ __forceinline__ u64 linear_block() {
    return blockIdx.x + u64(gridDim.x) * (blockIdx.y + u64(gridDim.y) * blockIdx.z);
}

__device__ __forceinline__ u32 lowest(u32 lanes) { return u32(__ffs(int(lanes))) - 1; }

// One record for `lanes`, all of which are here. `own` of each is its address less that of the lowest.
__device__ __forceinline__ void write_accesses(const Context& context, u64 first, u64 address, int own, u32 lanes) {
    u32 thread = linear_thread(), lane = thread % 32, leader = lowest(lanes), others = lanes & (lanes - 1);
    int stride = 0;
    if (others) {
        u32 second = lowest(others);
        int difference = __shfl_sync(lanes, own, int(second));
        stride = second - leader == 1 ? difference : difference / int(second - leader);
    }
    // Wider than a word, or two products could be taken for one.
    bool is_line = __ballot_sync(lanes, own == static_cast<long long>(stride) * (lane - leader)) == lanes;
    u32 count = is_line ? 4 : 4 + (u32(__popc(lanes)) + 1) / 2;
    u64 block = linear_block();
    u32 ring = u32(block % RINGS);
    u64 place = 0;
    if (lane == leader) place = take_words(context, ring, count);
    place = __shfl_sync(lanes, place, int(leader));
    if (lane == leader) {
        *word_at(context, ring, place) = first | u64(is_line ? line : list);
        *word_at(context, ring, place + 1) = block;
        *word_at(context, ring, place + 2) = u64(lanes) | u64(is_line ? u32(stride) : 0) << 32;
        *word_at(context, ring, place + 3) = address;
    }
    if (!is_line) {
        u32 rank = u32(__popc(lanes & ((1u << lane) - 1)));
        // Two lanes share a word; each writes its half.
        u32* halves = reinterpret_cast<u32*>(word_at(context, ring, place + 4 + rank / 2));
        halves[rank % 2] = u32(own);
    }
    __threadfence();
    __syncwarp(lanes);
    if (lane == leader) words_are_written(context, ring, place, count);
}

// A record of three or four words for lanes that say the same.
__device__ __forceinline__ void write_words(const Context& context, u64 first, u32 lanes, u32 high, u64 fourth, u64 fifth,
                                            u32 count) {
    u64 block = linear_block();
    u32 ring = u32(block % RINGS);
    u64 place = take_words(context, ring, count);
    *word_at(context, ring, place) = first;
    *word_at(context, ring, place + 1) = block;
    *word_at(context, ring, place + 2) = u64(lanes) | u64(high) << 32;
    if (count > 3) *word_at(context, ring, place + 3) = fourth;
    if (count > 4) *word_at(context, ring, place + 4) = fifth;
    __threadfence();
    words_are_written(context, ring, place, count);
}

__device__ __forceinline__ u64 first_word(u32 type, u32 kind, u32 bytes, u32 number) {
    return u64(type) | u64(kind) << 4 | u64(linear_thread() / 32) << 8 | u64(bytes) << 16 | u64(number) << 32;
}

// An access of every lane that is here. Lanes whose records would differ, or whose addresses are too far apart, take
// turns.
__device__ __noinline__ void log_access(const Context& context, u32 site, u32 kind, u32 bytes, u64 address) {
    u64 first = first_word(nothing, kind, bytes, site);
    u32 here = __activemask();
    bool is_done = false;
    while (!is_done) {
        u32 leader = lowest(here);
        u64 theirs = __shfl_sync(here, first, int(leader));
        long long own = static_cast<long long>(address - __shfl_sync(here, address, int(leader)));
        bool is_near = first == theirs && own >= -0x40000000ll && own <= 0x40000000ll;
        u32 near = __ballot_sync(here, is_near);
        if (is_near) {
            write_accesses(context, first, address, int(own), near);
            is_done = true;
        } else {
            here &= ~near;
        }
    }
}

// An access of more bytes than a record of a warp can say; one record for each thread.
__device__ __noinline__ void log_wide(const Context& context, u32 site, u32 kind, u64 bytes, u64 address) {
    write_words(context, first_word(wide, kind, 0, site), 1u << linear_thread() % 32, 0, address, bytes, 5);
}

// Something that all lanes that are here say, with the same `number`, `high` and `fourth` in each.
__device__ __noinline__ void log_mark(const Context& context, u32 type, u32 number, u32 high, u64 fourth) {
    u64 first = first_word(type, 0, 0, number);
    u32 here = __activemask();
    bool is_done = false;
    while (!is_done) {
        u32 leader = lowest(here);
        bool is_equal = __shfl_sync(here, first, int(leader)) == first;
        is_equal = __shfl_sync(here, high, int(leader)) == high && is_equal;
        u32 equal = __ballot_sync(here, is_equal);
        if (is_equal) {
            if (linear_thread() % 32 == leader) {
                write_words(context, first, equal, high, fourth, 0, type == shared_extent ? 4 : 3);
            }
            // What a lane does next is later than the mark in the ring, whoever wrote it.
            __syncwarp(equal);
            is_done = true;
        } else {
            here &= ~equal;
        }
    }
}

}  // namespace
#endif

}  // namespace raceproof_cuda
