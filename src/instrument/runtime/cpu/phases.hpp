// Barriers that are objects in memory: `cuda::barrier`, and `__mbarrier_t`, which is the same without a type.
//
// Who arrives publishes to whom waits for that phase; the log is told of each phase as of a cell of its own. Threads that
// wait at an object of shared memory are woken up by the last that arrives, so that a barrier that nobody completes is told
// as a deadlock.
#pragma once

#include "copies.hpp"

namespace raceproof {

// What lies in the eight bytes of a barrier.
struct Phases {
    uint64_t expected : 22, missing : 22, phase : 20;
};
static_assert(sizeof(Phases) == 8, "barriers are of eight bytes");

inline void tell_phase(Phases* barrier, uint64_t phase, Event event, Scope scope) {
    if (!here.in_kernel || !worker->is_told()) return;
    Synchronisation what;
    auto address = reinterpret_cast<uintptr_t>(barrier);
    what.event = event;
    what.order = event == Event::load ? MemoryOrder::acquire : MemoryOrder::release;
    what.scope = scope;
    what.is_of_block = worker->is_only_own(address);
    what.cell = address ^ phase << 44 ^ uint64_t(1) << 43;
    worker->synchronised(what);
}

inline Kind kind_of(Scope scope, bool only_reads) {
    if (scope == Scope::block) return only_reads ? Kind::load_block : Kind::atomic_block;
    if (scope == Scope::device) return only_reads ? Kind::load_device : Kind::atomic_device;
    return only_reads ? Kind::load_system : Kind::atomic_system;
}

inline void init_phases(Phases* barrier, uint64_t expected) {
    touched_at(take_site(), Kind::write, barrier, sizeof *barrier);
    *barrier = Phases{expected, expected, 0};
}

// The arrival alone: gives the phase that it is in.
template <class T = void> inline uint64_t count_arrival(Phases* barrier, uint64_t count, uint64_t dropped, Scope scope) {
    (void)&HandsOver<T>::noted;
    if constexpr (is_scheduled) worker->write_held_now();
    something_changes();
    Guard guard(shard_of(reinterpret_cast<uintptr_t>(barrier)).lock);
    uint64_t phase = barrier->phase;
    tell_phase(barrier, phase, Event::update, scope);
    barrier->expected -= dropped;
    barrier->missing -= count;
    if (barrier->missing == 0) {
        barrier->missing = barrier->expected;
        barrier->phase++;
        worker->wake(barrier);
    }
    return phase;
}

// Gives the phase that it arrived in.
template <class T = void> inline uint64_t arrive(Phases* barrier, uint64_t count, uint64_t dropped, Scope scope) {
    finish(worker->linear(), [=](const Copy& copy) { return copy.told_by == barrier; });
    touched_at(take_site(), kind_of(scope, false), barrier, sizeof *barrier);
    return count_arrival<T>(barrier, count, dropped, scope);
}

// Whether a phase is over; then who asks has seen what all did before they arrived.
template <class T = void> inline bool is_over(Phases* barrier, uint64_t phase, Scope scope) {
    (void)&HandsOver<T>::noted;
    Guard guard(shard_of(reinterpret_cast<uintptr_t>(barrier)).lock);
    // The phase is this one or the next: nobody comes further without who waits.
    if ((barrier->phase & 1) == (phase & 1)) return false;
    tell_phase(barrier, uint64_t(barrier->phase - 1) & 0xfffff, Event::load, scope);
    return true;
}

inline bool ask_phases(Phases* barrier, uint64_t phase, Scope scope) {
    touched_at(take_site(), kind_of(scope, true), barrier, sizeof *barrier);
    bool answer = is_over(barrier, phase, scope);
    if (!answer) worker->yield();
    return answer;
}

inline void wait_phases(Phases* barrier, uint64_t phase, Scope scope, Place place) {
    touched_at(take_site(), kind_of(scope, true), barrier, sizeof *barrier);
    bool is_of_block = worker->is_only_own(reinterpret_cast<uintptr_t>(barrier));
    while (!is_over(barrier, phase, scope)) {
        if (is_of_block) worker->wait_at(barrier, place);
        else worker->yield();
    }
}

}  // namespace raceproof

namespace cuda {

namespace details {
struct no_completion {
    void operator()() const {}
};
}  // namespace details

template <thread_scope Among, class Completion = details::no_completion> class barrier {
    static_assert(::std::is_same<Completion, details::no_completion>::value,
                  "raceproof: the cpu back end has no barriers with completion functions");
    static constexpr raceproof::Scope scope = details::scope_of(Among);

public:
    using arrival_token = uint64_t;
    barrier() = default;
    explicit barrier(ptrdiff_t expected) { reset(expected); }
    barrier(const barrier&) = delete;
    static constexpr ptrdiff_t(max)() { return (1 << 20) - 1; }

    void reset(ptrdiff_t expected) const { raceproof::init_phases(&state, uint64_t(expected)); }
    arrival_token arrive(ptrdiff_t count = 1) const { return raceproof::arrive(&state, uint64_t(count), 0, scope); }
    void wait(arrival_token&& token, RACEPROOF_HERE) const { raceproof::wait_phases(&state, token, scope, {file, line}); }
    void wait_parity(bool parity, RACEPROOF_HERE) const { raceproof::wait_phases(&state, parity, scope, {file, line}); }
    void arrive_and_wait(RACEPROOF_HERE) const {
        uint32_t site = raceproof::told_site;
        uint64_t phase = arrive();
        raceproof::told_site = site;
        raceproof::wait_phases(&state, phase, scope, {file, line});
    }
    void arrive_and_drop() const { raceproof::arrive(&state, 1, 1, scope); }
    bool try_wait(arrival_token&& token) const { return raceproof::ask_phases(&state, token, scope); }
    template <class Duration> bool try_wait_for(arrival_token&& token, const Duration&) const {
        return raceproof::ask_phases(&state, token, scope);
    }
    template <class Time> bool try_wait_until(arrival_token&& token, const Time&) const {
        return raceproof::ask_phases(&state, token, scope);
    }
    bool try_wait_parity(bool parity) const { return raceproof::ask_phases(&state, parity, scope); }
    template <class Duration> bool try_wait_parity_for(bool parity, const Duration&) const {
        return raceproof::ask_phases(&state, parity, scope);
    }
    const void* name() const { return &state; }

private:
    alignas(8) mutable raceproof::Phases state;
};

template <thread_scope Among, class Completion>
inline void init(barrier<Among, Completion>* object, ptrdiff_t expected) {
    object->reset(expected);
}

template <class To, class From, class Size, thread_scope Among, class Completion>
inline void memcpy_async(To* to, const From* from, Size bytes, barrier<Among, Completion>& told_by) {
    raceproof::begin_copy(to, from, bytes, 0, told_by.name(), 0);
}
template <class Group, class To, class From, class Size, thread_scope Among, class Completion>
inline void memcpy_async(const Group& group, To* to, const From* from, Size bytes, barrier<Among, Completion>& told_by) {
    if (group.thread_rank() == 0) raceproof::begin_copy(to, from, bytes, 0, told_by.name(), 0);
}

namespace std {
template <class Completion = cuda::details::no_completion>
using barrier = cuda::barrier<cuda::thread_scope_system, Completion>;
}

}  // namespace cuda

typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

namespace raceproof {
inline Phases* phases_of(__mbarrier_t* barrier) { return reinterpret_cast<Phases*>(barrier); }
}

inline void __mbarrier_init(__mbarrier_t* barrier, uint32_t expected) {
    raceproof::init_phases(raceproof::phases_of(barrier), expected);
}
inline void __mbarrier_inval(__mbarrier_t*) {}
template <class T = void> inline __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) {
    return raceproof::arrive<T>(raceproof::phases_of(barrier), 1, 0, raceproof::Scope::block);
}
template <class T = void> inline __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) {
    return raceproof::arrive<T>(raceproof::phases_of(barrier), 1, 1, raceproof::Scope::block);
}
inline bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token) {
    return raceproof::ask_phases(raceproof::phases_of(barrier), token, raceproof::Scope::block);
}
inline bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, uint32_t = 0) {
    return __mbarrier_test_wait(barrier, token);
}
inline bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity) { return __mbarrier_test_wait(barrier, parity); }
inline bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, uint32_t = 0) {
    return __mbarrier_test_wait(barrier, parity);
}
