// Functions of device code that C++ does not have, or has under another name.
//
// Approximate intrinsics (__expf) are computed exactly as their precise forms; those with a rounding mode other than to
// nearest are computed by rounding the next wider result, or by stepping to the neighbour.
#pragma once

#include "atomics.hpp"

// The C library declares some of these on its own and defines none.
#define RACEPROOF_FAST(name, precise) \
    extern "C" inline float name(float x) noexcept { return precise; }
RACEPROOF_FAST(__expf, expf(x))
RACEPROOF_FAST(__exp10f, powf(10.0f, x))
RACEPROOF_FAST(__logf, logf(x))
RACEPROOF_FAST(__log2f, log2f(x))
RACEPROOF_FAST(__log10f, log10f(x))
RACEPROOF_FAST(__sinf, sinf(x))
RACEPROOF_FAST(__cosf, cosf(x))
RACEPROOF_FAST(__tanf, tanf(x))
#undef RACEPROOF_FAST
extern "C" inline float __powf(float x, float y) noexcept { return powf(x, y); }
inline void __sincosf(float x, float* sine, float* cosine) noexcept { *sine = sinf(x), *cosine = cosf(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
inline float __tanhf(float x) noexcept { return tanhf(x); }

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline double sinpi(double x) { return sin(fmod(x, 2.0) * CUDART_PI); }
inline double cospi(double x) { return cos(fmod(x, 2.0) * CUDART_PI); }
inline float sinpif(float x) { return float(sinpi(x)); }
inline float cospif(float x) { return float(cospi(x)); }
inline void sincospif(float x, float* sine, float* cosine) { *sine = sinpif(x), *cosine = cospif(x); }
inline void sincospi(double x, double* sine, double* cosine) { *sine = sinpi(x), *cosine = cospi(x); }
#if !defined(__GLIBC__)
inline void sincosf(float x, float* sine, float* cosine) { *sine = sinf(x), *cosine = cosf(x); }
inline void sincos(double x, double* sine, double* cosine) { *sine = sin(x), *cosine = cos(x); }
inline float exp10f(float x) { return powf(10.0f, x); }
inline double exp10(double x) { return pow(10.0, x); }
#endif
inline float normcdff(float x) { return 0.5f * erfcf(-x * CUDART_SQRT_HALF_F); }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
inline double erfcx(double x) { return exp(x * x) * erfc(x); }
inline float erfcxf(float x) { return float(erfcx(x)); }
inline float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
inline double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
inline float norm4df(float x, float y, float z, float w) { return sqrtf(x * x + y * y + z * z + w * w); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }

namespace raceproof {
// The inverse of erf: a guess by Winitzki's formula, then two steps of Halley's method.
inline double inverse_erf(double y) {
    if (y <= -1 || y >= 1) return y == 1 ? CUDART_INF : y == -1 ? -CUDART_INF : CUDART_NAN;
    double l = log1p(-y * y), t = 2 / (CUDART_PI * 0.147) + l / 2;
    double x = copysign(sqrt(sqrt(t * t - l / 0.147) - t), y);
    for (int step = 0; step < 3; step++) {
        double error = (y < 0.5 && y > -0.5 ? erf(x) - y : y > 0 ? (1 - y) - erfc(x) : erfc(-x) - (1 + y));
        double slope = 2 / sqrt(CUDART_PI) * exp(-x * x);
        x -= error / (slope + x * error);
    }
    return x;
}
}  // namespace raceproof
inline double erfinv(double y) { return raceproof::inverse_erf(y); }
inline float erfinvf(float y) { return float(raceproof::inverse_erf(y)); }
inline double erfcinv(double y) { return raceproof::inverse_erf(1 - y); }
inline float erfcinvf(float y) { return float(raceproof::inverse_erf(1 - double(y))); }
inline double normcdfinv(double y) { return 1.41421356237309504880 * raceproof::inverse_erf(2 * y - 1); }
inline float normcdfinvf(float y) { return float(normcdfinv(y)); }

// min and max of everything, as overloads: callers mix signed with unsigned.
#define RACEPROOF_ORDER(result, first, second)                                                  \
    inline constexpr result min(first a, second b) {                                            \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a) : static_cast<result>(b);                                   \
    }                                                                                           \
    inline constexpr result max(first a, second b) { return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(b) : static_cast<result>(a); }
RACEPROOF_ORDER(int, int, int)
RACEPROOF_ORDER(unsigned, unsigned, unsigned)
RACEPROOF_ORDER(unsigned, int, unsigned)
RACEPROOF_ORDER(unsigned, unsigned, int)
RACEPROOF_ORDER(long, long, long)
RACEPROOF_ORDER(unsigned long, unsigned long, unsigned long)
RACEPROOF_ORDER(unsigned long, long, unsigned long)
RACEPROOF_ORDER(unsigned long, unsigned long, long)
RACEPROOF_ORDER(long long, long long, long long)
RACEPROOF_ORDER(unsigned long long, unsigned long long, unsigned long long)
RACEPROOF_ORDER(unsigned long long, long long, unsigned long long)
RACEPROOF_ORDER(unsigned long long, unsigned long long, long long)
#undef RACEPROOF_ORDER
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(double(a), b); }
inline double max(float a, double b) { return fmax(double(a), b); }
inline double min(double a, float b) { return fmin(a, double(b)); }
inline double max(double a, float b) { return fmax(a, double(b)); }
inline int umin(unsigned a, unsigned b) { return int(a < b ? a : b); }
inline int umax(unsigned a, unsigned b) { return int(a < b ? b : a); }

namespace raceproof {
// `exact` is the result in wider arithmetic; `near` the nearest of type T.
template <class T, class Wide> inline T round_down(Wide exact) {
    T near = T(exact);
    return Wide(near) > exact ? std::nextafter(near, -std::numeric_limits<T>::infinity()) : near;
}
template <class T, class Wide> inline T round_up(Wide exact) {
    T near = T(exact);
    return Wide(near) < exact ? std::nextafter(near, std::numeric_limits<T>::infinity()) : near;
}
template <class T, class Wide> inline T round_zero(Wide exact) {
    return exact > 0 ? round_down<T>(exact) : round_up<T>(exact);
}
}  // namespace raceproof

#define RACEPROOF_ROUNDED(name, type, wide, parameters, near, exact)                            \
    inline type name##_rn parameters { return near; }                                           \
    inline type name##_rd parameters { return raceproof::round_down<type, wide>(exact); }       \
    inline type name##_ru parameters { return raceproof::round_up<type, wide>(exact); }         \
    inline type name##_rz parameters { return raceproof::round_zero<type, wide>(exact); }
RACEPROOF_ROUNDED(__fadd, float, double, (float a, float b), a + b, double(a) + b)
RACEPROOF_ROUNDED(__fsub, float, double, (float a, float b), a - b, double(a) - b)
RACEPROOF_ROUNDED(__fmul, float, double, (float a, float b), a * b, double(a) * b)
RACEPROOF_ROUNDED(__fdiv, float, double, (float a, float b), a / b, double(a) / b)
RACEPROOF_ROUNDED(__fmaf, float, double, (float a, float b, float c), fmaf(a, b, c), double(a) * b + c)
RACEPROOF_ROUNDED(__frcp, float, double, (float a), 1.0f / a, 1.0 / a)
RACEPROOF_ROUNDED(__fsqrt, float, double, (float a), sqrtf(a), sqrt(double(a)))
RACEPROOF_ROUNDED(__dadd, double, long double, (double a, double b), a + b, (long double)a + b)
RACEPROOF_ROUNDED(__dsub, double, long double, (double a, double b), a - b, (long double)a - b)
RACEPROOF_ROUNDED(__dmul, double, long double, (double a, double b), a * b, (long double)a * b)
RACEPROOF_ROUNDED(__ddiv, double, long double, (double a, double b), a / b, (long double)a / b)
RACEPROOF_ROUNDED(__fma, double, long double, (double a, double b, double c), fma(a, b, c), (long double)a * b + c)
RACEPROOF_ROUNDED(__drcp, double, long double, (double a), 1.0 / a, 1.0L / a)
RACEPROOF_ROUNDED(__dsqrt, double, long double, (double a), sqrt(a), sqrtl(a))
RACEPROOF_ROUNDED(__double2float, float, double, (double a), float(a), a)
RACEPROOF_ROUNDED(__int2float, float, double, (int a), float(a), double(a))
RACEPROOF_ROUNDED(__uint2float, float, double, (unsigned a), float(a), double(a))
RACEPROOF_ROUNDED(__ll2float, float, long double, (long long a), float(a), (long double)a)
RACEPROOF_ROUNDED(__ull2float, float, long double, (unsigned long long a), float(a), (long double)a)
RACEPROOF_ROUNDED(__ll2double, double, long double, (long long a), double(a), (long double)a)
RACEPROOF_ROUNDED(__ull2double, double, long double, (unsigned long long a), double(a), (long double)a)
#undef RACEPROOF_ROUNDED
inline float __frsqrt_rn(float a) { return float(1.0 / sqrt(double(a))); }
inline double __int2double_rn(int a) { return a; }
inline double __uint2double_rn(unsigned a) { return a; }
