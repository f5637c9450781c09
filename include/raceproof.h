/*
 * raceproof.h: what kernels rely on and what they claim, in words that every compiler accepts.
 *
 * raceproof reads these macros as its annotations; `__RACEPROOF__` is defined there (10000 * major + 100 * minor + patch of its
 * version). Everywhere else (nvcc, hipcc, clang, gcc, OpenCL C 1.2 and later) an annotation is a statement that does nothing: the compiler
 * checks the names and types in its condition and never evaluates it, so that it costs nothing and has no side effects.
 *
 * None becomes `__builtin_assume`: a condition may be about two threads, which no compiler knows of. What the compiler, too,
 * is to rely on is written `__builtin_assume(c)`, which raceproof believes as well.
 *
 * A formula (from RACEPROOF_IMPLIES on) has a meaning in the condition of an annotation alone. Elsewhere a program with one does not link.
 *
 * As with `assert`, a condition with a comma outside of (…) stands in parentheses of its own: RACEPROOF_ASSUME((is_even<int, 2>(n))).
 */
#ifndef RACEPROOF_H
#define RACEPROOF_H

#if defined(__RACEPROOF__) && !__RACEPROOF_INSTRUMENTED__

/* Believed, and printed as an assumption of every proof that uses it. */
#define RACEPROOF_ASSUME(c) __assume(c)
/* Believed in a kernel; checked where the function is called by another. */
#define RACEPROOF_REQUIRES(c) __requires(c)
/* Says nothing that raceproof does not assume: arrays that are given to a kernel are disjoint. */
#define RACEPROOF_REQUIRES_FRESH_ARRAY(a) __requires_fresh_array(a)

/* Checked where it stands. */
#define RACEPROOF_ASSERT(c) __assert(c)
/* Checked when the function returns: stands at its beginning. */
#define RACEPROOF_ENSURES(c) __ensures(c)
/* Before the test of a loop, for (…; RACEPROOF_INVARIANT(c), i < n; …): checked wherever the test is evaluated. */
#define RACEPROOF_INVARIANT(c) __invariant(c)
/* The same, used if it is proved and forgotten if not. */
#define RACEPROOF_CANDIDATE_INVARIANT(c) __candidate_invariant(c)
/* The same, of every loop of the function. */
#define RACEPROOF_FUNCTION_WIDE_INVARIANT(c) __function_wide_invariant(c)
#define RACEPROOF_FUNCTION_WIDE_CANDIDATE_INVARIANT(c) __function_wide_candidate_invariant(c)
/* Before a barrier: checked where it stands. */
#define RACEPROOF_BARRIER_INVARIANT(c) __barrier_invariant(c)

/* In a function of which only a specification is there: it may do anything to the array. */
#define RACEPROOF_READS_FROM(a) __reads_from(a)
#define RACEPROOF_WRITES_TO(a) __writes_to(a)

/* Formulas over one thread. */
#define RACEPROOF_IMPLIES(a, b) __implies(a, b)
#define RACEPROOF_IF_THEN_ELSE(c, a, b) __ite(c, a, b)
#define RACEPROOF_IS_POWER_OF_TWO(x) __is_pow2(x)
#define RACEPROOF_MODULO_POWER_OF_TWO(x, power) __mod_pow2(x, power)
#define RACEPROOF_ENABLED() __enabled()

/* Formulas over every two threads that get there in the same turns of the loops around it. Values may have any type of numbers. */
#define RACEPROOF_OTHER(x) __other_value(x)
#define RACEPROOF_DISTINCT(x) __distinct_value(x)
#define RACEPROOF_UNIFORM(x) __uniform_value(x)
#define RACEPROOF_ALL(c) __all(c)
#define RACEPROOF_EXCLUSIVE(c) __exclusive(c)
#define RACEPROOF_SAME_GROUP __same_group

/* Formulas over what the thread has accessed of an array since the last barrier that orders it. */
#define RACEPROOF_READ(a) __read(a)
#define RACEPROOF_WRITE(a) __write(a)
#define RACEPROOF_NO_READ(a) __no_read(a)
#define RACEPROOF_NO_WRITE(a) __no_write(a)
#define RACEPROOF_READ_IMPLIES(a, c) __read_implies(a, c)
#define RACEPROOF_WRITE_IMPLIES(a, c) __write_implies(a, c)
#define RACEPROOF_READ_OFFSET(a) __read_offset(a)
#define RACEPROOF_WRITE_OFFSET(a) __write_offset(a)
#define RACEPROOF_READ_OFFSET_BYTES(a) __read_offset_bytes(a)
#define RACEPROOF_WRITE_OFFSET_BYTES(a) __write_offset_bytes(a)

#else

#if defined(__CUDACC__) || defined(__CUDA__) || defined(__HIPCC__) || defined(__HIP__)
#define RACEPROOF_SPACES_ __host__ __device__
#else
#define RACEPROOF_SPACES_
#endif

/* Defined nowhere: its name is what the linker says of a formula outside of an annotation. */
#ifdef __cplusplus
extern "C"
#endif
RACEPROOF_SPACES_ int raceproof_formula_outside_of_an_annotation(void);

#define RACEPROOF_CONDITION_(c) ((void)sizeof((c) ? 1 : 0))
#define RACEPROOF_OPERAND_(a) ((void)sizeof(((void)(a), 0)))
#define RACEPROOF_TRUTH_() (raceproof_formula_outside_of_an_annotation() != 0)
#define RACEPROOF_OFFSET_() (raceproof_formula_outside_of_an_annotation() + sizeof(int))

#define RACEPROOF_ASSUME(c) RACEPROOF_CONDITION_(c)
#define RACEPROOF_REQUIRES(c) RACEPROOF_CONDITION_(c)
#define RACEPROOF_REQUIRES_FRESH_ARRAY(a) RACEPROOF_OPERAND_(a)

#define RACEPROOF_ASSERT(c) RACEPROOF_CONDITION_(c)
#define RACEPROOF_ENSURES(c) RACEPROOF_CONDITION_(c)
#define RACEPROOF_INVARIANT(c) RACEPROOF_CONDITION_(c)
#define RACEPROOF_CANDIDATE_INVARIANT(c) RACEPROOF_CONDITION_(c)
#define RACEPROOF_FUNCTION_WIDE_INVARIANT(c) RACEPROOF_CONDITION_(c)
#define RACEPROOF_FUNCTION_WIDE_CANDIDATE_INVARIANT(c) RACEPROOF_CONDITION_(c)
#define RACEPROOF_BARRIER_INVARIANT(c) RACEPROOF_CONDITION_(c)

#define RACEPROOF_READS_FROM(a) RACEPROOF_OPERAND_(a)
#define RACEPROOF_WRITES_TO(a) RACEPROOF_OPERAND_(a)

#define RACEPROOF_IMPLIES(a, b) ((a) ? ((b) ? RACEPROOF_TRUTH_() : 0) : RACEPROOF_TRUTH_())
#define RACEPROOF_IF_THEN_ELSE(c, a, b) ((void)RACEPROOF_TRUTH_(), (c) ? (a) : (b))
#define RACEPROOF_IS_POWER_OF_TWO(x) ((void)((x) & 1), RACEPROOF_TRUTH_())
#define RACEPROOF_MODULO_POWER_OF_TWO(x, power) ((void)((x) & (power)), (void)RACEPROOF_TRUTH_(), (x))
#define RACEPROOF_ENABLED() RACEPROOF_TRUTH_()

#define RACEPROOF_OTHER(x) ((void)RACEPROOF_TRUTH_(), (x))
#define RACEPROOF_DISTINCT(x) ((void)(x), RACEPROOF_TRUTH_())
#define RACEPROOF_UNIFORM(x) ((void)(x), RACEPROOF_TRUTH_())
#define RACEPROOF_ALL(c) ((c) ? RACEPROOF_TRUTH_() : 0)
#define RACEPROOF_EXCLUSIVE(c) ((c) ? RACEPROOF_TRUTH_() : 0)
#define RACEPROOF_SAME_GROUP RACEPROOF_TRUTH_()

#define RACEPROOF_READ(a) ((void)(a), RACEPROOF_TRUTH_())
#define RACEPROOF_WRITE(a) ((void)(a), RACEPROOF_TRUTH_())
#define RACEPROOF_NO_READ(a) ((void)(a), RACEPROOF_TRUTH_())
#define RACEPROOF_NO_WRITE(a) ((void)(a), RACEPROOF_TRUTH_())
#define RACEPROOF_READ_IMPLIES(a, c) ((void)(a), (c) ? RACEPROOF_TRUTH_() : 0)
#define RACEPROOF_WRITE_IMPLIES(a, c) ((void)(a), (c) ? RACEPROOF_TRUTH_() : 0)
#define RACEPROOF_READ_OFFSET(a) ((void)(a), RACEPROOF_OFFSET_())
#define RACEPROOF_WRITE_OFFSET(a) ((void)(a), RACEPROOF_OFFSET_())
#define RACEPROOF_READ_OFFSET_BYTES(a) ((void)(a), RACEPROOF_OFFSET_())
#define RACEPROOF_WRITE_OFFSET_BYTES(a) ((void)(a), RACEPROOF_OFFSET_())

#endif
#endif
