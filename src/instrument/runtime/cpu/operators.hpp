// The operators between two operands, as functions: an instrumented text puts them in the place of the operator.
#pragma once

namespace raceproof {
namespace op {

#define RACEPROOF_OPERATOR(name, sign)                                                                     \
    struct name {                                                                                          \
        template <class A, class B>                                                                        \
        constexpr auto operator()(A&& a, B&& b) const                                                      \
            -> decltype(static_cast<A&&>(a) sign static_cast<B&&>(b)) {                                    \
            return static_cast<A&&>(a) sign static_cast<B&&>(b);                                           \
        }                                                                                                  \
    };
RACEPROOF_OPERATOR(add, +)
RACEPROOF_OPERATOR(subtract, -)
RACEPROOF_OPERATOR(multiply, *)
RACEPROOF_OPERATOR(divide, /)
RACEPROOF_OPERATOR(modulo, %)
RACEPROOF_OPERATOR(shift_left, <<)
RACEPROOF_OPERATOR(shift_right, >>)
RACEPROOF_OPERATOR(bitwise_and, &)
RACEPROOF_OPERATOR(bitwise_or, |)
RACEPROOF_OPERATOR(bitwise_xor, ^)
RACEPROOF_OPERATOR(is_less, <)
RACEPROOF_OPERATOR(is_less_or_equal, <=)
RACEPROOF_OPERATOR(is_greater, >)
RACEPROOF_OPERATOR(is_greater_or_equal, >=)
RACEPROOF_OPERATOR(is_equal, ==)
RACEPROOF_OPERATOR(is_not_equal, !=)
#undef RACEPROOF_OPERATOR

}  // namespace op
}  // namespace raceproof
