// Objects that threads synchronise by, of the library of CUDA: atomics and references to what is accessed atomically.
//
// An object makes its accesses itself. The instrumenter names the site wherever a program names an object (`on`); an
// object that is used where the instrumenter did not see it ends the program, since its access would be lost.
#pragma once

#include "atomics.hpp"

namespace raceproof {

// Whether the program is the mutant of that number, in all units, whose atomics have a weaker scope (mutants.hpp).
bool is_weaker(size_t number);

inline thread_local uint32_t told_site = NO_SITE;

// What follows is done to `object` at that site.
template <class T> static inline T& on(uint32_t site, T& object) {
    told_site = site + RACEPROOF_FIRST_SITE;
    return object;
}
template <class T> static inline T&& on(uint32_t site, T&& object) {
    told_site = site + RACEPROOF_FIRST_SITE;
    return static_cast<T&&>(object);
}

// The site of an access that an object makes.
inline uint32_t take_site() {
    if (!here.log) return NO_SITE;
    if (told_site == NO_SITE) refuse("an atomic object or a barrier in an expression that does not name it by its type");
    return told_site;
}

inline void touched_at(uint32_t site, Kind kind, const volatile void* place, uint32_t bytes) {
    if (site != NO_SITE) touched(site, kind, place, bytes);
}

}  // namespace raceproof

namespace cuda {

// Of a type that a mutant may change, a scope has the number of the mutant, from 1, in front of its two bits (mutants.hpp).
enum thread_scope : int { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

enum memory_order {
    memory_order_relaxed,
    memory_order_consume,
    memory_order_acquire,
    memory_order_release,
    memory_order_acq_rel,
    memory_order_seq_cst
};

namespace details {

constexpr raceproof::Scope scope_of(thread_scope scope) {
    return scope == thread_scope_system   ? raceproof::Scope::system
           : scope == thread_scope_device ? raceproof::Scope::device
           : scope == thread_scope_block  ? raceproof::Scope::block
                                          : raceproof::Scope::warp;
}

// The operations of an atomic; `Self` says where the value is.
template <class T, thread_scope Stated, class Self> class operations {
    static constexpr thread_scope Among = thread_scope(Stated & 3);
    static raceproof::Scope scope() {
        if constexpr (Stated != Among) {
            if (raceproof::is_weaker(Stated / 4 - 1)) return scope_of(thread_scope(Among + 1));
        }
        return scope_of(Among);
    }

    T* place() const { return static_cast<const Self*>(this)->address(); }

    // An atomic of a thread alone is none for others.
    void told_load() const {
        constexpr raceproof::Kind kind = Among == thread_scope_system   ? raceproof::Kind::load_system
                                         : Among == thread_scope_device ? raceproof::Kind::load_device
                                         : Among == thread_scope_block  ? raceproof::Kind::load_block
                                                                        : raceproof::Kind::read;
        raceproof::touched_at(raceproof::take_site(), kind, place(), sizeof(T));
    }
    void told() const {
        uint32_t site = raceproof::take_site();
        if (Among == thread_scope_thread) {
            raceproof::touched_at(site, raceproof::Kind::read, place(), sizeof(T));
            raceproof::touched_at(site, raceproof::Kind::write, place(), sizeof(T));
        } else {
            constexpr raceproof::Kind kind = Among == thread_scope_system   ? raceproof::Kind::atomic_system
                                             : Among == thread_scope_device ? raceproof::Kind::atomic_device
                                                                            : raceproof::Kind::atomic_block;
            raceproof::touched_at(site, kind, place(), sizeof(T));
        }
    }

    template <class Change> T update(Change change, memory_order order) const {
        told();
        return raceproof::update(place(), change, raceproof::order_of<T>(order), scope());
    }

public:
    using value_type = T;
    static constexpr bool is_always_lock_free = true;
    bool is_lock_free() const { return true; }

    T load(memory_order order = memory_order_seq_cst) const {
        told_load();
        return raceproof::load(place(), raceproof::order_of<T>(order), scope());
    }
    void store(T value, memory_order order = memory_order_seq_cst) const {
        told();
        raceproof::store(place(), value, raceproof::order_of<T>(order), scope());
    }
    T exchange(T value, memory_order order = memory_order_seq_cst) const {
        return update([=](T) { return value; }, order);
    }

    // What is found is written to `expected`, if it is not what stands there.
    bool compare_exchange_strong(T& expected, T value, memory_order order, memory_order failed) const {
        uint32_t site = raceproof::take_site();
        told();
        T wanted = expected;
        T found = raceproof::compare_and_swap(place(), wanted, value, raceproof::order_of<T>(order),
                                              raceproof::order_of<T>(failed), scope());
        if (memcmp(&found, &wanted, sizeof found) == 0) return true;
        raceproof::touched_at(site, raceproof::Kind::write, raceproof::address_of(expected), sizeof(T));
        expected = found;
        return false;
    }
    bool compare_exchange_strong(T& expected, T value, memory_order order = memory_order_seq_cst) const {
        return compare_exchange_strong(expected, value, order, order);
    }
    bool compare_exchange_weak(T& expected, T value, memory_order order, memory_order other) const {
        return compare_exchange_strong(expected, value, order, other);
    }
    bool compare_exchange_weak(T& expected, T value, memory_order order = memory_order_seq_cst) const {
        return compare_exchange_strong(expected, value, order, order);
    }

    // Waits until the value is another one. Notices are not needed: who waits looks again and again.
    void wait(T old, memory_order order = memory_order_seq_cst) const {
        uint32_t site = raceproof::take_site();
        for (;;) {
            if (site != raceproof::NO_SITE) raceproof::told_site = site;
            T found = load(order);
            if (memcmp(&found, &old, sizeof found) != 0) return;
        }
    }
    void notify_one() const {}
    void notify_all() const {}

    operator T() const { return load(); }
    T operator=(T value) const {
        store(value);
        return value;
    }

    template <class U> T fetch_add(U by, memory_order order = memory_order_seq_cst) const {
        return update([=](T old) { return T(old + by); }, order);
    }
    template <class U> T fetch_sub(U by, memory_order order = memory_order_seq_cst) const {
        return update([=](T old) { return T(old - by); }, order);
    }
    T fetch_min(T with, memory_order order = memory_order_seq_cst) const {
        return update([=](T old) { return with < old ? with : old; }, order);
    }
    T fetch_max(T with, memory_order order = memory_order_seq_cst) const {
        return update([=](T old) { return old < with ? with : old; }, order);
    }
    T fetch_and(T with, memory_order order = memory_order_seq_cst) const {
        return update([=](T old) { return T(old & with); }, order);
    }
    T fetch_or(T with, memory_order order = memory_order_seq_cst) const {
        return update([=](T old) { return T(old | with); }, order);
    }
    T fetch_xor(T with, memory_order order = memory_order_seq_cst) const {
        return update([=](T old) { return T(old ^ with); }, order);
    }
    template <class U> T operator+=(U by) const { return T(fetch_add(by) + by); }
    template <class U> T operator-=(U by) const { return T(fetch_sub(by) - by); }
    T operator&=(T with) const { return T(fetch_and(with) & with); }
    T operator|=(T with) const { return T(fetch_or(with) | with); }
    T operator^=(T with) const { return T(fetch_xor(with) ^ with); }
    T operator++() const { return T(fetch_add(1) + 1); }
    T operator--() const { return T(fetch_sub(1) - 1); }
    T operator++(int) const { return fetch_add(1); }
    T operator--(int) const { return fetch_sub(1); }
};

}  // namespace details

template <class T, thread_scope Among = thread_scope_system>
class atomic : public details::operations<T, Among, atomic<T, Among>> {
public:
    using details::operations<T, Among, atomic<T, Among>>::operator=;
    atomic() = default;
    constexpr atomic(T value) : value(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    T* address() const { return const_cast<T*>(&value); }

private:
    T value;
};

template <class T, thread_scope Among = thread_scope_system>
class atomic_ref : public details::operations<T, Among, atomic_ref<T, Among>> {
public:
    using details::operations<T, Among, atomic_ref<T, Among>>::operator=;
    explicit atomic_ref(T& object) : object(&object) {}
    atomic_ref(const atomic_ref&) = default;
    atomic_ref& operator=(const atomic_ref&) = delete;
    T* address() const { return object; }

private:
    T* object;
};

template <class T = void> inline void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
    raceproof::fence<T>(raceproof::order_of<T>(order), details::scope_of(scope));
}
inline void atomic_signal_fence(memory_order) {}

namespace std {
using cuda::memory_order;
using cuda::memory_order_relaxed;
using cuda::memory_order_consume;
using cuda::memory_order_acquire;
using cuda::memory_order_release;
using cuda::memory_order_acq_rel;
using cuda::memory_order_seq_cst;
template <class T> using atomic = cuda::atomic<T, cuda::thread_scope_system>;
template <class T> using atomic_ref = cuda::atomic_ref<T, cuda::thread_scope_system>;
using cuda::atomic_signal_fence;
template <class T = void> inline void atomic_thread_fence(memory_order order) { cuda::atomic_thread_fence<T>(order); }
}  // namespace std

}  // namespace cuda
