// What stands at comparisons of conditions in text that looks for inputs: how near the operands come to each other.
#pragma once

#include "coverage_points.hpp"
#include "operators.hpp"

namespace raceproof {
namespace {

template <class T> constexpr bool is_number = std::is_arithmetic<T>::value || std::is_enum<T>::value;

template <class T> inline Operand operand(const T& value) {
    if constexpr (std::is_floating_point<T>::value) {
        return {true, 0, double(value)};
    } else {
        return {false, (long long)(value), 0};
    }
}

template <class Operator, class A, class B> inline bool compared(size_t point, Operator op, const A& a, const B& b) {
    using L = std::decay_t<A>;
    using R = std::decay_t<B>;
    if constexpr (is_number<L> && is_number<R>) {
        // What others may change is read once.
        L left = a;
        R right = b;
        bool holds = op(left, right);
        if (here.in_kernel) worker->coverage.compare(RACEPROOF_FIRST_POINT + point, holds, operand<L>(left), operand<R>(right));
        return holds;
    } else if constexpr (std::is_pointer<L>::value && std::is_integral<R>::value) {
        // The null pointer, which is a number only where it is written as one.
        return op(static_cast<const volatile void*>(a), static_cast<const volatile void*>(nullptr));
    } else if constexpr (std::is_integral<L>::value && std::is_pointer<R>::value) {
        return op(static_cast<const volatile void*>(nullptr), static_cast<const volatile void*>(b));
    } else {
        return bool(op(a, b));
    }
}

}  // namespace
}  // namespace raceproof
