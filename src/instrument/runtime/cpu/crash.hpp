// A kernel that crashes: which thread of which kernel did.
//
// The signal handler has a stack of its own, tells, saves what this OS thread has logged, and lets the signal end the
// program as it would have. What blocks on other OS threads did since they last wrote is lost.
#pragma once

#include <signal.h>
#include <unistd.h>

#include "access.hpp"

namespace raceproof {

// Saving the log of a crash may take so long.
inline constexpr unsigned SECONDS_TO_SAVE = 20;

inline void tell_crash(int signal, siginfo_t* info, void*) {
    if (here.in_kernel && worker) {
        char line[512];
        auto address = reinterpret_cast<uintptr_t>(info->si_addr);
        bool is_stack = signal == SIGSEGV && here.stack_low - address <= GUARD_BYTES;
        const char* what = is_stack            ? "its stack is full (RACEPROOF_STACK sets its size in KiB)"
                           : signal == SIGFPE ? "a division by zero"
                           : signal == SIGILL ? "an illegal instruction or a trap"
                                              : "an address that is not memory";
        int bytes = snprintf(line, sizeof line, "crash\t%s\t\t0\tthread %u,%u,%u of block %u,%u,%u: %s (%#zx)\n",
                             worker->now().kernel, threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y,
                             blockIdx.z, what, size_t(address));
        if (bytes > 0) Report::the().tell_raw(line, size_t(bytes));
        if (BlockLog* log = here.log) {
            // Saving takes memory and locks, which the crash may have broken: then this ends it.
            here.log = nullptr;
            alarm(SECONDS_TO_SAVE);
            log->cut_off();
        }
    }
    // The handler was reset when it was called: the instruction that crashed does so again, now for good.
}

// For this process and, as signals of a crash need their own stack, for this OS thread.
inline void watch_this_thread() {
    static thread_local bool is_watched = false;
    if (is_watched) return;
    is_watched = true;
    stack_t stack{};
    stack.ss_size = 65536;
    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, nullptr);
}

inline void watch_for_crashes() {
    static bool is_watching = false;
    if (is_watching) return;
    is_watching = true;
    struct sigaction action{};
    action.sa_sigaction = tell_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(signal, &action, nullptr);
}

}  // namespace raceproof
