// Fibers: stacks on which CUDA threads run until they wait for others.
//
// A fiber runs one thread after another and is only left when its thread must wait; so a thread that never waits costs
// no switch. Stacks are reused, never given back, and end in a page that traps.
#pragma once

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "switch.hpp"
#include "words.hpp"

namespace raceproof {

struct Fiber {
    Context context;
    char* low = nullptr;     // the lowest byte that may be used
    size_t bytes = 0;        // up to the top
    Fiber* next = nullptr;   // in the list of those that are free
};

// Bytes of every stack: RACEPROOF_STACK in KiB, or what is enough for printf and local arrays of a usual size.
inline size_t stack_bytes() {
    static const size_t bytes = [] {
        const char* asked = getenv("RACEPROOF_STACK");
        size_t kib = asked ? strtoul(asked, nullptr, 10) : 0;
        return (kib >= 16 ? kib : 256) * 1024;
    }();
    return bytes;
}

constexpr size_t GUARD_BYTES = 16384;
constexpr uint32_t MAX_GUARDED = 20000;
inline uint32_t guarded = 0;

// Free fibers of one OS thread.
class FiberPool {
public:
    Fiber* take(void (*entry)()) {
        if (free_list) {
            Fiber* fiber = free_list;
            free_list = fiber->next;
            return fiber;
        }
        return make(entry);
    }

    void give(Fiber* fiber) {
        fiber->next = free_list;
        free_list = fiber;
    }

private:
    Fiber* make(void (*entry)()) {
        size_t bytes = stack_bytes();
        void* memory = mmap(nullptr, bytes + GUARD_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            fputs("raceproof: no memory for the stacks of threads; lower RACEPROOF_STACK (KiB)\n", stderr);
            _exit(70);
        }
        // Every guarded stack is two mappings, of which a process may have some 65,000.
        if (__atomic_fetch_add(&guarded, 1, __ATOMIC_RELAXED) < MAX_GUARDED) mprotect(memory, GUARD_BYTES, PROT_NONE);
        Fiber* fiber = new Fiber;
        fiber->low = static_cast<char*>(memory) + GUARD_BYTES;
        fiber->bytes = bytes;
        // Tops at different distances from a page's end: else the hot ends of all stacks share a few cache lines.
        size_t colour = (made++ % 61) * 64;
        fiber->context.prepare(fiber->low, bytes, fiber->low + bytes - colour, entry);
        return fiber;
    }

    Fiber* free_list = nullptr;
    size_t made = 0;
};

}  // namespace raceproof
