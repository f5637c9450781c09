// How records get from a running kernel to the host: rings of words in device memory.
//
// A writer takes places by adding to the cursor of its ring, waits until the host has made room for them, writes, and
// then counts its words as written for the chunks in which they lie. The host copies a chunk only after it has seen that
// all words of the chunk are written, and then makes room for the next lap. So a log may be far larger than the memory
// of the device, and no copy ever holds half a record that looks whole. All records of a block go to one ring, in which
// the records of each thread keep their order.
//
// Nothing here knows what a record says (records.hpp) or how the host copies (drain.hpp). The text is plain CUDA and also
// runs on the cpu back end. The host's half of the runtime is no CUDA: it defines RACEPROOF_HOST_ONLY, and sees no writers.
#pragma once

namespace raceproof_cuda {

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr u32 RINGS = 8;
constexpr u32 CHUNK_WORDS = 4096;

// What writers and the host change of one ring. Each word has a line of cache of its own.
struct Lane {
    u64 cursor;        // words ever asked for
    u64 apart[15];
    u64 limit;         // words for which there is room, counted from the beginning
    u64 apart_again[15];
};

// What a launch says of itself: its first thread writes it (kernel.hpp).
constexpr u32 HEAD_WORDS = 500;
struct Head {
    u32 ready;         // written last
    u32 unit;          // which unit's kernel
    u32 kernel;        // its number there
    u32 words;         // of `values`
    u32 dynamic_at;    // where dynamic shared memory begins
    u32 dynamic_bytes;
    u64 values[HEAD_WORDS];
};

// What a unit knows; in its constant memory.
struct Context {
    u64* words;        // of all rings, one after the other
    u64* written;      // for each chunk of each ring: words ever written into it
    Lane* lanes;
    Head* head;
    u64 capacity;      // words of one ring: a power of two, at least two chunks
    u32 unit;
    u32 enabled;
    u32 first_site;    // of the unit, in the table of the program
};

#ifndef RACEPROOF_HOST_ONLY
namespace {

__device__ __forceinline__ void pause_a_little() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    __nanosleep(500);
#endif
}

// Takes `count` words of a ring; gives the place of the first. Returns when there is room.
__device__ __forceinline__ u64 take_words(const Context& context, u32 ring, u32 count) {
    Lane* lane = context.lanes + ring;
    u64 first = atomicAdd(&lane->cursor, u64(count));
    volatile u64* limit = &lane->limit;
    while (first + count > *limit) pause_a_little();
    return first;
}

__device__ __forceinline__ u64* word_at(const Context& context, u32 ring, u64 place) {
    return context.words + ring * context.capacity + (place & (context.capacity - 1));
}

// Counts words as written. Whoever wrote them has fenced before.
__device__ __forceinline__ void words_are_written(const Context& context, u32 ring, u64 first, u32 count) {
    u64* written = context.written + ring * (context.capacity / CHUNK_WORDS);
    u32 left = CHUNK_WORDS - u32(first % CHUNK_WORDS);
    u32 here = count < left ? count : left;
    u64 chunk = (first & (context.capacity - 1)) / CHUNK_WORDS;
    atomicAdd(written + chunk, u64(here));
    if (here < count) atomicAdd(written + (chunk + 1) % (context.capacity / CHUNK_WORDS), u64(count - here));
}

}  // namespace
#endif

}  // namespace raceproof_cuda
