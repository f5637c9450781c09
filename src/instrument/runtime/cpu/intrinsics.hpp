// Integer intrinsics, conversions, bit patterns, and loads and stores with cache hints (which hint at nothing here).
#pragma once

#include "device_math.hpp"

namespace raceproof {

// Conversion to integers as the hardware does it: what does not fit becomes the nearest that fits, NaN becomes 0.
template <class To, class From> inline To saturated(From x) {
    if (x != x) return 0;
    if (x <= From(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (x >= From(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return To(x);
}

template <class To, class From> inline To bits_of(From from) {
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

}  // namespace raceproof

#define RACEPROOF_TO_INTEGER(name, from, to)                                                    \
    inline to name##_rn(from x) { return raceproof::saturated<to>(std::nearbyint(x)); }         \
    inline to name##_rz(from x) { return raceproof::saturated<to>(std::trunc(x)); }             \
    inline to name##_rd(from x) { return raceproof::saturated<to>(std::floor(x)); }             \
    inline to name##_ru(from x) { return raceproof::saturated<to>(std::ceil(x)); }
RACEPROOF_TO_INTEGER(__float2int, float, int)
RACEPROOF_TO_INTEGER(__float2uint, float, unsigned)
RACEPROOF_TO_INTEGER(__float2ll, float, long long)
RACEPROOF_TO_INTEGER(__float2ull, float, unsigned long long)
RACEPROOF_TO_INTEGER(__double2int, double, int)
RACEPROOF_TO_INTEGER(__double2uint, double, unsigned)
RACEPROOF_TO_INTEGER(__double2ll, double, long long)
RACEPROOF_TO_INTEGER(__double2ull, double, unsigned long long)
#undef RACEPROOF_TO_INTEGER
inline int float2int(float x) { return __float2int_rz(x); }

inline int __float_as_int(float x) { return raceproof::bits_of<int>(x); }
inline unsigned __float_as_uint(float x) { return raceproof::bits_of<unsigned>(x); }
inline float __int_as_float(int x) { return raceproof::bits_of<float>(x); }
inline float __uint_as_float(unsigned x) { return raceproof::bits_of<float>(x); }
inline long long __double_as_longlong(double x) { return raceproof::bits_of<long long>(x); }
inline double __longlong_as_double(long long x) { return raceproof::bits_of<double>(x); }
inline int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return int(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)(uint64_t(uint32_t(high)) << 32 | uint32_t(low)));
}

inline int __mul24(int a, int b) {
    return int(unsigned(int(unsigned(a) << 8) >> 8) * unsigned(int(unsigned(b) << 8) >> 8));
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int mul24(int a, int b) { return __mul24(a, b); }
inline unsigned umul24(unsigned a, unsigned b) { return __umul24(a, b); }
inline int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
inline int mulhi(int a, int b) { return __mulhi(a, b); }
inline unsigned umulhi(unsigned a, unsigned b) { return __umulhi(a, b); }
__extension__ typedef __int128 raceproof_int128;
__extension__ typedef unsigned __int128 raceproof_uint128;
inline long long __mul64hi(long long a, long long b) { return (long long)(raceproof_int128(a) * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(raceproof_uint128(a) * b >> 64);
}
inline unsigned __sad(int a, int b, unsigned c) { return (a > b ? unsigned(a) - unsigned(b) : unsigned(b) - unsigned(a)) + c; }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
inline int __hadd(int a, int b) { return int(((long long)a + b) >> 1); }
inline int __rhadd(int a, int b) { return int(((long long)a + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return unsigned(((unsigned long long)a + b) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) { return unsigned(((unsigned long long)a + b + 1) >> 1); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; bit++) reversed |= (x >> bit & 1) << (31 - bit);
    return reversed;
}
inline unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev(unsigned(x)) << 32 | __brev(unsigned(x >> 32));
}
inline int __fns(unsigned mask, unsigned base, int offset) {
    int step = offset < 0 ? -1 : 1;
    int left = offset == 0 ? 1 : offset * step;
    for (int bit = int(base); bit >= 0 && bit < 32; bit += step) {
        if (mask >> bit & 1 && --left == 0) return bit;
        if (offset == 0) break;
    }
    return -1;
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    uint64_t bytes = uint64_t(y) << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned choice = selector >> 4 * i & 15;
        unsigned byte = unsigned(bytes >> 8 * (choice & 7)) & 255;
        if (choice & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return unsigned((uint64_t(high) << 32 | low) << (by & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return unsigned((uint64_t(high) << 32 | low) >> (by & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) {
    return unsigned((uint64_t(high) << 32 | low) << (by < 32 ? by : 32) >> 32);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) {
    return unsigned((uint64_t(high) << 32 | low) >> (by < 32 ? by : 32));
}
inline int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 4; i++) c += int((signed char)(a >> 8 * i)) * int((signed char)(b >> 8 * i));
    return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 4; i++) c += (a >> 8 * i & 255) * (b >> 8 * i & 255);
    return c;
}

#define RACEPROOF_LOAD(name) \
    template <class T> inline T name(const T* place) { return *place; }
RACEPROOF_LOAD(__ldg)
RACEPROOF_LOAD(__ldca)
RACEPROOF_LOAD(__ldcg)
RACEPROOF_LOAD(__ldcs)
RACEPROOF_LOAD(__ldlu)
RACEPROOF_LOAD(__ldcv)
#undef RACEPROOF_LOAD
#define RACEPROOF_STORE(name) \
    template <class T> inline void name(T* place, raceproof::plain<T> value) { *place = value; }
RACEPROOF_STORE(__stwb)
RACEPROOF_STORE(__stcg)
RACEPROOF_STORE(__stcs)
RACEPROOF_STORE(__stwt)
#undef RACEPROOF_STORE

inline bool __isGlobal(const void*) { return true; }
