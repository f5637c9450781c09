// The types of OpenCL C that its own header declares; its functions are built into clang.
// Only clang reads this, so that it can parse; what these names mean is said in `builtins`.
#define __opencl_c_fp64 1
#define __opencl_c_int64 1
#define __opencl_c_images 1
#define __opencl_c_3d_image_writes 1
#define cl_khr_subgroups 1
#define cl_khr_subgroup_ballot 1
#define cl_khr_subgroup_shuffle 1
#define cl_khr_subgroup_shuffle_relative 1
#define cl_khr_subgroup_non_uniform_vote 1
#define cl_khr_subgroup_non_uniform_arithmetic 1
#define cl_khr_subgroup_clustered_reduce 1
#define __opencl_subgroup_builtins 1
// What is not there before version 2.0, and optional in 3.0.
#if __OPENCL_C_VERSION__ >= 200
#define __opencl_c_generic_address_space 1
#define __opencl_c_work_group_collective_functions 1
#define __opencl_c_atomic_order_acq_rel 1
#define __opencl_c_atomic_order_seq_cst 1
#define __opencl_c_atomic_scope_device 1
#define __opencl_c_atomic_scope_all_devices 1
#define __opencl_c_program_scope_global_variables 1
#define __opencl_c_read_write_images 1
#define __opencl_c_subgroups 1
#define __opencl_c_device_enqueue 1
#define __opencl_c_pipes 1
#endif
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define RP_VECTOR(T) \
  typedef T T##2 __attribute__((ext_vector_type(2))); \
  typedef T T##3 __attribute__((ext_vector_type(3))); \
  typedef T T##4 __attribute__((ext_vector_type(4))); \
  typedef T T##8 __attribute__((ext_vector_type(8))); \
  typedef T T##16 __attribute__((ext_vector_type(16)));
RP_VECTOR(char)
RP_VECTOR(uchar)
RP_VECTOR(short)
RP_VECTOR(ushort)
RP_VECTOR(int)
RP_VECTOR(uint)
RP_VECTOR(long)
RP_VECTOR(ulong)
RP_VECTOR(half)
RP_VECTOR(float)
RP_VECTOR(double)
#undef RP_VECTOR
#define NULL ((void *)0)
typedef uint cl_mem_fence_flags;
typedef uint memory_flags;
typedef enum memory_scope {
  memory_scope_work_item = __OPENCL_MEMORY_SCOPE_WORK_ITEM,
  memory_scope_work_group = __OPENCL_MEMORY_SCOPE_WORK_GROUP,
  memory_scope_device = __OPENCL_MEMORY_SCOPE_DEVICE,
  memory_scope_all_svm_devices = __OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES,
  memory_scope_sub_group = __OPENCL_MEMORY_SCOPE_SUB_GROUP
} memory_scope;
typedef enum memory_order {
  memory_order_relaxed = __ATOMIC_RELAXED,
  memory_order_acquire = __ATOMIC_ACQUIRE,
  memory_order_release = __ATOMIC_RELEASE,
  memory_order_acq_rel = __ATOMIC_ACQ_REL,
  memory_order_seq_cst = __ATOMIC_SEQ_CST
} memory_order;
#if __OPENCL_C_VERSION__ >= 200
typedef struct { int dummy; } ndrange_t;
typedef int kernel_enqueue_flags_t, clk_profiling_info;
enum { CLK_ENQUEUE_FLAGS_NO_WAIT, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP };
enum { CLK_SUCCESS = 0, CLK_ENQUEUE_FAILURE = -101, CLK_PROFILING_COMMAND_EXEC_TIME = 1 };
bool is_valid_reserve_id(reserve_id_t);
queue_t get_default_queue(void);
ndrange_t __attribute__((overloadable)) ndrange_1D(size_t);
ndrange_t __attribute__((overloadable)) ndrange_1D(size_t, size_t);
ndrange_t __attribute__((overloadable)) ndrange_1D(size_t, size_t, size_t);
ndrange_t __attribute__((overloadable)) ndrange_2D(const size_t[2]);
ndrange_t __attribute__((overloadable)) ndrange_2D(const size_t[2], const size_t[2]);
ndrange_t __attribute__((overloadable)) ndrange_3D(const size_t[3]);
ndrange_t __attribute__((overloadable)) ndrange_3D(const size_t[3], const size_t[3]);
void retain_event(clk_event_t);
void release_event(clk_event_t);
clk_event_t create_user_event(void);
void set_user_event_status(clk_event_t, int);
bool is_valid_event(clk_event_t);
// Clang forgets where its own `to_global` stands; the text has this name instead.
__global void *rp_to_global(const volatile void *);
__local void *rp_to_local(const volatile void *);
__private void *rp_to_private(const volatile void *);
#endif
int __attribute__((overloadable)) printf(__constant const char *, ...);
// `as_T` of everything that has the size of T.
#define RP_FROM(T, U) T __attribute__((overloadable, const)) as_##T(U);
#define RP_AS(T) RP_FROM(T, char) RP_FROM(T, uchar)
RP_AS(char) RP_AS(uchar)
#undef RP_AS
#define RP_AS(T) RP_FROM(T, short) RP_FROM(T, ushort) RP_FROM(T, half) RP_FROM(T, char2) RP_FROM(T, uchar2)
RP_AS(short) RP_AS(ushort) RP_AS(half) RP_AS(char2) RP_AS(uchar2)
#undef RP_AS
#define RP_AS(T) RP_FROM(T, int) RP_FROM(T, uint) RP_FROM(T, float) RP_FROM(T, char4) RP_FROM(T, uchar4) \
  RP_FROM(T, short2) RP_FROM(T, ushort2) RP_FROM(T, half2)
RP_AS(int) RP_AS(uint) RP_AS(float) RP_AS(char4) RP_AS(uchar4) RP_AS(short2) RP_AS(ushort2) RP_AS(half2)
#undef RP_AS
#define RP_AS(T) RP_FROM(T, long) RP_FROM(T, ulong) RP_FROM(T, double) RP_FROM(T, int2) RP_FROM(T, uint2) \
  RP_FROM(T, float2) RP_FROM(T, char8) RP_FROM(T, uchar8) RP_FROM(T, short4) RP_FROM(T, ushort4) RP_FROM(T, half4)
RP_AS(long) RP_AS(ulong) RP_AS(double) RP_AS(int2) RP_AS(uint2) RP_AS(float2) RP_AS(char8) RP_AS(uchar8)
RP_AS(short4) RP_AS(ushort4) RP_AS(half4)
#undef RP_AS
#define RP_AS(T) RP_FROM(T, int4) RP_FROM(T, uint4) RP_FROM(T, float4) RP_FROM(T, long2) RP_FROM(T, ulong2) \
  RP_FROM(T, double2) RP_FROM(T, char16) RP_FROM(T, uchar16) RP_FROM(T, short8) RP_FROM(T, ushort8) RP_FROM(T, \
  half8)
RP_AS(int4) RP_AS(uint4) RP_AS(float4) RP_AS(long2) RP_AS(ulong2) RP_AS(double2) RP_AS(char16) RP_AS(uchar16)
RP_AS(short8) RP_AS(ushort8) RP_AS(half8)
#undef RP_AS
#define RP_AS(T) RP_FROM(T, int8) RP_FROM(T, uint8) RP_FROM(T, float8) RP_FROM(T, long4) RP_FROM(T, ulong4) \
  RP_FROM(T, double4) RP_FROM(T, short16) RP_FROM(T, ushort16) RP_FROM(T, half16)
RP_AS(int8) RP_AS(uint8) RP_AS(float8) RP_AS(long4) RP_AS(ulong4) RP_AS(double4) RP_AS(short16) RP_AS(ushort16)
RP_AS(half16)
#undef RP_AS
#define RP_AS(T) RP_FROM(T, int16) RP_FROM(T, uint16) RP_FROM(T, float16) RP_FROM(T, long8) RP_FROM(T, ulong8) \
  RP_FROM(T, double8)
RP_AS(int16) RP_AS(uint16) RP_AS(float16) RP_AS(long8) RP_AS(ulong8) RP_AS(double8)
#undef RP_AS
#undef RP_FROM
// Annotations of other checkers.
void __requires(bool);
void __global_requires(bool);
void __ensures(bool);
void __global_ensures(bool);
void __assert(bool);
void __global_assert(bool);
#ifndef __assume
void __assume(bool);
#endif
void __invariant(bool);
void __global_invariant(bool);
void __candidate_invariant(bool);
void __candidate_global_invariant(bool);
void __function_wide_invariant(bool);
void __function_wide_candidate_invariant(bool);
bool __enabled(void);
bool __implies(bool, bool);
bool __all(bool);
bool __exclusive(bool);
extern __constant int __same_group;
#define RP_VALUE(T) \
  bool __distinct_##T(T); \
  bool __uniform_##T(T); \
  T __other_##T(T); \
  T __old_##T(T); \
  T __return_val_##T(void);
RP_VALUE(bool)
RP_VALUE(int)
#undef RP_VALUE
#define RP_VALUE(T) \
  bool __attribute__((overloadable)) __distinct_value(T); \
  bool __attribute__((overloadable)) __uniform_value(T); \
  T __attribute__((overloadable)) __other_value(T);
RP_VALUE(bool)
RP_VALUE(char)
RP_VALUE(uchar)
RP_VALUE(short)
RP_VALUE(ushort)
RP_VALUE(int)
RP_VALUE(uint)
RP_VALUE(long)
RP_VALUE(ulong)
RP_VALUE(float)
RP_VALUE(double)
#undef RP_VALUE
#define RP_INTEGER(T) \
  bool __attribute__((overloadable)) __is_pow2(T); \
  T __attribute__((overloadable)) __mod_pow2(T, T); \
  T __attribute__((overloadable)) __ite(bool, T, T);
RP_INTEGER(int)
RP_INTEGER(uint)
RP_INTEGER(long)
RP_INTEGER(ulong)
#undef RP_INTEGER
#define RP_POINTER(S) \
  bool __attribute__((overloadable)) __read(S const volatile void *); \
  bool __attribute__((overloadable)) __write(S const volatile void *); \
  bool __attribute__((overloadable)) __no_read(S const volatile void *); \
  bool __attribute__((overloadable)) __no_write(S const volatile void *); \
  bool __attribute__((overloadable)) __read_implies(S const volatile void *, bool); \
  bool __attribute__((overloadable)) __write_implies(S const volatile void *, bool); \
  size_t __attribute__((overloadable)) __read_offset(S const volatile void *); \
  size_t __attribute__((overloadable)) __write_offset(S const volatile void *); \
  size_t __attribute__((overloadable)) __read_offset_bytes(S const volatile void *); \
  size_t __attribute__((overloadable)) __write_offset_bytes(S const volatile void *); \
  void __attribute__((overloadable)) __requires_fresh_array(S const volatile void *); \
  void __attribute__((overloadable)) __reads_from(S const volatile void *); \
  void __attribute__((overloadable)) __writes_to(S const volatile void *);
#define RP_NUMBERED(N, ...) \
  void __barrier_invariant_##N(bool, ##__VA_ARGS__); \
  void __barrier_invariant_binary_##N(bool, ##__VA_ARGS__, ##__VA_ARGS__);
RP_NUMBERED(0)
RP_NUMBERED(1, int)
RP_NUMBERED(2, int, int)
RP_NUMBERED(3, int, int, int)
RP_NUMBERED(4, int, int, int, int)
RP_NUMBERED(5, int, int, int, int, int)
RP_NUMBERED(6, int, int, int, int, int, int)
RP_NUMBERED(7, int, int, int, int, int, int, int)
RP_NUMBERED(8, int, int, int, int, int, int, int, int)
#undef RP_NUMBERED
#define RP_COUNTED(...) \
  void __attribute__((overloadable)) __barrier_invariant(bool, ##__VA_ARGS__); \
  void __attribute__((overloadable)) __barrier_invariant_binary(bool, ##__VA_ARGS__);
void __attribute__((overloadable)) __barrier_invariant(bool);
RP_COUNTED(int)
RP_COUNTED(int, int)
RP_COUNTED(int, int, int)
RP_COUNTED(int, int, int, int)
#undef RP_COUNTED
RP_POINTER(__global)
RP_POINTER(__local)
#undef RP_POINTER
