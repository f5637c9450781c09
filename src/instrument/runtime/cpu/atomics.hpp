// Atomic functions. Blocks run in parallel on OS threads, so they are atomics of C++.
//
// All scopes are the widest one, and all orders the strongest. A thread that keeps calling them without getting on lets others run.
#pragma once

#include "warp_intrinsics.hpp"

namespace raceproof {

// Replaces what `place` holds by `change` of it; gives what it held.
template <class T, class Change> inline T update(T* place, Change change) {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
    static_assert(sizeof(T) == sizeof(Bits), "atomics are of 2, 4 or 8 bytes");
    Bits* bits = reinterpret_cast<Bits*>(place);
    Bits old = __atomic_load_n(bits, __ATOMIC_RELAXED);
    for (;;) {
        T value;
        memcpy(&value, &old, sizeof value);
        T changed = change(value);
        Bits now;
        memcpy(&now, &changed, sizeof now);
        if (__atomic_compare_exchange_n(bits, &old, now, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
            spin();
            return value;
        }
    }
}

template <class T> inline T atomic_add(T* place, T value) {
    if constexpr (std::is_integral<T>::value) {
        spin();
        return __atomic_fetch_add(place, value, __ATOMIC_SEQ_CST);
    } else {
        return update(place, [=](T old) { return old + value; });
    }
}

}  // namespace raceproof

#define RACEPROOF_ATOMIC(name, ...)                                                                              \
    template <class T> inline T name(T* place, raceproof::plain<T> value) { __VA_ARGS__ }                        \
    template <class T> inline T name##_block(T* place, raceproof::plain<T> value) { return name(place, value); } \
    template <class T> inline T name##_system(T* place, raceproof::plain<T> value) { return name(place, value); }
RACEPROOF_ATOMIC(atomicAdd, return raceproof::atomic_add(place, value);)
RACEPROOF_ATOMIC(atomicSub, return raceproof::atomic_add(place, T(0 - value));)
RACEPROOF_ATOMIC(atomicExch, return raceproof::update(place, [=](T) { return value; });)
RACEPROOF_ATOMIC(atomicMin, return raceproof::update(place, [=](T old) { return value < old ? value : old; });)
RACEPROOF_ATOMIC(atomicMax, return raceproof::update(place, [=](T old) { return old < value ? value : old; });)
RACEPROOF_ATOMIC(atomicAnd, return raceproof::update(place, [=](T old) { return T(old & value); });)
RACEPROOF_ATOMIC(atomicOr, return raceproof::update(place, [=](T old) { return T(old | value); });)
RACEPROOF_ATOMIC(atomicXor, return raceproof::update(place, [=](T old) { return T(old ^ value); });)
RACEPROOF_ATOMIC(atomicInc, return raceproof::update(place, [=](T old) { return old >= value ? T(0) : T(old + 1); });)
RACEPROOF_ATOMIC(atomicDec, return raceproof::update(place, [=](T old) {
    return old == 0 || old > value ? value : T(old - 1);
});)
#undef RACEPROOF_ATOMIC

template <class T> inline T atomicCAS(T* place, raceproof::plain<T> expected, raceproof::plain<T> value) {
    T old = expected;
    __atomic_compare_exchange(place, &old, &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    raceproof::spin();
    return old;
}
template <class T> inline T atomicCAS_block(T* place, raceproof::plain<T> expected, raceproof::plain<T> value) {
    return atomicCAS(place, expected, value);
}
template <class T> inline T atomicCAS_system(T* place, raceproof::plain<T> expected, raceproof::plain<T> value) {
    return atomicCAS(place, expected, value);
}

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

#define RACEPROOF_ATOMIC(op, name)                                                                                   \
    template <class T> inline T __nv_atomic_fetch_##op(T* place, raceproof::plain<T> value, int, int = 0) {          \
        return name(place, value);                                                                                   \
    }                                                                                                                \
    template <class T> inline void __nv_atomic_##op(T* place, raceproof::plain<T> value, int, int = 0) {             \
        name(place, value);                                                                                          \
    }
RACEPROOF_ATOMIC(add, atomicAdd)
RACEPROOF_ATOMIC(sub, atomicSub)
RACEPROOF_ATOMIC(min, atomicMin)
RACEPROOF_ATOMIC(max, atomicMax)
RACEPROOF_ATOMIC(and, atomicAnd)
RACEPROOF_ATOMIC(or, atomicOr)
RACEPROOF_ATOMIC(xor, atomicXor)
#undef RACEPROOF_ATOMIC

template <class T> inline T __nv_atomic_load_n(const T* place, int, int = 0) {
    T value;
    __atomic_load(place, &value, __ATOMIC_SEQ_CST);
    raceproof::spin();
    return value;
}
template <class T> inline void __nv_atomic_store_n(T* place, raceproof::plain<T> value, int, int = 0) {
    atomicExch(place, value);
}
template <class T> inline T __nv_atomic_exchange_n(T* place, raceproof::plain<T> value, int, int = 0) {
    return atomicExch(place, value);
}
template <class T>
inline bool __nv_atomic_compare_exchange_n(T* place, T* expected, raceproof::plain<T> value, bool, int, int, int = 0) {
    T wanted = *expected;
    *expected = atomicCAS(place, wanted, value);
    return memcmp(expected, &wanted, sizeof wanted) == 0;
}
inline void __nv_atomic_thread_fence(int, int = 0) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
