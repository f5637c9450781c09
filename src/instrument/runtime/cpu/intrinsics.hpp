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
// The instructions for dynamic programming: what is clamped (`relu`) is no less than 0, and `16x2` are two halves of a word.
template <class T> inline unsigned raceproof_halves(unsigned a, unsigned b, unsigned c, T (*of)(T, T, T)) {
    unsigned low = (unsigned short)(of(T(a), T(b), T(c)));
    unsigned high = (unsigned short)(of(T(a >> 16), T(b >> 16), T(c >> 16)));
    return high << 16 | low;
}
#define RACEPROOF_DPX_OF(name, suffix, T, of) \
    inline T name##_##suffix(T a, T b, T c) { return T(of); }
#define RACEPROOF_DPX_HALVES(name, suffix, T, of) \
    inline unsigned name##_##suffix(unsigned a, unsigned b, unsigned c) { \
        return raceproof_halves<T>(a, b, c, [](T a, T b, T c) { return T(of); }); \
    }
#define RACEPROOF_DPX(name, of) \
    RACEPROOF_DPX_OF(name, s32, int, of) \
    RACEPROOF_DPX_OF(name, u32, unsigned, of) \
    RACEPROOF_DPX_OF(name, s32_relu, int, raceproof_greater(of, 0)) \
    RACEPROOF_DPX_HALVES(name, s16x2, int16_t, of) \
    RACEPROOF_DPX_HALVES(name, u16x2, uint16_t, of) \
    RACEPROOF_DPX_HALVES(name, s16x2_relu, int16_t, raceproof_greater(of, 0))
template <class A, class B> inline auto raceproof_greater(A a, B b) { return a > b ? a : b; }
template <class A, class B> inline auto raceproof_less(A a, B b) { return a < b ? a : b; }
RACEPROOF_DPX(__vimax3, raceproof_greater(raceproof_greater(a, b), c))
RACEPROOF_DPX(__vimin3, raceproof_less(raceproof_less(a, b), c))
RACEPROOF_DPX(__viaddmax, raceproof_greater(decltype(a)(unsigned(a) + unsigned(b)), c))
RACEPROOF_DPX(__viaddmin, raceproof_less(decltype(a)(unsigned(a) + unsigned(b)), c))
#undef RACEPROOF_DPX
#undef RACEPROOF_DPX_OF
#undef RACEPROOF_DPX_HALVES
inline int __vimax_s32_relu(int a, int b) { return __vimax3_s32(a, b, 0); }
inline int __vimin_s32_relu(int a, int b) { return raceproof_greater(raceproof_less(a, b), 0); }
inline unsigned __vimax_s16x2_relu(unsigned a, unsigned b) { return __vimax3_s16x2(a, b, 0); }
inline unsigned __vimin_s16x2_relu(unsigned a, unsigned b) { return __vimin3_s16x2_relu(a, b, 0x7fff7fff); }
inline int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 4; i++) c += int((signed char)(a >> 8 * i)) * int((signed char)(b >> 8 * i));
    return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 4; i++) c += (a >> 8 * i & 255) * (b >> 8 * i & 255);
    return c;
}
inline int __dp4a(char4 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
inline int __dp2a_lo(int a, int b, int c) { return c + int16_t(a) * int8_t(b) + int16_t(a >> 16) * int8_t(b >> 8); }
inline int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
    return c + (a & 65535) * (b & 255) + (a >> 16) * (b >> 8 & 255);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return __dp2a_lo(a, b >> 16, c); }
inline int __dp2a_lo(short2 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y; }
inline int __dp2a_hi(short2 a, char4 b, int c) { return c + a.x * b.z + a.y * b.w; }
inline unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) { return c + unsigned(a.x) * b.x + unsigned(a.y) * b.y; }
inline unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) { return c + unsigned(a.x) * b.z + unsigned(a.y) * b.w; }

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
