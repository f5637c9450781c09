// What CUDA has for one of the floats of 16 bits. Included once for each of them, with RACEPROOF_NUMBER, the type,
// RACEPROOF_PAIR, that of pairs, and RACEPROOF_NAME(before, after), a name with the format's in it; it takes them back.

inline float RACEPROOF_NAME(__, 2float)(RACEPROOF_NUMBER value) { return value; }
inline RACEPROOF_NUMBER RACEPROOF_NAME(__float2, )(float value) { return value; }
inline RACEPROOF_NUMBER RACEPROOF_NAME(__double2, )(double value) { return value; }
inline unsigned short RACEPROOF_NAME(__, _as_ushort)(RACEPROOF_NUMBER value) { return value.bits; }
inline short RACEPROOF_NAME(__, _as_short)(RACEPROOF_NUMBER value) { return short(value.bits); }
inline RACEPROOF_NUMBER RACEPROOF_NAME(__ushort_as_, )(unsigned short bits) { return RACEPROOF_NUMBER::Raw{bits}; }
inline RACEPROOF_NUMBER RACEPROOF_NAME(__short_as_, )(short bits) { return RACEPROOF_NUMBER::Raw{uint16_t(bits)}; }

#define RACEPROOF_FROM(word, type)                                                                                               \
    inline RACEPROOF_NUMBER RACEPROOF_NAME(__##word##2, _rn)(type value) { return value; }                                       \
    inline RACEPROOF_NUMBER RACEPROOF_NAME(__##word##2, _rz)(type value) {                                                       \
        return RACEPROOF_NUMBER::rounded(double(value), raceproof::Rounding::to_zero);                                           \
    }                                                                                                                            \
    inline RACEPROOF_NUMBER RACEPROOF_NAME(__##word##2, _rd)(type value) {                                                       \
        return RACEPROOF_NUMBER::rounded(double(value), raceproof::Rounding::down);                                              \
    }                                                                                                                            \
    inline RACEPROOF_NUMBER RACEPROOF_NAME(__##word##2, _ru)(type value) {                                                       \
        return RACEPROOF_NUMBER::rounded(double(value), raceproof::Rounding::up);                                                \
    }
RACEPROOF_FROM(float, float)
RACEPROOF_FROM(int, int)
RACEPROOF_FROM(uint, unsigned)
RACEPROOF_FROM(short, short)
RACEPROOF_FROM(ushort, unsigned short)
RACEPROOF_FROM(ll, long long)
RACEPROOF_FROM(ull, unsigned long long)
#undef RACEPROOF_FROM

#define RACEPROOF_TO(word, type)                                                                                                 \
    inline type RACEPROOF_NAME(__, 2##word##_rn)(RACEPROOF_NUMBER value) {                                                       \
        return raceproof::integer_of<type>(std::nearbyint(float(value)));                                                        \
    }                                                                                                                            \
    inline type RACEPROOF_NAME(__, 2##word##_rz)(RACEPROOF_NUMBER value) {                                                       \
        return raceproof::integer_of<type>(std::trunc(float(value)));                                                            \
    }                                                                                                                            \
    inline type RACEPROOF_NAME(__, 2##word##_rd)(RACEPROOF_NUMBER value) {                                                       \
        return raceproof::integer_of<type>(std::floor(float(value)));                                                            \
    }                                                                                                                            \
    inline type RACEPROOF_NAME(__, 2##word##_ru)(RACEPROOF_NUMBER value) {                                                       \
        return raceproof::integer_of<type>(std::ceil(float(value)));                                                             \
    }
RACEPROOF_TO(int, int)
RACEPROOF_TO(uint, unsigned)
RACEPROOF_TO(short, short)
RACEPROOF_TO(ushort, unsigned short)
RACEPROOF_TO(ll, long long)
RACEPROOF_TO(ull, unsigned long long)
#undef RACEPROOF_TO

inline RACEPROOF_PAIR RACEPROOF_NAME(make_, 2)(RACEPROOF_NUMBER x, RACEPROOF_NUMBER y) { return {x, y}; }
inline RACEPROOF_PAIR RACEPROOF_NAME(__halves2, 2)(RACEPROOF_NUMBER x, RACEPROOF_NUMBER y) { return {x, y}; }
inline RACEPROOF_PAIR RACEPROOF_NAME(__float2, 2_rn)(float value) { return {value, value}; }
inline RACEPROOF_PAIR RACEPROOF_NAME(__floats2, 2_rn)(float x, float y) { return {x, y}; }
inline RACEPROOF_PAIR RACEPROOF_NAME(__float22, 2_rn)(float2 value) { return {value.x, value.y}; }
inline float2 RACEPROOF_NAME(__, 22float2)(RACEPROOF_PAIR pair) { return make_float2(pair.x, pair.y); }
inline RACEPROOF_NUMBER RACEPROOF_NAME(__low2, )(RACEPROOF_PAIR pair) { return pair.x; }
inline RACEPROOF_NUMBER RACEPROOF_NAME(__high2, )(RACEPROOF_PAIR pair) { return pair.y; }
inline RACEPROOF_PAIR RACEPROOF_NAME(__low2, 2)(RACEPROOF_PAIR pair) { return {pair.x, pair.x}; }
inline RACEPROOF_PAIR RACEPROOF_NAME(__high2, 2)(RACEPROOF_PAIR pair) { return {pair.y, pair.y}; }
inline RACEPROOF_PAIR RACEPROOF_NAME(__lows2, 2)(RACEPROOF_PAIR a, RACEPROOF_PAIR b) { return {a.x, b.x}; }
inline RACEPROOF_PAIR RACEPROOF_NAME(__highs2, 2)(RACEPROOF_PAIR a, RACEPROOF_PAIR b) { return {a.y, b.y}; }
inline float __low2float(RACEPROOF_PAIR pair) { return pair.x; }
inline float __high2float(RACEPROOF_PAIR pair) { return pair.y; }
inline RACEPROOF_PAIR __lowhigh2highlow(RACEPROOF_PAIR pair) { return {pair.y, pair.x}; }

// Of one and of two: `value` says what becomes of a and b.
#define RACEPROOF_BINARY(one, two, value)                                                                                        \
    inline RACEPROOF_NUMBER one(RACEPROOF_NUMBER a, RACEPROOF_NUMBER b) { return value; }                                        \
    inline RACEPROOF_PAIR two(RACEPROOF_PAIR a, RACEPROOF_PAIR b) { return {one(a.x, b.x), one(a.y, b.y)}; }
RACEPROOF_BINARY(__hadd, __hadd2, a + b)
RACEPROOF_BINARY(__hsub, __hsub2, a - b)
RACEPROOF_BINARY(__hmul, __hmul2, a * b)
RACEPROOF_BINARY(__hdiv, __h2div, a / b)
RACEPROOF_BINARY(__hadd_rn, __hadd2_rn, a + b)
RACEPROOF_BINARY(__hsub_rn, __hsub2_rn, a - b)
RACEPROOF_BINARY(__hmul_rn, __hmul2_rn, a * b)
RACEPROOF_BINARY(__hadd_sat, __hadd2_sat, raceproof::saturated(a + b))
RACEPROOF_BINARY(__hsub_sat, __hsub2_sat, raceproof::saturated(a - b))
RACEPROOF_BINARY(__hmul_sat, __hmul2_sat, raceproof::saturated(a * b))
RACEPROOF_BINARY(__hmax, __hmax2, std::fmax(float(a), float(b)))
RACEPROOF_BINARY(__hmin, __hmin2, std::fmin(float(a), float(b)))
RACEPROOF_BINARY(__hmax_nan, __hmax2_nan, raceproof::greater_or_nan(a, b))
RACEPROOF_BINARY(__hmin_nan, __hmin2_nan, raceproof::less_or_nan(a, b))
#undef RACEPROOF_BINARY

#define RACEPROOF_FUSED(one, two, change)                                                                                        \
    inline RACEPROOF_NUMBER one(RACEPROOF_NUMBER a, RACEPROOF_NUMBER b, RACEPROOF_NUMBER c) {                                    \
        RACEPROOF_NUMBER result = double(float(a)) * double(float(b)) + double(float(c));                                        \
        return change;                                                                                                           \
    }                                                                                                                            \
    inline RACEPROOF_PAIR two(RACEPROOF_PAIR a, RACEPROOF_PAIR b, RACEPROOF_PAIR c) {                                            \
        return {one(a.x, b.x, c.x), one(a.y, b.y, c.y)};                                                                         \
    }
RACEPROOF_FUSED(__hfma, __hfma2, result)
RACEPROOF_FUSED(__hfma_sat, __hfma2_sat, raceproof::saturated(result))
RACEPROOF_FUSED(__hfma_relu, __hfma2_relu, raceproof::not_negative(result))
#undef RACEPROOF_FUSED

#define RACEPROOF_UNARY(one, two, value)                                                                                         \
    inline RACEPROOF_NUMBER one(RACEPROOF_NUMBER a) { return value; }                                                            \
    inline RACEPROOF_PAIR two(RACEPROOF_PAIR a) { return {one(a.x), one(a.y)}; }
RACEPROOF_UNARY(__hneg, __hneg2, -a)
RACEPROOF_UNARY(__habs, __habs2, RACEPROOF_NUMBER::Raw{uint16_t(a.bits & 0x7fff)})
RACEPROOF_UNARY(hexp, h2exp, std::exp(float(a)))
RACEPROOF_UNARY(hexp2, h2exp2, std::exp2(float(a)))
RACEPROOF_UNARY(hexp10, h2exp10, std::pow(10.0f, float(a)))
RACEPROOF_UNARY(hlog, h2log, std::log(float(a)))
RACEPROOF_UNARY(hlog2, h2log2, std::log2(float(a)))
RACEPROOF_UNARY(hlog10, h2log10, std::log10(float(a)))
RACEPROOF_UNARY(hsqrt, h2sqrt, std::sqrt(float(a)))
RACEPROOF_UNARY(hrsqrt, h2rsqrt, 1 / std::sqrt(double(float(a))))
RACEPROOF_UNARY(hrcp, h2rcp, 1 / float(a))
RACEPROOF_UNARY(hsin, h2sin, std::sin(float(a)))
RACEPROOF_UNARY(hcos, h2cos, std::cos(float(a)))
RACEPROOF_UNARY(htanh, h2tanh, std::tanh(float(a)))
RACEPROOF_UNARY(hfloor, h2floor, std::floor(float(a)))
RACEPROOF_UNARY(hceil, h2ceil, std::ceil(float(a)))
RACEPROOF_UNARY(htrunc, h2trunc, std::trunc(float(a)))
RACEPROOF_UNARY(hrint, h2rint, std::nearbyint(float(a)))
#undef RACEPROOF_UNARY

// `u`: also where they cannot be compared.
#define RACEPROOF_COMPARE(how, holds)                                                                                            \
    inline bool __h##how(RACEPROOF_NUMBER a, RACEPROOF_NUMBER b) { return holds; }                                               \
    inline bool __h##how##u(RACEPROOF_NUMBER a, RACEPROOF_NUMBER b) {                                                            \
        return std::isunordered(float(a), float(b)) || holds;                                                                    \
    }                                                                                                                            \
    inline RACEPROOF_PAIR __h##how##2(RACEPROOF_PAIR a, RACEPROOF_PAIR b) {                                                      \
        return {__h##how(a.x, b.x), __h##how(a.y, b.y)};                                                                         \
    }                                                                                                                            \
    inline RACEPROOF_PAIR __h##how##u2(RACEPROOF_PAIR a, RACEPROOF_PAIR b) {                                                     \
        return {__h##how##u(a.x, b.x), __h##how##u(a.y, b.y)};                                                                   \
    }                                                                                                                            \
    inline bool __hb##how##2(RACEPROOF_PAIR a, RACEPROOF_PAIR b) { return __h##how(a.x, b.x) && __h##how(a.y, b.y); }            \
    inline bool __hb##how##u2(RACEPROOF_PAIR a, RACEPROOF_PAIR b) { return __h##how##u(a.x, b.x) && __h##how##u(a.y, b.y); }
RACEPROOF_COMPARE(eq, a == b)
RACEPROOF_COMPARE(lt, a < b)
RACEPROOF_COMPARE(gt, a > b)
RACEPROOF_COMPARE(le, a <= b)
RACEPROOF_COMPARE(ge, a >= b)
// Of numbers that cannot be compared only `neu` holds.
RACEPROOF_COMPARE(ne, a < b || a > b)
#undef RACEPROOF_COMPARE

inline bool __hisnan(RACEPROOF_NUMBER a) { return std::isnan(float(a)); }
inline int __hisinf(RACEPROOF_NUMBER a) { return std::isinf(float(a)) ? a < RACEPROOF_NUMBER(0) ? -1 : 1 : 0; }
inline RACEPROOF_PAIR __hisnan2(RACEPROOF_PAIR a) { return {__hisnan(a.x), __hisnan(a.y)}; }

#undef RACEPROOF_NAME
#undef RACEPROOF_PAIR
#undef RACEPROOF_NUMBER
