// Plain structures and function objects of the headers of CUDA, CUB, Thrust and the standard library.
#pragma clang force_cuda_host_device begin
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
namespace cub { template <class K, class V> struct KeyValuePair { K key; V value; }; }
namespace std {
template <class A, class B> struct pair { A first; B second; pair(); pair(const A &, const B &); };
template <class T> constexpr T &&forward(typename remove_reference<T>::type &);
template <class A> inline constexpr bool is_integral_v = __is_integral(A);
template <class A> inline constexpr bool is_floating_point_v = __is_floating_point(A);
}
#define RP_VALUE(NAME) template <class T = void> struct NAME { template <class... A> T operator()(const T &, A...) const; };
#define RP_TEST(NAME) template <class T = void> struct NAME { template <class... A> bool operator()(const T &, A...) const; };
#define RP_FUNCTIONAL(NS) \
  namespace NS { \
  RP_VALUE(plus) RP_VALUE(minus) RP_VALUE(multiplies) RP_VALUE(divides) RP_VALUE(modulus) RP_VALUE(negate) \
  RP_VALUE(bit_and) RP_VALUE(bit_or) RP_VALUE(bit_xor) RP_VALUE(maximum) RP_VALUE(minimum) \
  RP_TEST(equal_to) RP_TEST(not_equal_to) RP_TEST(less) RP_TEST(less_equal) RP_TEST(greater) RP_TEST(greater_equal) \
  RP_TEST(logical_and) RP_TEST(logical_or) RP_TEST(logical_not) \
  }
RP_FUNCTIONAL(std)
RP_FUNCTIONAL(thrust)
#undef RP_FUNCTIONAL
#undef RP_TEST
#undef RP_VALUE
namespace thrust {
template <class A, class B> struct pair { A first; B second; pair(); pair(const A &, const B &); };
using std::tie;
template <class T> using device_ptr = T *;
template <class T> T *raw_pointer_cast(T *);
template <class T> struct alignas(2 * sizeof(T)) complex {
  complex(T = T(), T = T());
  T real() const;
  T imag() const;
  complex &operator+=(const complex &);
  complex &operator-=(const complex &);
  complex &operator*=(const complex &);
  complex &operator/=(const complex &);
  friend complex operator+(const complex &, const complex &);
  friend complex operator-(const complex &, const complex &);
  friend complex operator*(const complex &, const complex &);
  friend complex operator/(const complex &, const complex &);
  complex operator-() const;
private:
  T parts[2];
};
template <class T> complex<T> conj(const complex<T> &);
template <class T> complex<T> exp(const complex<T> &);
template <class T> T abs(const complex<T> &);
template <class T> T norm(const complex<T> &);
template <class T> T arg(const complex<T> &);
}
#pragma clang force_cuda_host_device end
