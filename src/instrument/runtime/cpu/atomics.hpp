// Atomic functions. Blocks run in parallel on OS threads, so they are atomics of C++.
//
// All are done in the widest scope and the strongest order; what the program asked for the log is told, if the program has
// anything that makes a difference (`program_hands_over`). Then atomics are done one at a time for each cell, so that
// their tickets are in the order in which they happened. A thread that keeps calling them without getting on lets others run.
#pragma once

#include <unordered_map>

#include "block_views.hpp"

namespace raceproof {

// Cells whose atomics are done one at a time, and what version each is: how often it has been changed.
struct Shard {
    Lock lock;
    std::unordered_map<uintptr_t, uint64_t> versions;
};
inline Shard& shard_of(uintptr_t address) {
    static Shard* shards = new Shard[64];
    return shards[(address >> 2) * 0x9e3779b97f4a7c15u >> 58];
}

// Whether what the thread has stored before is bound to be seen after it.
inline bool is_releasing(MemoryOrder order) { return order != MemoryOrder::relaxed && order != MemoryOrder::acquire; }

// Does something to a cell; `act` says whether it read, wrote, or both.
// Does `act`, which says what it came to, and may still change the order.
template <class T, class Act> inline void at_cell(T* place, const MemoryOrder& order, Scope scope, Act act) {
    if (__builtin_expect(!here.in_kernel || !worker->is_told(), 1)) {
        if constexpr (is_scheduled) {
            bool is_in_kernel = here.in_kernel;
            if (is_in_kernel && is_releasing(order)) worker->write_held_now();
            if (act() != Event::load && is_in_kernel) {
                something_changes();
                here.spins = 0;
            }
        } else if (__builtin_expect(blocks_have_views, 0)) {
            BlockView view(place, sizeof *place, scope);
            act();
        } else {
            act();
        }
        spin();
        return;
    }
    auto address = reinterpret_cast<uintptr_t>(place);
    Synchronisation what;
    what.scope = scope;
    what.is_of_block = worker->is_only_own(address);
    what.cell = address;
    if (is_scheduled && is_releasing(order)) worker->write_held_now();
    {
        Shard& shard = shard_of(address);
        Guard guard(shard.lock);
        what.event = act();
        what.order = order;
        uint64_t& version = shard.versions[address];
        if (what.event != Event::load) {
            version++;
            something_changes();
            if constexpr (is_scheduled) here.spins = 0;
        }
        worker->touched_cell(what, version);
    }
    spin();
}

template <class T>
using word_of = std::conditional_t<
    sizeof(T) == 8, uint64_t,
    std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;

// Replaces what `place` holds by `change` of it; gives what it held. What is not changed has only been read.
template <class T, class Change>
inline T update(T* place, Change change, MemoryOrder order = MemoryOrder::relaxed, Scope scope = Scope::device) {
    using Bits = word_of<T>;
    static_assert(sizeof(T) == sizeof(Bits), "atomics are of 1, 2, 4 or 8 bytes");
    Bits* bits = reinterpret_cast<Bits*>(place);
    T value;
    at_cell(place, order, scope, [&] {
        Bits old = __atomic_load_n(bits, __ATOMIC_RELAXED);
        for (;;) {
            memcpy(&value, &old, sizeof value);
            T changed = change(value);
            Bits now;
            memcpy(&now, &changed, sizeof now);
            if (__atomic_compare_exchange_n(bits, &old, now, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
                return now == old ? Event::load : Event::update;
            }
        }
    });
    return value;
}

template <class T> inline T atomic_add(T* place, T value, MemoryOrder order, Scope scope) {
    if constexpr (std::is_integral<T>::value) {
        T old;
        at_cell(place, order, scope, [&] {
            old = __atomic_fetch_add(place, value, __ATOMIC_SEQ_CST);
            return value == 0 ? Event::load : Event::update;
        });
        return old;
    } else {
        return update(place, [=](T old) { return old + value; }, order, scope);
    }
}

template <class T>
inline T compare_and_swap(T* place, T expected, T value, MemoryOrder order, MemoryOrder failed, Scope scope) {
    T old = expected;
    at_cell(place, order, scope, [&] {
        bool is_done = __atomic_compare_exchange(place, &old, &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        if (!is_done) order = failed;
        return is_done && memcmp(&expected, &value, sizeof value) != 0 ? Event::update : Event::load;
    });
    return old;
}

template <class T> inline T load(const T* place, MemoryOrder order, Scope scope) {
    T value;
    at_cell(place, order, scope, [&] {
        __atomic_load(const_cast<T*>(place), &value, __ATOMIC_SEQ_CST);
        return Event::load;
    });
    return value;
}

template <class T> inline void store(T* place, T value, MemoryOrder order, Scope scope) {
    at_cell(place, order, scope, [&] {
        __atomic_store(place, &value, __ATOMIC_SEQ_CST);
        return Event::store;
    });
}

}  // namespace raceproof

#define RACEPROOF_ATOMIC(name, ...)                                                                         \
    namespace raceproof {                                                                                   \
    template <class T> inline T name(T* place, T value, MemoryOrder order, Scope scope) { __VA_ARGS__ }     \
    }                                                                                                       \
    template <class T> inline T name(T* place, raceproof::plain<T> value) {                                 \
        return raceproof::name(place, T(value), raceproof::MemoryOrder::relaxed, raceproof::Scope::device); \
    }                                                                                                       \
    template <class T> inline T name##_block(T* place, raceproof::plain<T> value) {                         \
        return raceproof::name(place, T(value), raceproof::MemoryOrder::relaxed, raceproof::Scope::block);  \
    }                                                                                                       \
    template <class T> inline T name##_system(T* place, raceproof::plain<T> value) {                        \
        return raceproof::name(place, T(value), raceproof::MemoryOrder::relaxed, raceproof::Scope::system); \
    }
#define RACEPROOF_UPDATE(change) return update(place, [=](T old) { return T(change); }, order, scope);
RACEPROOF_ATOMIC(atomicAdd, return atomic_add(place, value, order, scope);)
RACEPROOF_ATOMIC(atomicSub, return atomic_add(place, T(0 - value), order, scope);)
RACEPROOF_ATOMIC(atomicExch, return update(place, [=](T) { return value; }, order, scope);)
RACEPROOF_ATOMIC(atomicMin, RACEPROOF_UPDATE(value < old ? value : old))
RACEPROOF_ATOMIC(atomicMax, RACEPROOF_UPDATE(old < value ? value : old))
RACEPROOF_ATOMIC(atomicAnd, RACEPROOF_UPDATE(old & value))
RACEPROOF_ATOMIC(atomicOr, RACEPROOF_UPDATE(old | value))
RACEPROOF_ATOMIC(atomicXor, RACEPROOF_UPDATE(old ^ value))
RACEPROOF_ATOMIC(atomicInc, RACEPROOF_UPDATE(old >= value ? T(0) : T(old + 1)))
RACEPROOF_ATOMIC(atomicDec, RACEPROOF_UPDATE(old == 0 || old > value ? value : T(old - 1)))
#undef RACEPROOF_UPDATE
#undef RACEPROOF_ATOMIC

#define RACEPROOF_ATOMIC(name, scope)                                                                              \
    template <class T> inline T name(T* place, raceproof::plain<T> expected, raceproof::plain<T> value) {          \
        return raceproof::compare_and_swap(place, T(expected), T(value), raceproof::MemoryOrder::relaxed,          \
                                           raceproof::MemoryOrder::relaxed, raceproof::Scope::scope);              \
    }
RACEPROOF_ATOMIC(atomicCAS, device)
RACEPROOF_ATOMIC(atomicCAS_block, block)
RACEPROOF_ATOMIC(atomicCAS_system, system)
#undef RACEPROOF_ATOMIC

// Those of nvcc, with order and scope as arguments.
enum {
    __NV_ATOMIC_RELAXED,
    __NV_ATOMIC_CONSUME,
    __NV_ATOMIC_ACQUIRE,
    __NV_ATOMIC_RELEASE,
    __NV_ATOMIC_ACQ_REL,
    __NV_ATOMIC_SEQ_CST
};
enum {
    __NV_THREAD_SCOPE_THREAD,
    __NV_THREAD_SCOPE_BLOCK,
    __NV_THREAD_SCOPE_CLUSTER,
    __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM
};

namespace raceproof {
// The order of an atomic that may hand over. Numbers are those of nvcc, and those of C++, which are the same.
template <class T = void> inline MemoryOrder order_of(int number) {
    (void)&HandsOver<T>::noted;
    constexpr MemoryOrder orders[] = {MemoryOrder::relaxed, MemoryOrder::acquire,         MemoryOrder::acquire,
                                      MemoryOrder::release, MemoryOrder::acquire_release, strongest};
    return orders[number < 0 || number > 5 ? 5 : number];
}
inline Scope nvcc_scope(int number) {
    constexpr Scope scopes[] = {Scope::warp, Scope::block, Scope::cluster, Scope::device, Scope::system};
    return scopes[number < 0 || number > 4 ? 4 : number];
}
}  // namespace raceproof

#define RACEPROOF_ATOMIC(op, name)                                                                                   \
    template <class T>                                                                                               \
    inline T __nv_atomic_fetch_##op(T* place, raceproof::plain<T> value, int order,                                  \
                                    int scope = __NV_THREAD_SCOPE_SYSTEM) {                                          \
        return raceproof::name(place, T(value), raceproof::order_of<T>(order), raceproof::nvcc_scope(scope));        \
    }                                                                                                                \
    template <class T>                                                                                               \
    inline void __nv_atomic_##op(T* place, raceproof::plain<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { \
        raceproof::name(place, T(value), raceproof::order_of<T>(order), raceproof::nvcc_scope(scope));               \
    }
RACEPROOF_ATOMIC(add, atomicAdd)
RACEPROOF_ATOMIC(sub, atomicSub)
RACEPROOF_ATOMIC(min, atomicMin)
RACEPROOF_ATOMIC(max, atomicMax)
RACEPROOF_ATOMIC(and, atomicAnd)
RACEPROOF_ATOMIC(or, atomicOr)
RACEPROOF_ATOMIC(xor, atomicXor)
#undef RACEPROOF_ATOMIC

template <class T> inline T __nv_atomic_load_n(const T* place, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return raceproof::load(place, raceproof::order_of<T>(order), raceproof::nvcc_scope(scope));
}
template <class T>
inline void __nv_atomic_store_n(T* place, raceproof::plain<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    raceproof::store(place, T(value), raceproof::order_of<T>(order), raceproof::nvcc_scope(scope));
}
template <class T>
inline T __nv_atomic_exchange_n(T* place, raceproof::plain<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return raceproof::atomicExch(place, T(value), raceproof::order_of<T>(order), raceproof::nvcc_scope(scope));
}
template <class T>
inline bool __nv_atomic_compare_exchange_n(T* place, T* expected, raceproof::plain<T> value, bool, int order, int failed,
                                           int scope = __NV_THREAD_SCOPE_SYSTEM) {
    T wanted = *expected;
    *expected = raceproof::compare_and_swap(place, wanted, T(value), raceproof::order_of<T>(order), raceproof::order_of<T>(failed),
                                            raceproof::nvcc_scope(scope));
    return memcmp(expected, &wanted, sizeof wanted) == 0;
}
template <class T = void> inline void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    raceproof::fence<T>(raceproof::order_of<T>(order), raceproof::nvcc_scope(scope));
}
