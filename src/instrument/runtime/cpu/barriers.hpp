// Barriers of block and warp, what the log hears of barriers in two steps, fences and clocks.
#pragma once

#include "kernel.hpp"

#define RACEPROOF_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(RACEPROOF_HERE) { raceproof::worker->barrier({file, line}, false); }
inline void __syncthreads_at(int site, RACEPROOF_HERE) { raceproof::worker->barrier({file, line, site}, false); }
inline int __syncthreads_count(int predicate, RACEPROOF_HERE) {
    return int(raceproof::worker->barrier({file, line}, predicate != 0));
}
inline int __syncthreads_or(int predicate, RACEPROOF_HERE) {
    return raceproof::worker->barrier({file, line}, predicate != 0) != 0;
}
inline int __syncthreads_and(int predicate, RACEPROOF_HERE) {
    return raceproof::worker->barrier({file, line}, predicate == 0) == 0;
}

inline void __syncwarp(unsigned mask = 0xffffffffu, RACEPROOF_HERE) {
    raceproof::Worker& w = *raceproof::worker;
    w.take(w.arrive(mask, raceproof::SYNC, nullptr, 0, false, {file, line}));
}

namespace raceproof {
// Halves of the barriers of groups. The log knows each phase as a cell, which is no address of a program: who arrives
// updates it, who has waited reads it.
constexpr uint64_t block_phases = 1, grid_phases = 2, cluster_phases = 3;
inline void tell_half(uint64_t cell, uint64_t phase, Event event, Scope scope, MemoryOrder order) {
    if constexpr (is_scheduled) worker->write_held_now();
    something_changes();
    if (!worker->is_told()) return;
    Synchronisation what;
    what.event = event;
    what.order = order;
    what.scope = scope;
    what.is_of_block = scope == Scope::block;
    what.cell = cell | phase << 8;
    worker->synchronised(what);
}
inline void tell_half(uint64_t cell, uint64_t phase, Event event, Scope scope) {
    tell_half(cell, phase, event, scope, event == Event::load ? MemoryOrder::acquire : MemoryOrder::release);
}

// Fences order what a thread does; who has seen it is not their business. The log is told, and works out with the atomics
// around them who hands over to whom.
template <class T = void> inline void fence(MemoryOrder order, Scope scope) {
    (void)&HandsOver<T>::noted;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if constexpr (is_scheduled) {
        if (here.in_kernel) worker->orders({}, true);
    }
    if (!here.in_kernel || !worker->is_told()) return;
    Synchronisation what;
    what.order = order;
    what.scope = scope;
    worker->synchronised(what);
}
constexpr MemoryOrder strongest = MemoryOrder::sequentially_consistent;
}  // namespace raceproof

// Templates, so that programs without fences have none.
template <class T = void> inline void __threadfence() { raceproof::fence<T>(raceproof::strongest, raceproof::Scope::device); }
template <class T = void> inline void __threadfence_block() { raceproof::fence<T>(raceproof::strongest, raceproof::Scope::block); }
template <class T = void> inline void __threadfence_system() {
    raceproof::fence<T>(raceproof::strongest, raceproof::Scope::system);
}

inline long long clock64() {
    if constexpr (raceproof::is_scheduled) {
        raceproof::spin();
        return (raceproof::events.clock += 1000) + (long long)raceproof::events.now;
    }
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    raceproof::spin();
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}
inline void __nanosleep(unsigned) {
    if (raceproof::here.in_kernel) raceproof::worker->yield();
}

// Ends the thread and, once the launch is over, fails it.
[[noreturn]] inline void __trap() {
    if (!raceproof::here.in_kernel) abort();
    raceproof::worker->now().fail(719);   // cudaErrorLaunchFailure
    raceproof::worker->abandon();
}
inline void __brkpt(int = 0) { __trap(); }

// Takes the place of the C library's: a failed assertion of a kernel ends the thread, not the program.
extern "C" __attribute__((weak, noreturn)) void __assert_fail(const char* what, const char* file, unsigned line,
                                                              const char* function) noexcept {
    using namespace raceproof;
    fflush(stdout);
    if (!here.in_kernel) {
        fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, what);
        abort();
    }
    fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line,
            worker->now().kernel, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, what);
    Report::the().tell("assertion", std::string(file) + std::to_string(line), worker->now().kernel,
                       {file, int(line)}, std::string(what) + "\tthread " + text_of(threadIdx) + " of block " + text_of(blockIdx));
    worker->now().fail(710);   // cudaErrorAssert
    worker->abandon();
}
