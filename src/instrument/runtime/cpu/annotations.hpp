// Annotations of other checkers, which kernels that were prepared for them are full of.
//
// They say what `check` believes or proves; in a run they do nothing, and what they read is not read. What has a value
// stands in conditions only, and has it. Macros, so that a program that defines them itself has its own.
#pragma once

#include <assert.h>

#if defined(__GNUC__) && !defined(__clang__)
#define __builtin_assume(...) ((void)0)
#endif
#define __assume(...) ((void)0)
#define __requires(...) ((void)0)
#define __global_requires(...) ((void)0)
#define __requires_fresh_array(...) ((void)0)
#define __ensures(...) ((void)0)
#define __global_ensures(...) ((void)0)
#define __assert(...) ((void)0)
#define __global_assert(...) ((void)0)
#define __builtin_assert(...) ((void)0)
#define __invariant(...) ((void)0)
#define __global_invariant(...) ((void)0)
#define __candidate_invariant(...) ((void)0)
#define __candidate_global_invariant(...) ((void)0)
#define __function_wide_invariant(...) ((void)0)
#define __function_wide_candidate_invariant(...) ((void)0)
#define __barrier_invariant(...) ((void)0)
#define __barrier_invariant_1(...) ((void)0)
#define __barrier_invariant_2(...) ((void)0)
#define __barrier_invariant_3(...) ((void)0)
#define __barrier_invariant_4(...) ((void)0)
#define __barrier_invariant_binary_1(...) ((void)0)
#define __barrier_invariant_binary_2(...) ((void)0)
#define __barrier_invariant_binary(...) ((void)0)
#define __reads_from(...) ((void)0)
#define __writes_to(...) ((void)0)
#define __reads_from_local(...) ((void)0)
#define __writes_to_local(...) ((void)0)
#define __non_temporal_loads_begin(...) ((void)0)
#define __non_temporal_loads_end(...) ((void)0)
// Of one thread alone, another one has the same values.
#define __other_int(value) (value)
#define __other_bool(value) (value)
#define __enabled() true
#define __implies(premise, conclusion) (!(premise) || (conclusion))
#define __ite(condition, then, otherwise) ((condition) ? (then) : (otherwise))
#define __is_pow2(value) ((((value) & ((value) - 1))) == 0)
#define __mod_pow2(value, power) ((value) & ((power) - 1))
