// What the headers of CUDA and of the standard library declare, as far as programs with kernels use it.
// Only clang reads this, so that it can parse; what these names mean is said in `builtins`.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__
#define __inline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define __nv_pure__(...)
#define __packed__ __attribute__((packed))
#define __volatile__ volatile
#define CUDARTAPI
#define CUDART_CB
#pragma clang force_cuda_host_device begin
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef long ssize_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef long intmax_t;
typedef unsigned long uintmax_t;
typedef int int_fast32_t;
typedef unsigned uint_fast32_t;
typedef int int_least32_t;
typedef unsigned uint_least32_t;
typedef unsigned u_int32_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long clock_t;
typedef long time_t;
template <class T> struct rp_is_vector { static constexpr bool value = false; };
template <bool B, class T> struct rp_if {};
template <class T> struct rp_if<true, T> { typedef T type; };
template <bool B, class T, class F> struct rp_either { typedef T type; };
template <class T, class F> struct rp_either<false, T, F> { typedef F type; };
#define RP_VECTOR(T, N) \
  struct N##1 { T x; }; \
  struct alignas(2 * sizeof(T)) N##2 { T x, y; }; \
  struct N##3 { T x, y, z; }; \
  struct alignas(sizeof(T) == 8 ? 16 : 4 * sizeof(T)) N##4 { T x, y, z, w; }; \
  N##1 make_##N##1(T); \
  N##2 make_##N##2(T, T); \
  N##3 make_##N##3(T, T, T); \
  N##4 make_##N##4(T, T, T, T); \
  template <> struct rp_is_vector<N##1> { static constexpr bool value = true; }; \
  template <> struct rp_is_vector<N##2> { static constexpr bool value = true; }; \
  template <> struct rp_is_vector<N##3> { static constexpr bool value = true; }; \
  template <> struct rp_is_vector<N##4> { static constexpr bool value = true; }; \
  template <class... A> N##2 make_##N##2(A...); \
  template <class... A> N##3 make_##N##3(A...); \
  template <class... A> N##4 make_##N##4(A...);
RP_VECTOR(signed char, char)
RP_VECTOR(unsigned char, uchar)
RP_VECTOR(short, short)
RP_VECTOR(unsigned short, ushort)
RP_VECTOR(int, int)
RP_VECTOR(unsigned int, uint)
RP_VECTOR(long, long)
RP_VECTOR(unsigned long, ulong)
RP_VECTOR(long long, longlong)
RP_VECTOR(unsigned long long, ulonglong)
RP_VECTOR(float, float)
RP_VECTOR(double, double)
#undef RP_VECTOR
// `helper_math.h` of the samples defines operators on vectors; where it is not read they are taken as given.
#define RP_OPERATOR(OP) \
  template <class A, class B, class R = typename rp_either<rp_is_vector<A>::value, A, B>::type> \
  typename rp_if<rp_is_vector<A>::value || rp_is_vector<B>::value, R>::type operator OP(A, B);
RP_OPERATOR(+) RP_OPERATOR(-) RP_OPERATOR(*) RP_OPERATOR(/)
#undef RP_OPERATOR
#define RP_OPERATOR(OP) \
  template <class A, class B> typename rp_if<rp_is_vector<A>::value, A &>::type operator OP(A &, B);
RP_OPERATOR(+=) RP_OPERATOR(-=) RP_OPERATOR(*=) RP_OPERATOR(/=)
#undef RP_OPERATOR
template <class A> typename rp_if<rp_is_vector<A>::value, A>::type operator-(A);
template <class A, class B> typename rp_if<rp_is_vector<A>::value, float>::type dot(A, B);
template <class A> typename rp_if<rp_is_vector<A>::value, float>::type length(A);
template <class A> typename rp_if<rp_is_vector<A>::value, A>::type normalize(A);
template <class A> typename rp_if<rp_is_vector<A>::value, A>::type cross(A, A);
template <class A, class B> A lerp(A, A, B);
template <class A, class B, class C> A clamp(A, B, C);
#define NULL __null
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  operator uint3() const;
};
typedef float2 cuComplex;
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
cuComplex make_cuComplex(float, float);
cuFloatComplex make_cuFloatComplex(float, float);
cuDoubleComplex make_cuDoubleComplex(double, double);
extern const __device__ __attribute__((weak)) uint3 threadIdx;
extern const __device__ __attribute__((weak)) uint3 blockIdx;
extern const __device__ __attribute__((weak)) dim3 blockDim;
extern const __device__ __attribute__((weak)) dim3 gridDim;
extern const __device__ __attribute__((weak)) int warpSize;

struct __half {
  unsigned short rp_bits;
  __half() = default;
  __half(float);
  operator float() const;
};
typedef __half half;
typedef __half __nv_bfloat16;
typedef __half nv_bfloat16;
struct alignas(4) __half2 { __half x, y; };
typedef __half2 half2;
typedef __half2 __nv_bfloat162;
typedef __half2 nv_bfloat162;
__half operator+(__half, __half);
__half operator-(__half, __half);
__half operator*(__half, __half);
__half operator/(__half, __half);
__half &operator+=(__half &, __half);
__half &operator*=(__half &, __half);
__half2 operator+(__half2, __half2);
__half2 operator*(__half2, __half2);
#define RP_HALF(F) __half F(...);
RP_HALF(__float2half) RP_HALF(__float2bfloat16) RP_HALF(__float2bfloat16_rn) RP_HALF(__hmul) RP_HALF(__hsub)
RP_HALF(__hdiv) RP_HALF(__hfma) RP_HALF(__hneg) RP_HALF(__habs) RP_HALF(__hmax) RP_HALF(__hmin) RP_HALF(__hadd_rn)
RP_HALF(hexp) RP_HALF(hexp2) RP_HALF(hexp10) RP_HALF(hlog) RP_HALF(hlog2) RP_HALF(hlog10) RP_HALF(hsqrt) RP_HALF(hrsqrt)
RP_HALF(hrcp) RP_HALF(hsin) RP_HALF(hcos) RP_HALF(htanh) RP_HALF(hfloor) RP_HALF(hceil) RP_HALF(htrunc) RP_HALF(hrint)
RP_HALF(__ushort_as_half) RP_HALF(__short_as_half) RP_HALF(__ushort_as_bfloat16) RP_HALF(__short_as_bfloat16)
RP_HALF(__low2half) RP_HALF(__high2half) RP_HALF(__low2bfloat16) RP_HALF(__high2bfloat16)
template <class T> T __hadd(T, T);
#undef RP_HALF
#define RP_HALF2(F) __half2 F(...);
RP_HALF2(__float2half2_rn) RP_HALF2(__floats2half2_rn) RP_HALF2(__halves2half2) RP_HALF2(__half2half2)
RP_HALF2(__hadd2) RP_HALF2(__hmul2) RP_HALF2(__hfma2) RP_HALF2(__hsub2) RP_HALF2(__hneg2) RP_HALF2(__habs2)
RP_HALF2(__hmax2) RP_HALF2(__hmin2) RP_HALF2(__h2div) RP_HALF2(h2exp) RP_HALF2(h2exp2) RP_HALF2(h2log) RP_HALF2(h2sqrt)
RP_HALF2(h2rsqrt) RP_HALF2(h2rcp) RP_HALF2(__heq2) RP_HALF2(__hgt2) RP_HALF2(__hge2) RP_HALF2(__hlt2) RP_HALF2(__hle2)
RP_HALF2(__float22half2_rn) RP_HALF2(__float22bfloat162_rn) RP_HALF2(__float2bfloat162_rn) RP_HALF2(__floats2bfloat162_rn)
RP_HALF2(__halves2bfloat162) RP_HALF2(__bfloat162bfloat162) RP_HALF2(__lows2half2) RP_HALF2(__highs2half2)
RP_HALF2(__lowhigh2highlow)
#undef RP_HALF2
unsigned short __half_as_ushort(__half);
short __half_as_short(__half);
unsigned short __bfloat16_as_ushort(__half);
float2 __bfloat1622float2(__half2);
float __half2float(__half);
float __bfloat162float(__half);
float __low2float(__half2);
float __high2float(__half2);
float2 __half22float2(__half2);

// `__syncthreads` is built into clang for CUDA.
int __syncthreads_count(int);
int __syncthreads_and(int);
int __syncthreads_or(int);
void __syncwarp(unsigned = 0xffffffffu);
extern "C" void __cluster_barrier_arrive();
extern "C" void __cluster_barrier_arrive_relaxed();
extern "C" void __cluster_barrier_wait();
void __threadfence();
void __threadfence_block();
void __threadfence_system();
void __trap();
void __brkpt();
void __nanosleep(unsigned);
void __prof_trigger(int);
unsigned __activemask();
int __any(int);
int __all(int);
unsigned __ballot(int);
int __any_sync(unsigned, int);
int __all_sync(unsigned, int);
int __uni_sync(unsigned, int);
unsigned __ballot_sync(unsigned, int);
template <class T> unsigned __match_any_sync(unsigned, T);
template <class T> unsigned __match_all_sync(unsigned, T, int *);
unsigned __fns(unsigned, unsigned, int);
clock_t clock();
long long clock64();
unsigned long long globaltimer();
template <class T> struct rp_identity { typedef T type; };
#define RP_SHUFFLE(F, LANE) \
  template <class T> T F(T, LANE, int = 32); \
  template <class T> T F##_sync(unsigned, T, LANE, int = 32);
RP_SHUFFLE(__shfl, int) RP_SHUFFLE(__shfl_up, unsigned) RP_SHUFFLE(__shfl_down, unsigned) RP_SHUFFLE(__shfl_xor, int)
#undef RP_SHUFFLE
#define RP_REDUCE(F) template <class T> T F(unsigned, T);
RP_REDUCE(__reduce_add_sync) RP_REDUCE(__reduce_min_sync) RP_REDUCE(__reduce_max_sync) RP_REDUCE(__reduce_and_sync)
RP_REDUCE(__reduce_or_sync) RP_REDUCE(__reduce_xor_sync)
#undef RP_REDUCE
#define RP_ATOMIC(F) \
  template <class T> T F(T *, typename rp_identity<T>::type); \
  template <class T> T F(volatile T *, typename rp_identity<T>::type); \
  template <class T> T F##_block(T *, typename rp_identity<T>::type); \
  template <class T> T F##_system(T *, typename rp_identity<T>::type);
RP_ATOMIC(atomicAdd) RP_ATOMIC(atomicSub) RP_ATOMIC(atomicExch) RP_ATOMIC(atomicMin) RP_ATOMIC(atomicMax)
RP_ATOMIC(atomicInc) RP_ATOMIC(atomicDec) RP_ATOMIC(atomicAnd) RP_ATOMIC(atomicOr) RP_ATOMIC(atomicXor)
#undef RP_ATOMIC
#define RP_CAS(F) template <class T> T F(T *, typename rp_identity<T>::type, typename rp_identity<T>::type);
RP_CAS(atomicCAS) RP_CAS(atomicCAS_block) RP_CAS(atomicCAS_system)
#undef RP_CAS
enum { __NV_ATOMIC_RELAXED, __NV_ATOMIC_CONSUME, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQ_REL,
       __NV_ATOMIC_SEQ_CST };
enum { __NV_THREAD_SCOPE_THREAD, __NV_THREAD_SCOPE_BLOCK, __NV_THREAD_SCOPE_CLUSTER, __NV_THREAD_SCOPE_DEVICE,
       __NV_THREAD_SCOPE_SYSTEM };
#define RP_NV_ATOMIC(OP) \
  template <class T> T __nv_atomic_fetch_##OP(T *, typename rp_identity<T>::type, int, int = 4); \
  template <class T> void __nv_atomic_##OP(T *, typename rp_identity<T>::type, int, int = 4);
RP_NV_ATOMIC(add) RP_NV_ATOMIC(sub) RP_NV_ATOMIC(min) RP_NV_ATOMIC(max) RP_NV_ATOMIC(and) RP_NV_ATOMIC(or)
RP_NV_ATOMIC(xor)
#undef RP_NV_ATOMIC
template <class T> T __nv_atomic_load_n(T *, int, int = 4);
template <class T> void __nv_atomic_store_n(T *, typename rp_identity<T>::type, int, int = 4);
template <class T> T __nv_atomic_exchange_n(T *, typename rp_identity<T>::type, int, int = 4);
template <class T>
bool __nv_atomic_compare_exchange_n(T *, T *, typename rp_identity<T>::type, bool, int, int, int = 4);
void __nv_atomic_thread_fence(int, int = 4);
#define RP_LOAD(F) template <class T> T F(const T *);
RP_LOAD(__ldg) RP_LOAD(__ldca) RP_LOAD(__ldcg) RP_LOAD(__ldcs) RP_LOAD(__ldcv) RP_LOAD(__ldlu)
#undef RP_LOAD
#define RP_STORE(F) template <class T> void F(T *, typename rp_identity<T>::type);
RP_STORE(__stcg) RP_STORE(__stcs) RP_STORE(__stwb) RP_STORE(__stwt)
#undef RP_STORE
template <class... A> void __pipeline_memcpy_async(A...);
void __pipeline_commit();
typedef unsigned long __mbarrier_t;
typedef unsigned long __mbarrier_token_t;
void __mbarrier_init(__mbarrier_t *, unsigned);
__mbarrier_token_t __mbarrier_arrive(__mbarrier_t *);
bool __mbarrier_test_wait(__mbarrier_t *, __mbarrier_token_t);
void __pipeline_wait_prior(size_t);
unsigned __isGlobal(const void *);
unsigned __isShared(const void *);
unsigned __isConstant(const void *);
unsigned __isLocal(const void *);
size_t __cvta_generic_to_shared(const void *);
size_t __cvta_generic_to_global(const void *);

#define RP_INT(F) int F(...);
RP_INT(__popc) RP_INT(__popcll) RP_INT(__clz) RP_INT(__clzll) RP_INT(__ffs) RP_INT(__ffsll) RP_INT(__mul24)
RP_INT(__mulhi) RP_INT(__rhadd) RP_INT(__float_as_int) RP_INT(__double2hiint) RP_INT(__double2loint)
RP_INT(__hisnan) RP_INT(__hisinf) RP_INT(__heq) RP_INT(__hne) RP_INT(__hgt) RP_INT(__hge) RP_INT(__hlt) RP_INT(__hle)
RP_INT(__hbeq2) RP_INT(__hbne2) RP_INT(__hbgt2) RP_INT(__hbge2) RP_INT(__hblt2) RP_INT(__hble2)
#undef RP_INT
#define RP_UINT(F) unsigned F(...);
RP_UINT(__umul24) RP_UINT(__brev) RP_UINT(__byte_perm) RP_UINT(__umulhi) RP_UINT(__usad) RP_UINT(__sad) RP_UINT(__uhadd)
RP_UINT(__urhadd) RP_UINT(__funnelshift_l) RP_UINT(__funnelshift_r) RP_UINT(__funnelshift_lc) RP_UINT(__funnelshift_rc)
RP_UINT(__float_as_uint) RP_UINT(umin) RP_UINT(umax)
// Products of packed numbers.
#define RP_PACKED(F, MANY) \
  int F(int, int, int); unsigned F(unsigned, unsigned, unsigned); int F(MANY, char4, int); \
  unsigned F(u##MANY, uchar4, unsigned);
RP_PACKED(__dp4a, char4) RP_PACKED(__dp2a_lo, short2) RP_PACKED(__dp2a_hi, short2)
#undef RP_PACKED
// The instructions for dynamic programming.
#define RP_DPX(F) int F##_s32(...); unsigned F##_u32(...); unsigned F##_s16x2(...); unsigned F##_u16x2(...);
#define RP_DPX_RELU(F) int F##_s32_relu(...); unsigned F##_s16x2_relu(...);
RP_DPX(__vimax3) RP_DPX(__vimin3) RP_DPX(__viaddmax) RP_DPX(__viaddmin)
RP_DPX_RELU(__vimax3) RP_DPX_RELU(__vimin3) RP_DPX_RELU(__viaddmax) RP_DPX_RELU(__viaddmin)
RP_DPX_RELU(__vimax) RP_DPX_RELU(__vimin)
#undef RP_DPX
#undef RP_DPX_RELU
#define RP_SIGNS(F) unsigned F##s2(...); unsigned F##u2(...); unsigned F##s4(...); unsigned F##u4(...);
#define RP_WORD(F) unsigned F##2(...); unsigned F##4(...);
RP_WORD(__vabs) RP_WORD(__vabsss) RP_WORD(__vadd) RP_WORD(__vaddss) RP_WORD(__vaddus) RP_WORD(__vsub) RP_WORD(__vsubss)
RP_WORD(__vsubus) RP_WORD(__vneg) RP_WORD(__vnegss) RP_WORD(__vhaddu) RP_WORD(__vcmpeq) RP_WORD(__vcmpne)
RP_WORD(__vseteq) RP_WORD(__vsetne)
RP_SIGNS(__vabsdiff) RP_SIGNS(__vavg) RP_SIGNS(__vmax) RP_SIGNS(__vmin)
RP_SIGNS(__vsad) RP_SIGNS(__vcmpge) RP_SIGNS(__vcmpgt) RP_SIGNS(__vcmple)
RP_SIGNS(__vcmplt) RP_SIGNS(__vsetge) RP_SIGNS(__vsetgt) RP_SIGNS(__vsetle)
RP_SIGNS(__vsetlt)
#undef RP_WORD
#undef RP_SIGNS
#undef RP_UINT
#define RP_LONG(F) long long F(...);
RP_LONG(__mul64hi) RP_LONG(__double_as_longlong) RP_LONG(llmin) RP_LONG(llmax)
#undef RP_LONG
#define RP_ULONG(F) unsigned long long F(...);
RP_ULONG(__brevll) RP_ULONG(__umul64hi) RP_ULONG(ullmin) RP_ULONG(ullmax)
#undef RP_ULONG
#define RP_ROUND(F) F(rn) F(rz) F(ru) F(rd)
#define RP_FLOATS(R) \
  float __fadd_##R(float, float); float __fsub_##R(float, float); float __fmul_##R(float, float); \
  float __fdiv_##R(float, float); float __fmaf_##R(float, float, float); float __frcp_##R(float); \
  float __fsqrt_##R(float); double __dadd_##R(double, double); double __dsub_##R(double, double); \
  double __dmul_##R(double, double); double __ddiv_##R(double, double); double __fma_##R(double, double, double); \
  double __drcp_##R(double); double __dsqrt_##R(double); float __int2float_##R(int); float __uint2float_##R(unsigned); \
  float __ull2float_##R(unsigned long long); float __ll2float_##R(long long); float __double2float_##R(double); \
  double __ll2double_##R(long long); double __ull2double_##R(unsigned long long); \
  int __float2int_##R(float); int __double2int_##R(double); int __half2int_##R(__half); \
  unsigned __float2uint_##R(float); unsigned __double2uint_##R(double); unsigned __half2uint_##R(__half); \
  long long __float2ll_##R(float); long long __double2ll_##R(double); \
  unsigned long long __float2ull_##R(float); unsigned long long __double2ull_##R(double); \
  __half __float2half_##R(float); __half __int2half_##R(int); __half __uint2half_##R(unsigned);
RP_ROUND(RP_FLOATS)
#undef RP_FLOATS
#undef RP_ROUND
float __frsqrt_rn(float);
float __int_as_float(int);
float __uint_as_float(unsigned);
float __saturatef(float);
double __longlong_as_double(long long);
double __hiloint2double(int, int);
double __int2double_rn(int);
double __uint2double_rn(unsigned);

#define RP_MATH1(F) \
  double F(double); \
  float F(float); \
  template <class T> typename rp_if<__is_integral(T), double>::type F(T); \
  float F##f(float);
RP_MATH1(sqrt) RP_MATH1(rsqrt) RP_MATH1(cbrt) RP_MATH1(rcbrt) RP_MATH1(sin) RP_MATH1(cos) RP_MATH1(tan) RP_MATH1(asin)
RP_MATH1(acos) RP_MATH1(atan) RP_MATH1(sinh) RP_MATH1(cosh) RP_MATH1(tanh) RP_MATH1(asinh) RP_MATH1(acosh)
RP_MATH1(atanh) RP_MATH1(exp) RP_MATH1(exp2) RP_MATH1(exp10) RP_MATH1(expm1) RP_MATH1(log) RP_MATH1(log2)
RP_MATH1(log10) RP_MATH1(log1p) RP_MATH1(logb) RP_MATH1(floor) RP_MATH1(ceil) RP_MATH1(round) RP_MATH1(trunc)
RP_MATH1(rint) RP_MATH1(nearbyint) RP_MATH1(fabs) RP_MATH1(erf) RP_MATH1(erfc) RP_MATH1(erfinv) RP_MATH1(erfcinv)
RP_MATH1(erfcx) RP_MATH1(lgamma) RP_MATH1(tgamma) RP_MATH1(normcdf) RP_MATH1(normcdfinv) RP_MATH1(sinpi) RP_MATH1(cospi)
RP_MATH1(j0) RP_MATH1(j1) RP_MATH1(y0) RP_MATH1(y1)
#undef RP_MATH1
#define RP_MATH2(F) \
  double F(double, double); \
  float F(float, float); \
  template <class A, class B> typename rp_if<!__is_same(A, B) || __is_integral(A), double>::type F(A, B); \
  float F##f(float, float);
RP_MATH2(atan2) RP_MATH2(pow) RP_MATH2(fmod) RP_MATH2(remainder) RP_MATH2(fdim) RP_MATH2(hypot) RP_MATH2(copysign)
RP_MATH2(nextafter) RP_MATH2(fmin) RP_MATH2(fmax) RP_MATH2(rhypot) RP_MATH2(ldexp) RP_MATH2(scalbn)
#undef RP_MATH2
double fma(double, double, double);
float fma(float, float, float);
float fmaf(float, float, float);
double norm3d(double, double, double);
double rnorm3d(double, double, double);
float __sinf(float);
float __cosf(float);
float __tanf(float);
float __expf(float);
float __exp10f(float);
float __logf(float);
float __log2f(float);
float __log10f(float);
float __powf(float, float);
float __fdividef(float, float);
double nan(const char *);
float nanf(const char *);
cuComplex cuCaddf(cuComplex, cuComplex);
cuComplex cuCsubf(cuComplex, cuComplex);
cuComplex cuCmulf(cuComplex, cuComplex);
cuComplex cuCdivf(cuComplex, cuComplex);
cuComplex cuConjf(cuComplex);
float cuCrealf(cuComplex);
float cuCimagf(cuComplex);
float cuCabsf(cuComplex);
cuDoubleComplex cuCadd(cuDoubleComplex, cuDoubleComplex);
cuDoubleComplex cuCsub(cuDoubleComplex, cuDoubleComplex);
cuDoubleComplex cuCmul(cuDoubleComplex, cuDoubleComplex);
cuDoubleComplex cuCdiv(cuDoubleComplex, cuDoubleComplex);
cuDoubleComplex cuConj(cuDoubleComplex);
double cuCreal(cuDoubleComplex);
double cuCimag(cuDoubleComplex);
double cuCabs(cuDoubleComplex);
void sincos(double, double *, double *);
void sincosf(float, float *, float *);
void __sincosf(float, float *, float *);
void sincospi(double, double *, double *);
void sincospif(float, float *, float *);
double modf(double, double *);
float modff(float, float *);
double remquo(double, double, int *);
float remquof(float, float, int *);
double frexp(double, int *);
float frexpf(float, int *);
template <class T> int isnan(T);
template <class T> int isinf(T);
template <class T> int isfinite(T);
template <class T> int isnormal(T);
template <class T> int signbit(T);
template <class T> int ilogb(T);
template <class T> long lrint(T);
template <class T> long lround(T);
template <class T> long long llrint(T);
template <class T> long long llround(T);
long lrintf(float);
long lroundf(float);
long long llrintf(float);
template <class A, class B> constexpr auto min(A a, B b) -> decltype(a < b ? a : b) { return a < b ? a : b; }
template <class A, class B> constexpr auto max(A a, B b) -> decltype(a < b ? b : a) { return a < b ? b : a; }
template <class T> T abs(T);
long labs(long);
long long llabs(long long);
int rp_printf(const char *, ...);
template <class... A> int printf(const char *, A...);
int puts(const char *);
template <class T> void assert(const T &);
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
void *alloca(size_t);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
size_t strlen(const char *);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
char *strcpy(char *, const char *);
char *strcat(char *, const char *);
char *strrchr(const char *, int);
char *strchr(const char *, int);
char *strstr(const char *, const char *);
int atoi(const char *);
double atof(const char *);
long atol(const char *);
long strtol(const char *, char **, int);
double strtod(const char *, char **);
[[noreturn]] void exit(int);
[[noreturn]] void abort();
int rand();
void srand(unsigned);
double drand48();
void srand48(long);
long lrand48();
struct timeval { long tv_sec, tv_usec; };
struct timespec { long tv_sec, tv_nsec; };
struct timezone;
int gettimeofday(struct timeval *, void *);
int clock_gettime(int, struct timespec *);
int strcasecmp(const char *, const char *);
int strncasecmp(const char *, const char *, size_t);
time_t time(time_t *);
struct FILE;
extern FILE *const stdout, *const stderr, *const stdin;
template <class... A> int fprintf(FILE *, const char *, A...);
template <class... A> int sprintf(char *, const char *, A...);
template <class... A> int snprintf(char *, size_t, const char *, A...);
template <class... A> int sscanf(const char *, const char *, A...);
template <class... A> int scanf(const char *, A...);
template <class... A> int fscanf(FILE *, const char *, A...);
FILE *fopen(const char *, const char *);
int fclose(FILE *);
const int EOF = -1, SEEK_SET = 0, SEEK_CUR = 1, SEEK_END = 2;
int feof(FILE *);
int ferror(FILE *);
int fgetc(FILE *);
int fputc(int, FILE *);
int fseek(FILE *, long, int);
long ftell(FILE *);
void rewind(FILE *);
size_t fread(void *, size_t, size_t, FILE *);
size_t fwrite(const void *, size_t, size_t, FILE *);
char *fgets(char *, int, FILE *);
int fflush(FILE *);
int fputs(const char *, FILE *);
int putchar(int);
int getchar();
template <class... A> void perror(A...);
const int RAND_MAX = 2147483647, EXIT_SUCCESS = 0, EXIT_FAILURE = 1;
template <class T> void __builtin_assert(T);

// Annotations of other checkers.
template <class... A> void __requires(A...);
template <class... A> void __global_requires(A...);
template <class... A> void __ensures(A...);
template <class... A> void __global_ensures(A...);
template <class... A> void __assert(A...);
template <class... A> void __global_assert(A...);
#ifndef __assume
template <class... A> void __assume(A...);
#endif
template <class... A> void __invariant(A...);
template <class... A> void __global_invariant(A...);
template <class... A> void __candidate_invariant(A...);
template <class... A> void __candidate_global_invariant(A...);
template <class... A> void __function_wide_invariant(A...);
template <class... A> void __function_wide_candidate_invariant(A...);
template <class... A> void __requires_fresh_array(A...);
template <class... A> void __barrier_invariant(A...);
template <class... A> void __barrier_invariant_binary(A...);
#define RP_NUMBERED(N) \
  template <class... A> void __barrier_invariant_##N(A...); \
  template <class... A> void __barrier_invariant_binary_##N(A...);
RP_NUMBERED(0) RP_NUMBERED(1) RP_NUMBERED(2) RP_NUMBERED(3) RP_NUMBERED(4) RP_NUMBERED(5) RP_NUMBERED(6)
RP_NUMBERED(7) RP_NUMBERED(8) RP_NUMBERED(9) RP_NUMBERED(10) RP_NUMBERED(11) RP_NUMBERED(12) RP_NUMBERED(13)
RP_NUMBERED(14) RP_NUMBERED(15) RP_NUMBERED(16) RP_NUMBERED(17) RP_NUMBERED(18) RP_NUMBERED(19) RP_NUMBERED(20)
#undef RP_NUMBERED
template <class... A> bool __reads_from(A...);
template <class... A> bool __writes_to(A...);
template <class... A> size_t __read_offset(A...);
template <class... A> size_t __write_offset(A...);
template <class... A> size_t __read_offset_bytes(A...);
template <class... A> size_t __write_offset_bytes(A...);
template <class... A> bool __implies(A...);
template <class... A> bool __exclusive(A...);
template <class... A> bool __enabled(A...);
template <class... A> bool __is_pow2(A...);
template <class... A> bool __mod_pow2(A...);
extern const __device__ __attribute__((weak)) bool __same_group;
template <class... A> bool __read(A...);
template <class... A> bool __write(A...);
template <class... A> bool __no_read(A...);
template <class... A> bool __no_write(A...);
template <class... A> bool __read_implies(A...);
template <class... A> bool __write_implies(A...);
template <class A, class... B> A __ite(bool, A, B...);
template <class... A> bool __distinct_bool(A...);
template <class... A> bool __uniform_bool(A...);
template <class... A> bool __non_temporal(A...);
template <class... A> int __distinct_int(A...);
template <class... A> int __uniform_int(A...);
template <class A, class... B> A __other_int(A, B...);
template <class A, class... B> A __other_bool(A, B...);
template <class A, class... B> A __other_ptr_base(A, B...);
template <class... A> bool __distinct_ptr_base(A...);
template <class... A> bool __uniform_ptr_base(A...);
template <class A> A __other_value(A);
template <class A> bool __distinct_value(A);
template <class A> bool __uniform_value(A);

typedef struct rp_stream *cudaStream_t;
typedef struct rp_event *cudaEvent_t;
typedef struct rp_array *cudaArray_t;
struct cudaArray;
struct cudaExtent { size_t width, height, depth; };
struct cudaChannelFormatDesc { int x, y, z, w, f; };
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef struct rp_graph *cudaGraph_t;
typedef struct rp_graph_exec *cudaGraphExec_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};
enum cudaError { cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorNotReady, cudaErrorUnknown };
typedef cudaError cudaError_t;

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore,
  cudaLaunchAttributeAccessPolicyWindow,
  cudaLaunchAttributeCooperative,
  cudaLaunchAttributeSynchronizationPolicy,
  cudaLaunchAttributeClusterDimension,
  cudaLaunchAttributeClusterSchedulingPolicyPreference,
  cudaLaunchAttributeProgrammaticStreamSerialization,
  cudaLaunchAttributeProgrammaticEvent,
  cudaLaunchAttributePriority
};
union cudaLaunchAttributeValue {
  int cooperative, programmaticStreamSerializationAllowed, priority;
  struct {
    unsigned x, y, z;
  } clusterDim;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum { cudaEventDefault, cudaEventBlockingSync, cudaEventDisableTiming, cudaStreamNonBlocking = 1 };
enum { cudaHostAllocDefault, cudaHostAllocMapped = 2, cudaMemAttachGlobal = 1, cudaDeviceMapHost = 8 };
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, totalConstMem;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor;
  int multiProcessorCount, concurrentKernels, maxThreadsPerMultiProcessor, integrated, canMapHostMemory, computeMode;
  int unifiedAddressing, managedMemory, cooperativeLaunch, memoryClockRate, memoryBusWidth, l2CacheSize;
};
#define RP_API(F) template <class... A> cudaError_t F(A &&...);
RP_API(cudaMalloc) RP_API(cudaMallocHost) RP_API(cudaMallocManaged) RP_API(cudaMallocPitch) RP_API(cudaMalloc3D)
RP_API(cudaHostAlloc) RP_API(cudaHostGetDevicePointer) RP_API(cudaHostRegister) RP_API(cudaHostUnregister)
RP_API(cudaFree) RP_API(cudaFreeHost) RP_API(cudaMemcpy) RP_API(cudaMemcpyAsync) RP_API(cudaMemcpy2D)
RP_API(cudaMemcpyToSymbol) RP_API(cudaMemcpyFromSymbol) RP_API(cudaMemcpyToSymbolAsync) RP_API(cudaMemcpyFromSymbolAsync)
RP_API(cudaMemset) RP_API(cudaMemsetAsync) RP_API(cudaMemset2D) RP_API(cudaMemGetInfo) RP_API(cudaMemPrefetchAsync)
RP_API(cudaGetSymbolAddress) RP_API(cudaDeviceSynchronize) RP_API(cudaThreadSynchronize) RP_API(cudaThreadExit)
RP_API(cudaDeviceReset) RP_API(cudaSetDevice) RP_API(cudaGetDevice) RP_API(cudaGetDeviceCount)
RP_API(cudaGetDeviceProperties) RP_API(cudaSetDeviceFlags) RP_API(cudaDeviceGetAttribute) RP_API(cudaGetLastError)
RP_API(cudaPeekAtLastError) RP_API(cudaEventCreate) RP_API(cudaEventCreateWithFlags) RP_API(cudaEventRecord)
RP_API(cudaEventSynchronize) RP_API(cudaEventElapsedTime) RP_API(cudaEventDestroy) RP_API(cudaEventQuery)
RP_API(cudaStreamCreate) RP_API(cudaStreamCreateWithFlags) RP_API(cudaStreamDestroy) RP_API(cudaStreamSynchronize)
RP_API(cudaStreamWaitEvent) RP_API(cudaStreamQuery) RP_API(cudaFuncSetCacheConfig) RP_API(cudaFuncSetAttribute)
RP_API(cudaFuncGetAttributes) RP_API(cudaDeviceSetCacheConfig) RP_API(cudaDeviceSetLimit)
RP_API(cudaLaunchCooperativeKernel) RP_API(cudaLaunchKernel) RP_API(cudaLaunchKernelEx) RP_API(cudaLaunchKernelExC)
RP_API(cudaProfilerStart) RP_API(cudaProfilerStop)
RP_API(cudaOccupancyMaxActiveBlocksPerMultiprocessor) RP_API(cudaOccupancyMaxPotentialBlockSize)
RP_API(cudaDeviceCanAccessPeer) RP_API(cudaDeviceEnablePeerAccess) RP_API(cudaMallocArray) RP_API(cudaFreeArray)
RP_API(cudaBindTexture) RP_API(cudaUnbindTexture) RP_API(cudaMemcpyToArray) RP_API(cudaBindTextureToArray)
#undef RP_API
const char *cudaGetErrorString(cudaError_t);
const char *cudaGetErrorName(cudaError_t);
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum { cudaTextureType1D = 1, cudaTextureType2D, cudaTextureType3D };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
template <class T, int D = 1, cudaTextureReadMode M = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture {
  int normalized, filterMode, addressMode[3];
  cudaChannelFormatDesc channelDesc;
};
template <class T, int D = 1> struct __attribute__((device_builtin_surface_type)) surface {};
#define RP_TEXTURE(F) \
  template <class T, class... A> T F(cudaTextureObject_t, A...); \
  template <class T, int D, cudaTextureReadMode M, class... A> T F(texture<T, D, M>, A...);
RP_TEXTURE(tex1Dfetch) RP_TEXTURE(tex1D) RP_TEXTURE(tex2D) RP_TEXTURE(tex3D) RP_TEXTURE(tex1DLod) RP_TEXTURE(tex2DLod)
RP_TEXTURE(tex3DLod) RP_TEXTURE(tex2DLayered) RP_TEXTURE(tex1DLayered) RP_TEXTURE(texCubemap) RP_TEXTURE(tex2DGrad)
RP_TEXTURE(tex2Dgather)
#undef RP_TEXTURE
#define RP_SURFACE(D) \
  template <class T, class... A> T surf##D##read(cudaSurfaceObject_t, A...); \
  template <class T, class... A> void surf##D##read(T *, cudaSurfaceObject_t, A...); \
  template <class T, class... A> void surf##D##write(T, cudaSurfaceObject_t, A...); \
  template <class T, class U, int N, class... A> T surf##D##read(surface<U, N>, A...); \
  template <class T, class U, int N, class... A> void surf##D##read(T *, surface<U, N>, A...); \
  template <class T, class U, int N, class... A> void surf##D##write(T, surface<U, N>, A...);
RP_SURFACE(1D) RP_SURFACE(2D) RP_SURFACE(3D) RP_SURFACE(1DLayered) RP_SURFACE(2DLayered) RP_SURFACE(Cubemap)
RP_SURFACE(CubemapLayered)
#undef RP_SURFACE
struct curandState { unsigned v[12]; };
typedef curandState curandState_t;
typedef curandState curandStateXORWOW_t;
typedef curandState curandStatePhilox4_32_10_t;
typedef curandState curandStateMRG32k3a;
template <class... A> void curand_init(A...);
template <class T> unsigned curand(T *);
template <class T> float curand_uniform(T *);
template <class T> double curand_uniform_double(T *);
template <class T> float curand_normal(T *);
template <class T> double curand_normal_double(T *);
template <class T> float2 curand_normal2(T *);
template <class T> float4 curand_uniform4(T *);
// The check macros of the samples are functions here: their headers are not read.
template <class... A> void checkCudaErrors(A &&...);
template <class... A> void getLastCudaError(A &&...);
template <class... A> int findCudaDevice(A &&...);
template <class... A> bool checkCmdLineFlag(A &&...);
template <class... A> int getCmdLineArgumentInt(A &&...);
struct StopWatchInterface;
template <class... A> bool sdkCreateTimer(A &&...);
template <class... A> bool sdkStartTimer(A &&...);
template <class... A> bool sdkStopTimer(A &&...);
template <class... A> bool sdkResetTimer(A &&...);
template <class... A> bool sdkDeleteTimer(A &&...);
template <class... A> float sdkGetTimerValue(A &&...);
template <class... A> float sdkGetAverageTimerValue(A &&...);

struct rp_config {};
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void * = 0);
extern "C" unsigned cudaConfigureCall(dim3, dim3, size_t = 0, void * = 0);

namespace cooperative_groups {
struct rp_group {
  void sync() const;
  unsigned thread_rank() const;
  unsigned size() const;
  unsigned num_threads() const;
  bool is_valid() const;
  unsigned meta_group_rank() const;
  unsigned meta_group_size() const;
  template <class T> T shfl(T, int) const;
  template <class T> T shfl_up(T, unsigned) const;
  template <class T> T shfl_down(T, unsigned) const;
  template <class T> T shfl_xor(T, unsigned) const;
  int any(int) const;
  int all(int) const;
  unsigned ballot(int) const;
  template <class T> unsigned match_any(T) const;
};
struct thread_group : rp_group {};
struct thread_block : thread_group {
  dim3 group_index() const;
  dim3 thread_index() const;
  dim3 group_dim() const;
  dim3 dim_threads() const;
  typedef unsigned long arrival_token;
  arrival_token barrier_arrive() const;
  void barrier_wait(arrival_token &&) const;
};
struct grid_group : thread_group {
  typedef unsigned long arrival_token;
  arrival_token barrier_arrive() const;
  void barrier_wait(arrival_token &&) const;
  dim3 group_dim() const;
  dim3 dim_blocks() const;
  dim3 block_index() const;
  unsigned block_rank() const;
  unsigned num_blocks() const;
};
struct multi_grid_group : thread_group {};
struct cluster_group : thread_group {
  typedef unsigned long arrival_token;
  arrival_token barrier_arrive() const;
  void barrier_wait(arrival_token &&) const;
  void barrier_wait() const;
  dim3 block_index() const;
  dim3 dim_blocks() const;
  unsigned block_rank() const;
  unsigned num_blocks() const;
  unsigned query_shared_rank(const void *) const;
  template <class T> T *map_shared_rank(T *, int) const;
};
struct coalesced_group : thread_group {};
template <unsigned N, class P = void> struct thread_block_tile : thread_group {
  template <class Q> thread_block_tile(const thread_block_tile<N, Q> &);
};
thread_block this_thread_block();
grid_group this_grid();
multi_grid_group this_multi_grid();
cluster_group this_cluster();
thread_block_tile<1> this_thread();
coalesced_group coalesced_threads();
template <unsigned N, class G> thread_block_tile<N, G> tiled_partition(const G &);
thread_group tiled_partition(const thread_group &, unsigned);
template <class G> coalesced_group binary_partition(const G &, bool);
template <class G, class L> coalesced_group labeled_partition(const G &, L);
template <class G> void sync(const G &);
template <class G> unsigned thread_rank(const G &);
template <class G> unsigned group_size(const G &);
template <class G, class... A> void memcpy_async(const G &, A...);
template <class G> void wait(const G &);
template <unsigned N = 1024> struct block_tile_memory {};
template <unsigned N> thread_block this_thread_block(block_tile_memory<N> &);
template <class T> struct plus { T operator()(T, T) const; };
template <class T> struct greater { T operator()(T, T) const; };
template <class T> struct less { T operator()(T, T) const; };
template <class G, class T, class F> T reduce(const G &, T, F);
template <class G, class T> T inclusive_scan(const G &, T);
template <class G, class T> T exclusive_scan(const G &, T);
}

namespace std {
using ::size_t; using ::ptrdiff_t; using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::sqrt; using ::sin; using ::cos; using ::tan; using ::exp; using ::log; using ::log2; using ::pow; using ::fabs;
using ::floor; using ::ceil; using ::round; using ::fmin; using ::fmax; using ::fma; using ::abs; using ::min; using ::max;
using ::isnan; using ::isinf; using ::memcpy; using ::memset; using ::printf; using ::rand; using ::srand; using ::exit;
using ::malloc; using ::free; using ::fopen; using ::fclose; using ::fread; using ::fwrite; using ::atoi; using ::atof; using ::time; using ::clock;
typedef decltype(nullptr) nullptr_t;
struct ostream {
  template <class T> ostream &operator<<(const T &);
  ostream &operator<<(ostream &(*)(ostream &));
};
ostream &endl(ostream &);
ostream &flush(ostream &);
extern ostream cout, cerr, clog;
struct istream {
  template <class T> istream &operator>>(T &);
  explicit operator bool() const;
  istream &getline(char *, long);
  istream &read(char *, long);
  bool eof() const;
  bool good() const;
};
extern istream cin;
struct ios { enum openmode { in = 1, out, binary = 4 }; };
struct ifstream : istream {
  ifstream();
  template <class T, class... A> explicit ifstream(const T &, A...);
  template <class T, class... A> void open(const T &, A...);
  bool is_open() const;
  void close();
};
struct ofstream : ostream {
  ofstream();
  template <class T, class... A> explicit ofstream(const T &, A...);
  template <class T, class... A> void open(const T &, A...);
  bool is_open() const;
  void close();
};
struct string {
  string();
  string(const char *);
  const char *c_str() const;
  size_t size() const;
};
string operator+(const string &, const string &);
bool operator==(const string &, const string &);
template <class T> string to_string(T);
template <class T> struct vector {
  typedef T value_type;
  vector();
  explicit vector(size_t);
  vector(size_t, const T &);
  T &operator[](size_t);
  const T &operator[](size_t) const;
  T *data();
  const T *data() const;
  T *begin();
  T *end();
  const T *begin() const;
  const T *end() const;
  size_t size() const;
  void resize(size_t);
  void push_back(const T &);
  T &back();
};
template <class T> T *begin(vector<T> &);
template <class T> void swap(T &, T &);
template <class I, class T> void fill(I, I, T);
template <class I, class F> void generate(I, I, F);
template <class I, class... F> void sort(I, I, F...);
template <class I, class O> O copy(I, I, O);
template <class I, class T> T accumulate(I, I, T);
template <class I> I max_element(I, I);
template <class I> I min_element(I, I);
template <class T> struct numeric_limits {
  static constexpr T max() { return T(); }
  static constexpr T min() { return T(); }
  static constexpr T lowest() { return T(); }
  static constexpr T infinity() { return T(); }
  static constexpr T epsilon() { return T(); }
};
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T &> { typedef T type; };
template <class T> struct remove_reference<T &&> { typedef T type; };
template <class T> constexpr typename remove_reference<T>::type &&move(T &&);
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <class A, class B> struct is_same { static constexpr bool value = __is_same(A, B); };
template <class A, class B> inline constexpr bool is_same_v = __is_same(A, B);
template <class A> struct is_integral { static constexpr bool value = __is_integral(A); };
template <class A> struct is_floating_point { static constexpr bool value = __is_floating_point(A); };
template <class A> struct is_pointer { static constexpr bool value = __is_pointer(A); };
template <class A> struct is_void { static constexpr bool value = __is_void(A); };
template <class A> inline constexpr bool is_pointer_v = __is_pointer(A);
template <class A> inline constexpr bool is_void_v = __is_void(A);
template <bool B, class T, class F> struct conditional { typedef T type; };
template <class T, class F> struct conditional<false, T, F> { typedef F type; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <class T> struct type_identity { typedef T type; };
template <class T> struct remove_const { typedef T type; };
template <class T> struct remove_const<const T> { typedef T type; };
template <class T> struct remove_volatile { typedef T type; };
template <class T> struct remove_volatile<volatile T> { typedef T type; };
template <class T> struct remove_cv { typedef typename remove_const<typename remove_volatile<T>::type>::type type; };
template <class T> struct remove_cvref { typedef typename remove_cv<typename remove_reference<T>::type>::type type; };
template <class T> struct remove_pointer { typedef T type; };
template <class T> struct remove_pointer<T *> { typedef T type; };
template <class T> struct add_const { typedef const T type; };
template <class T> struct rp_decayed { typedef typename remove_cv<T>::type type; };
template <class T> struct rp_decayed<T[]> { typedef T *type; };
template <class T, size_t N> struct rp_decayed<T[N]> { typedef T *type; };
template <class T> struct decay { typedef typename rp_decayed<typename remove_reference<T>::type>::type type; };
template <class T> struct make_unsigned { typedef __make_unsigned(T) type; };
template <class T> struct make_signed { typedef __make_signed(T) type; };
template <size_t N, size_t A = 16> struct aligned_storage { struct type { alignas(A) unsigned char rp_bytes[N]; }; };
template <class T> using type_identity_t = typename type_identity<T>::type;
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_volatile_t = typename remove_volatile<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_cvref_t = typename remove_cvref<T>::type;
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> using add_const_t = typename add_const<T>::type;
template <class T> using decay_t = typename decay<T>::type;
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> using make_signed_t = typename make_signed<T>::type;
template <size_t N, size_t A = 16> using aligned_storage_t = typename aligned_storage<N, A>::type;
struct rp_tied { template <class T> rp_tied &operator=(const T &); };
template <class... T> rp_tied tie(T &...);
}
#pragma clang force_cuda_host_device end
