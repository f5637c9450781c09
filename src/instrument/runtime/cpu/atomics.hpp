// Atomic functions. Blocks run in parallel on OS threads, so they are atomics of C++.
//
// All scopes are the widest one. A thread that keeps calling them without getting on lets others run.
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
