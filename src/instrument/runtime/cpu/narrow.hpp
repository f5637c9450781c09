// Floats of 16 bits: `__half` (half.hpp) and `__nv_bfloat16` (bfloat16.hpp), and pairs of them.
//
// They are kept in their bits and computed with as floats or doubles, and each operation rounds once, to the nearest, ties
// to even: what a GPU gives for sums, differences, products, quotients, roots and `fma`. Other functions of mathematics are
// those of floats, rounded: a GPU's may differ in the last bit. `_sat`, `_relu` and the like are as CUDA says.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace raceproof {

enum class Rounding { nearest, to_zero, down, up };

// A number with so many bits of exponent.
template <int Exponent> struct Narrow {
    static constexpr int fraction_bits = 15 - Exponent, bias = (1 << (Exponent - 1)) - 1;
    static constexpr uint16_t infinity = uint16_t(((1 << Exponent) - 1) << fraction_bits);

    // The bits alone.
    struct Raw {
        unsigned short x;
    };

    uint16_t bits;

    Narrow() = default;
    Narrow(Raw raw) : bits(raw.x) {}
    template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>>
    Narrow(T value) : bits(packed(double(value), Rounding::nearest)) {}

    static Narrow rounded(double value, Rounding how) { return Raw{packed(value, how)}; }

    operator float() const {
        int exponent = bits >> fraction_bits & ((1 << Exponent) - 1), fraction = bits & ((1 << fraction_bits) - 1);
        float value = exponent == 0                     ? std::ldexp(float(fraction), 1 - bias - fraction_bits)
                      : exponent < (1 << Exponent) - 1 ? std::ldexp(float(fraction + (1 << fraction_bits)), exponent - bias - fraction_bits)
                      : fraction                       ? NAN
                                                       : INFINITY;
        return bits >> 15 ? -value : value;
    }
    operator Raw() const { return Raw{bits}; }

    friend Narrow operator+(Narrow a, Narrow b) { return float(a) + float(b); }
    friend Narrow operator-(Narrow a, Narrow b) { return float(a) - float(b); }
    friend Narrow operator*(Narrow a, Narrow b) { return float(a) * float(b); }
    friend Narrow operator/(Narrow a, Narrow b) { return float(a) / float(b); }
    friend Narrow operator-(Narrow a) { return Raw{uint16_t(a.bits ^ 0x8000)}; }
    friend Narrow operator+(Narrow a) { return a; }
    Narrow& operator+=(Narrow b) { return *this = *this + b; }
    Narrow& operator-=(Narrow b) { return *this = *this - b; }
    Narrow& operator*=(Narrow b) { return *this = *this * b; }
    Narrow& operator/=(Narrow b) { return *this = *this / b; }
    Narrow& operator++() { return *this += Narrow(1); }
    Narrow& operator--() { return *this -= Narrow(1); }
    Narrow operator++(int) { Narrow old = *this; ++*this; return old; }
    Narrow operator--(int) { Narrow old = *this; --*this; return old; }
    friend bool operator==(Narrow a, Narrow b) { return float(a) == float(b); }
    friend bool operator!=(Narrow a, Narrow b) { return float(a) != float(b); }
    friend bool operator<(Narrow a, Narrow b) { return float(a) < float(b); }
    friend bool operator>(Narrow a, Narrow b) { return float(a) > float(b); }
    friend bool operator<=(Narrow a, Narrow b) { return float(a) <= float(b); }
    friend bool operator>=(Narrow a, Narrow b) { return float(a) >= float(b); }

private:
    static uint16_t packed(double value, Rounding how) {
        if (std::isnan(value)) return 0x7fff;
        bool is_negative = std::signbit(value);
        uint16_t sign = is_negative ? 0x8000 : 0;
        double size = std::fabs(value);
        if (std::isinf(size)) return sign | infinity;
        if (size == 0) return sign;
        int exponent = 0;
        std::frexp(size, &exponent);
        // Below the least normal number the steps no longer shrink.
        int scale = (exponent - 1 < 1 - bias ? 1 - bias : exponent - 1);
        double steps = std::ldexp(size, fraction_bits - scale);
        bool grows = how == Rounding::up ? !is_negative : how == Rounding::down && is_negative;
        steps = how == Rounding::nearest ? std::nearbyint(steps) : grows ? std::ceil(steps) : std::floor(steps);
        // A step more than the fraction holds carries into the exponent, as it should.
        double whole = std::ldexp(double(scale + bias - 1), fraction_bits) + steps;
        if (whole < infinity) return sign | uint16_t(whole);
        return sign | uint16_t(how == Rounding::nearest || grows ? infinity : infinity - 1);
    }
};

// Two of them, in one word.
template <class Number> struct alignas(4) NarrowPair {
    Number x, y;

    NarrowPair() = default;
    NarrowPair(Number a, Number b) : x(a), y(b) {}

    friend NarrowPair operator+(NarrowPair a, NarrowPair b) { return {a.x + b.x, a.y + b.y}; }
    friend NarrowPair operator-(NarrowPair a, NarrowPair b) { return {a.x - b.x, a.y - b.y}; }
    friend NarrowPair operator*(NarrowPair a, NarrowPair b) { return {a.x * b.x, a.y * b.y}; }
    friend NarrowPair operator/(NarrowPair a, NarrowPair b) { return {a.x / b.x, a.y / b.y}; }
    friend NarrowPair operator-(NarrowPair a) { return {-a.x, -a.y}; }
    friend NarrowPair operator+(NarrowPair a) { return a; }
    NarrowPair& operator+=(NarrowPair b) { return *this = *this + b; }
    NarrowPair& operator-=(NarrowPair b) { return *this = *this - b; }
    NarrowPair& operator*=(NarrowPair b) { return *this = *this * b; }
    NarrowPair& operator/=(NarrowPair b) { return *this = *this / b; }
    friend bool operator==(NarrowPair a, NarrowPair b) { return a.x == b.x && a.y == b.y; }
    friend bool operator!=(NarrowPair a, NarrowPair b) { return a.x != b.x && a.y != b.y; }
    friend bool operator<(NarrowPair a, NarrowPair b) { return a.x < b.x && a.y < b.y; }
    friend bool operator>(NarrowPair a, NarrowPair b) { return a.x > b.x && a.y > b.y; }
    friend bool operator<=(NarrowPair a, NarrowPair b) { return a.x <= b.x && a.y <= b.y; }
    friend bool operator>=(NarrowPair a, NarrowPair b) { return a.x >= b.x && a.y >= b.y; }
};

// An integer out of a float that may be too large for it.
template <class Integer> inline Integer integer_of(double value) {
    if (std::isnan(value)) return 0;
    constexpr double least = double(std::numeric_limits<Integer>::min()), most = double(std::numeric_limits<Integer>::max());
    return value <= least ? std::numeric_limits<Integer>::min() : value >= most ? std::numeric_limits<Integer>::max() : Integer(value);
}

inline float saturated(float value) { return value > 0 ? value < 1 ? value : 1 : 0; }
inline float not_negative(float value) { return value < 0 ? 0 : value; }
inline float greater_or_nan(float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b); }
inline float less_or_nan(float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b); }

}  // namespace raceproof
