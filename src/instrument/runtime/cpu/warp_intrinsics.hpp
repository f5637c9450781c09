// Shuffles, votes, matches and reductions of a warp.
//
// They exchange values and order no memory accesses: only __syncwarp does. The old forms without a mask, and
// __activemask, bring together as many lanes of the warp as can come.
#pragma once

#include "barriers.hpp"

namespace raceproof {

constexpr uint8_t VOTE = 2, SHUFFLE = 3, MATCH = 4, REDUCE = 5;

// All lanes of `mask` give `value` and a truth; `read` makes of what came together the answer for this lane.
template <class T, class Read>
inline auto meet(unsigned mask, uint8_t kind, const T& value, bool truth, Place place, Read read) {
    static_assert(sizeof(T) <= 32, "warp intrinsics take values of up to 32 bytes");
    Worker& w = *worker;
    Rendezvous* met = w.arrive(mask, kind, &value, sizeof(T), truth, place);
    auto answer = read(*met, w.lane());
    w.take(met);
    return answer;
}

template <class T> inline T value_of(const Rendezvous& met, uint32_t lane) {
    T value;
    memcpy(&value, met.values[lane], sizeof(T));
    return value;
}

// What `source` gave. CUDA does not define what comes from a lane that is not there; hardware gives zeros, and so does
// this, but it tells.
template <class T> inline T from_lane(const Rendezvous& met, uint32_t, uint32_t source, Place place) {
    if (met.arrived >> source & 1) return value_of<T>(met, source);
    worker->tell_absent(place);
    T zeros;
    memset(static_cast<void*>(&zeros), 0, sizeof zeros);
    return zeros;
}

template <class T> inline T shuffle(unsigned mask, T value, int source, int width, Place place) {
    return meet(mask, SHUFFLE, value, false, place, [=](const Rendezvous& met, uint32_t lane) {
        uint32_t first = lane & ~uint32_t(width - 1);
        return from_lane<T>(met, lane, first + (uint32_t(source) & uint32_t(width - 1)), place);
    });
}
template <class T> inline T shuffle_up(unsigned mask, T value, unsigned by, int width, Place place) {
    return meet(mask, SHUFFLE, value, false, place, [=](const Rendezvous& met, uint32_t lane) {
        uint32_t in_group = lane & uint32_t(width - 1);
        return from_lane<T>(met, lane, in_group >= by ? lane - by : lane, place);
    });
}
template <class T> inline T shuffle_down(unsigned mask, T value, unsigned by, int width, Place place) {
    return meet(mask, SHUFFLE, value, false, place, [=](const Rendezvous& met, uint32_t lane) {
        uint32_t in_group = lane & uint32_t(width - 1);
        return from_lane<T>(met, lane, in_group + by < uint32_t(width) ? lane + by : lane, place);
    });
}
template <class T> inline T shuffle_xor(unsigned mask, T value, int with, int width, Place place) {
    return meet(mask, SHUFFLE, value, false, place, [=](const Rendezvous& met, uint32_t lane) {
        uint32_t source = lane ^ uint32_t(with);
        uint32_t last = lane | uint32_t(width - 1);
        return from_lane<T>(met, lane, source <= last && source < 32 ? source : lane, place);
    });
}

inline unsigned ballot(unsigned mask, bool truth, Place place) {
    return meet(mask, VOTE, char(0), truth, place, [](const Rendezvous& met, uint32_t) { return met.truths; });
}

// Folds what all lanes gave, from the lowest lane up.
template <class T, class Combine> inline T fold(unsigned mask, T value, Combine combine, Place place) {
    return meet(mask, REDUCE, value, false, place, [&](const Rendezvous& met, uint32_t) {
        uint32_t left = met.arrived;
        T sum = value_of<T>(met, uint32_t(__builtin_ctz(left)));
        for (left &= left - 1; left; left &= left - 1) sum = combine(sum, value_of<T>(met, uint32_t(__builtin_ctz(left))));
        return sum;
    });
}

}  // namespace raceproof

#define RACEPROOF_SHUFFLE(cuda, own, operand)                                                                   \
    template <class T> inline T cuda##_sync(unsigned mask, T value, operand by, int width = 32, RACEPROOF_HERE) { \
        return raceproof::own(mask, value, by, width, raceproof::Place{file, line});                            \
    }                                                                                                           \
    template <class T> inline T cuda(T value, operand by, int width = 32, RACEPROOF_HERE) {                     \
        raceproof::Place place{file, line};                                                                     \
        return raceproof::own(raceproof::worker->gather(place), value, by, width, place);                       \
    }
RACEPROOF_SHUFFLE(__shfl, shuffle, int)
RACEPROOF_SHUFFLE(__shfl_up, shuffle_up, unsigned)
RACEPROOF_SHUFFLE(__shfl_down, shuffle_down, unsigned)
RACEPROOF_SHUFFLE(__shfl_xor, shuffle_xor, int)
#undef RACEPROOF_SHUFFLE

inline unsigned __activemask(RACEPROOF_HERE) { return raceproof::worker->gather({file, line}); }
inline unsigned __ballot_sync(unsigned mask, int predicate, RACEPROOF_HERE) {
    return raceproof::ballot(mask, predicate != 0, {file, line});
}
inline int __any_sync(unsigned mask, int predicate, RACEPROOF_HERE) {
    return raceproof::ballot(mask, predicate != 0, {file, line}) != 0;
}
inline int __all_sync(unsigned mask, int predicate, RACEPROOF_HERE) {
    return raceproof::ballot(mask, predicate == 0, {file, line}) == 0;
}
inline unsigned __ballot(int predicate, RACEPROOF_HERE) {
    return raceproof::ballot(raceproof::worker->gather({file, line}), predicate != 0, {file, line});
}
inline int __any(int predicate, RACEPROOF_HERE) { return __ballot(predicate, file, line) != 0; }
inline int __all(int predicate, RACEPROOF_HERE) { return __ballot(!predicate, file, line) == 0; }

template <class T> inline unsigned __match_any_sync(unsigned mask, T value, RACEPROOF_HERE) {
    using namespace raceproof;
    return meet(mask, MATCH, value, false, {file, line}, [&](const Rendezvous& met, uint32_t) {
        unsigned same = 0;
        for (uint32_t left = met.arrived; left; left &= left - 1) {
            uint32_t lane = uint32_t(__builtin_ctz(left));
            if (!memcmp(met.values[lane], &value, sizeof(T))) same |= 1u << lane;
        }
        return same;
    });
}
template <class T> inline unsigned __match_all_sync(unsigned mask, T value, int* predicate, RACEPROOF_HERE) {
    using namespace raceproof;
    return meet(mask, MATCH, value, false, {file, line}, [&](const Rendezvous& met, uint32_t) {
        bool all = true;
        for (uint32_t left = met.arrived; left; left &= left - 1) {
            all = all && !memcmp(met.values[__builtin_ctz(left)], &value, sizeof(T));
        }
        *predicate = all;
        return all ? met.arrived : 0u;
    });
}

inline int __uni_sync(unsigned mask, int predicate, RACEPROOF_HERE) {
    int alike;
    __match_all_sync(mask, predicate != 0, &alike, file, line);
    return alike;
}

#define RACEPROOF_REDUCE(name, type, expression)                                                        \
    inline type __reduce_##name##_sync(unsigned mask, type value, RACEPROOF_HERE) {                     \
        return raceproof::fold(mask, value, [](type a, type b) { return type(expression); },            \
                               raceproof::Place{file, line});                                           \
    }
RACEPROOF_REDUCE(add, unsigned, a + b)
RACEPROOF_REDUCE(min, unsigned, a < b ? a : b)
RACEPROOF_REDUCE(max, unsigned, a > b ? a : b)
RACEPROOF_REDUCE(and, unsigned, a & b)
RACEPROOF_REDUCE(or, unsigned, a | b)
RACEPROOF_REDUCE(xor, unsigned, a ^ b)
RACEPROOF_REDUCE(add, int, int(unsigned(a) + unsigned(b)))
RACEPROOF_REDUCE(min, int, a < b ? a : b)
RACEPROOF_REDUCE(max, int, a > b ? a : b)
#undef RACEPROOF_REDUCE
