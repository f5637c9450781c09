// What stands where a mutant may be: one program holds all of its mutants, and RACEPROOF_MUTANT says which one it is; without
// it, it is none. With RACEPROOF_COVER it is told at the end which mutants are reached (`reached`, number), and which do not
// mean anything for the types at hand (`unviable`, number).
//
// A place with several mutants has their numbers one after the other. Operands are evaluated as often
// as they were. What is evaluated while the program is compiled is never a mutant.
#pragma once

#include "objects.hpp"
#include "operators.hpp"

#ifndef RACEPROOF_FIRST_POINT
#define RACEPROOF_FIRST_POINT 0
#endif

namespace raceproof {

inline size_t number_in(const char* variable) {
    const char* text = getenv(variable);
    return text && *text ? strtoull(text, nullptr, 10) : SIZE_MAX;
}
inline const size_t active_mutant = number_in("RACEPROOF_MUTANT");

// Who is reached by a run.
class Reached {
public:
    static Reached& the() {
        static Reached reached;
        return reached;
    }
    void expect(size_t end) {
        if (met.size() < end) met.resize(end);
    }
    void reach(size_t first, size_t count) {
        // Threads that write the same byte write the same.
        for (size_t number = first; number < first + count && number < met.size(); number++) {
            __atomic_store_n(&met[number], 1, __ATOMIC_RELAXED);
        }
    }
    void leave_out(size_t number) { unviable.push_back(number); }
    ~Reached() {
        FILE* file = path ? fopen(path, "w") : nullptr;
        if (!file) return;
        for (size_t number = 0; number < met.size(); number++) {
            if (met[number]) fprintf(file, "reached\t%zu\n", number);
        }
        for (size_t number : unviable) fprintf(file, "unviable\t%zu\n", number);
        fclose(file);
    }

private:
    const char* path = getenv("RACEPROOF_COVER");
    std::vector<unsigned char> met;
    std::vector<size_t> unviable;
};
inline const bool tells_reached = getenv("RACEPROOF_COVER") != nullptr;

// What is put in the place of an operator, besides the other operators.
namespace op {

template <class... Operators> struct list {};

// A GPU goes on after a division by zero, with a value that nobody knows.
struct divide_by_anything {
    template <class A, class B>
    constexpr auto operator()(A&& a, B&& b) const -> decltype(static_cast<A&&>(a) / static_cast<B&&>(b)) {
        if constexpr (std::is_integral<std::decay_t<B>>::value) {
            if (b == 0) return ~decltype(a / b)(0);
        }
        return static_cast<A&&>(a) / static_cast<B&&>(b);
    }
};

struct plus_one {
    template <class T> constexpr auto operator()(T a) const -> decltype(T(a + 1)) { return T(a + 1); }
};
struct minus_one {
    template <class T> constexpr auto operator()(T a) const -> decltype(T(a - 1)) { return T(a - 1); }
};
struct negative {
    template <class T> constexpr auto operator()(T a) const -> decltype(T(-a)) { return T(-a); }
};
struct negated {
    constexpr bool operator()(bool holds) const { return !holds; }
};
struct always {
    constexpr bool operator()(bool) const { return true; }
};
struct never {
    constexpr bool operator()(bool) const { return false; }
};

// Of two sides, each of which is evaluated when it is called.
struct both {
    template <class A, class B> constexpr bool operator()(A& a, B& b) const { return a() && b(); }
};
struct either {
    template <class A, class B> constexpr bool operator()(A& a, B& b) const { return a() || b(); }
};
struct only_left {
    template <class A, class B> constexpr bool operator()(A& a, B&) const { return a(); }
};
struct only_right {
    template <class A, class B> constexpr bool operator()(A&, B& b) const { return b(); }
};

}  // namespace op

// Whether an atomic has a weaker scope, by the mutant's number in all units. Then each block has its own view of what such atomics change.
inline bool is_weaker(size_t number) {
    if (__builtin_expect(tells_reached, 0)) Reached::the().reach(number, 1);
    if (__builtin_expect(active_mutant != number, 1)) return false;
    blocks_have_views = true;
    return true;
}

// The numbers of mutants are those of the unit.
namespace {

struct mutants {
    explicit mutants(size_t of_unit) { Reached::the().expect(RACEPROOF_FIRST_POINT + of_unit); }
};

// Which of the mutants of a place it is, from 1; 0 is none of them.
template <size_t First, size_t Count = 1> inline size_t mutant() {
    constexpr size_t first = RACEPROOF_FIRST_POINT + First;
    if (__builtin_expect(tells_reached, 0)) Reached::the().reach(first, Count);
    size_t which = active_mutant - first;
    return __builtin_expect(which < Count, 0) ? which + 1 : 0;
}

template <size_t Number> struct unviable {
    static const bool is_told;
};
template <size_t Number>
const bool unviable<Number>::is_told = (Reached::the().leave_out(RACEPROOF_FIRST_POINT + Number), true);

template <class Result, class Operator, class... Operands> constexpr bool is_viable() {
    if constexpr (std::is_invocable<Operator, Operands...>::value) {
        return std::is_convertible<std::invoke_result_t<Operator, Operands...>, Result>::value;
    } else {
        return false;
    }
}

// What the operator of that number makes of the operands; `original` if it can make nothing of them.
template <class Result, size_t Number, class Original, class Operator, class... Others, class... Operands>
constexpr Result made_by(size_t which, const Original& original, op::list<Operator, Others...>, Operands&&... operands) {
    if constexpr (!is_viable<Result, Operator, Operands...>()) (void)&unviable<Number>::is_told;
    if (which != 1) {
        if constexpr (sizeof...(Others) > 0) {
            return made_by<Result, Number + 1>(which - 1, original, op::list<Others...>(),
                                               static_cast<Operands&&>(operands)...);
        }
    } else if constexpr (is_viable<Result, Operator, Operands...>()) {
        return static_cast<Result>(Operator()(static_cast<Operands&&>(operands)...));
    }
    return original(static_cast<Operands&&>(operands)...);
}

// An operator between two operands.
template <size_t First, class Original, class... Others, class A, class B>
constexpr auto replaced(Original original, op::list<Others...> others, A&& a, B&& b)
    -> decltype(original(static_cast<A&&>(a), static_cast<B&&>(b))) {
    using Result = decltype(original(static_cast<A&&>(a), static_cast<B&&>(b)));
    if (!__builtin_is_constant_evaluated()) {
        if (size_t which = mutant<First, sizeof...(Others)>()) {
            return made_by<Result, First>(which, original, others, static_cast<A&&>(a), static_cast<B&&>(b));
        }
    }
    return original(static_cast<A&&>(a), static_cast<B&&>(b));
}

// `&&` and `||`, whose operands are functions.
template <size_t First, class Original, class... Others, class A, class B>
constexpr bool replaced_logical(Original original, op::list<Others...> others, A a, B b) {
    if (!__builtin_is_constant_evaluated()) {
        if (size_t which = mutant<First, sizeof...(Others)>()) {
            return made_by<bool, First>(which, original, others, a, b);
        }
    }
    return original(a, b);
}

struct itself {
    template <class T> constexpr T operator()(T value) const { return value; }
};

// A value.
template <size_t First, class... Others, class T> constexpr T changed(op::list<Others...> others, T value) {
    if (!__builtin_is_constant_evaluated()) {
        if (size_t which = mutant<First, sizeof...(Others)>()) {
            return made_by<T, First>(which, itself(), others, static_cast<T&&>(value));
        }
    }
    return value;
}

// One of several values of one type; the first is that of the program.
template <size_t First, class T, class... Others> inline T one_of(T value, Others... others) {
    if (size_t which = mutant<First, sizeof...(Others)>()) {
        const T all[] = {others...};
        return all[which - 1];
    }
    return value;
}

// A pointer to one of several memories; the first is that of the program. Those that do not do for what is done there mean nothing.
template <size_t Number, class Result> inline Result memory_among(size_t, Result own) { return own; }
template <size_t Number, class Result, class Other, class... Others>
inline Result memory_among(size_t which, Result own, Other other, Others... others) {
    if constexpr (!std::is_convertible<Other, Result>::value) (void)&unviable<Number>::is_told;
    if (which != 1) return memory_among<Number + 1>(which - 1, own, others...);
    if constexpr (std::is_convertible<Other, Result>::value) return other;
    return own;
}
template <size_t First, class T, class... Others> inline T* memory_of(T* own, Others... others) {
    size_t which = mutant<First, sizeof...(Others)>();
    return memory_among<First>(which, own, others...);
}
// The same where it is only read.
template <size_t First, class T, class... Others> inline const T* read_from(T* own, Others... others) {
    return memory_of<First, const T>(own, others...);
}

// Whether an atomic function, or a scope that one is given, is the weaker one.
template <size_t Number> inline bool weakens() { return is_weaker(RACEPROOF_FIRST_POINT + Number); }
template <size_t Number, class Named> inline Named scope_of(Named scope, Named weaker) {
    return weakens<Number>() ? weaker : scope;
}
// The scope that is part of a type, with the number of the mutant in it.
template <size_t Number> constexpr cuda::thread_scope scope_or_weaker(cuda::thread_scope scope) {
    return cuda::thread_scope((RACEPROOF_FIRST_POINT + Number + 1) * 4 + scope);
}

// Whether something is left out.
template <size_t Number> inline bool skips() { return mutant<Number>() != 0; }

// The same, for every other thread.
template <size_t Number> inline bool skips_half() {
    return mutant<Number>() != 0 && here.in_kernel && threadIdx.x % 2 != 0;
}

// An atomic function that may read and write in two steps.
template <size_t Number, class Operator, class Function> struct Split {
    Operator change;
    Function function;

    template <class T, class V> auto operator()(T* place, V&& value) const {
        if constexpr (is_viable<T, Operator, T, V>()) {
            if (skips<Number>()) {
                T old = *place;
                if (here.in_kernel) worker->yield();
                *place = static_cast<T>(change(old, value));
                return static_cast<decltype(function(place, static_cast<V&&>(value)))>(old);
            }
        } else {
            (void)&unviable<Number>::is_told;
        }
        return function(place, static_cast<V&&>(value));
    }
};
template <size_t Number, class Operator, class Function> inline auto split(Operator change, Function function) {
    return Split<Number, Operator, Function>{change, function};
}

// What the launch behind it is configured with: a block less, a block more.
template <size_t First> inline void changed_grid() {
    switch (mutant<First, 2>()) {
    case 1: pending.grid.x -= 1; break;
    case 2: pending.grid.x += 1; break;
    }
}
// Half the threads in a block, twice as many.
template <size_t First> inline void changed_block() {
    switch (mutant<First, 2>()) {
    case 1: pending.block.x = (pending.block.x + 1) / 2; break;
    case 2: pending.block.x *= 2; break;
    }
}

}  // namespace
}  // namespace raceproof
