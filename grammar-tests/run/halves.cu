// Numbers of 16 bits, held against numbers that are rounded by other means. Exits with 0 if all are right.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Every number times two and one over, added up over the warp; the block's sum is kept in shared memory.
__global__ void doubled(const half *in, half2 *out, float *sum, int n) {
  __shared__ half last[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  half x = i < n ? in[i] : __float2half(0.0f);
  last[threadIdx.x] = __hfma(x, __float2half(2.0f), __float2half(1.0f));
  __syncthreads();
  if (i < n) out[i] = __halves2half2(last[threadIdx.x], last[threadIdx.x ^ 1]);
  float of_warp = __half2float(__shfl_xor_sync(0xffffffff, x, 1)) + __half2float(x);
  if (i < n && i % 2 == 0) atomicAdd(sum, of_warp);
}

__global__ void scaled(__nv_bfloat162 *pairs, __nv_bfloat16 by) {
  __nv_bfloat162 pair = pairs[threadIdx.x];
  pair.x = __hmul(pair.x, by);
  pairs[threadIdx.x] = __hadd2(pair, __float2bfloat162_rn(1.0f));
}

// Functions of the device alone.
__global__ void functions(int *wrong) {
  half one = __float2half(1.0f), tenth = __float2half(0.1f);
  bool holds = one + tenth > one && one - one == __float2half(0.0f) && !(one < tenth) && -one < tenth;
  holds = holds && __half2float(__hadd_sat(one, one)) == 1.0f && __half2float(hsqrt(__float2half(9.0f))) == 3.0f;
  holds = holds && __half2int_rn(__float2half(2.5f)) == 2 && __half2int_ru(tenth) == 1;
  holds = holds && __half2int_rz(__float2half(-1.5f)) == -1;
  half2 pair = __hmul2(__floats2half2_rn(2.0f, 3.0f), __half2half2(one));
  holds = holds && __low2float(pair) == 2.0f && __high2float(pair) == 3.0f && __hbge2(pair, __half2half2(one));
  holds = holds && __half22float2(__lowhigh2highlow(pair)).x == 3.0f;
  holds = holds && __low2float(__hgt2(pair, __float2half2_rn(2.5f))) == 0.0f;
  holds = holds && __half2float(__hfma_relu(-one, one, tenth)) == 0.0f && __hneu(one, tenth) && !__hne(one, one);
  if (!holds) atomicAdd(wrong, 1);
}

// The nearest float with so many bits behind the first, ties to even, where no bit is lost below.
static float nearest(float value, int bits) {
  int exponent;
  float steps = ldexpf(frexpf(value, &exponent), bits + 1);
  return ldexpf(nearbyintf(steps), exponent - bits - 1);
}

static int wrong = 0;
static void expect(bool holds, const char *what) {
  if (!holds && wrong++ < 5) printf("wrong: %s\n", what);
}

int main() {
  for (unsigned bits = 0; bits < 0x10000; bits++) {
    half h = __ushort_as_half((unsigned short)bits);
    float value = __half2float(h);
    if (value != value) continue;
    expect(__half_as_ushort(__float2half(value)) == bits, "a half is what it is read as");
    if (fabsf(value) < 1e-4f || fabsf(value) > 6e4f) continue;
    for (float factor : {1.0001f, 0.99963f, 1.00049f}) {
      expect(__half2float(__float2half(value * factor)) == nearest(value * factor, 10), "halves are the nearest");
      expect(__bfloat162float(__float2bfloat16(value * factor)) == nearest(value * factor, 7), "bfloats are the nearest");
    }
    expect(__half2float(__float2half_rz(value * 1.0001f)) == value, "towards zero");
    expect(__half2float(__float2half_ru(value)) == value && __half2float(__float2half_rd(value)) == value, "exactly");
  }
  expect(__half2float(__float2half_ru(1.0001f)) > 1.0f && __half2float(__float2half_rd(-1.0001f)) < -1.0f, "up and down");
  expect(isinf(__half2float(__float2half(65520.0f))) && __half2float(__float2half(65519.0f)) == 65504.0f, "the greatest");
  expect(__half2float(__float2half_rz(1e9f)) == 65504.0f, "the greatest, towards zero");
  expect(__half_as_ushort(__float2half(-0.0f)) == 0x8000 && __half_as_ushort(__float2half(5.97e-8f)) == 1, "the least");
  int *of_wrong;
  cudaMalloc(&of_wrong, sizeof wrong);
  cudaMemcpy(of_wrong, &wrong, sizeof wrong, cudaMemcpyHostToDevice);
  functions<<<1, 1>>>(of_wrong);
  cudaMemcpy(&wrong, of_wrong, sizeof wrong, cudaMemcpyDeviceToHost);

  const int n = 100;
  half in[n];
  half2 out[n];
  for (int i = 0; i < n; i++) in[i] = __float2half(i * 0.5f);
  half *of_in;
  half2 *of_out;
  float *of_sum, sum = 0;
  cudaMalloc(&of_in, sizeof in);
  cudaMalloc(&of_out, sizeof out);
  cudaMalloc(&of_sum, sizeof sum);
  cudaMemcpy(of_in, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemcpy(of_sum, &sum, sizeof sum, cudaMemcpyHostToDevice);
  doubled<<<2, 64>>>(of_in, of_out, of_sum, n);
  cudaMemcpy(out, of_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaMemcpy(&sum, of_sum, sizeof sum, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++) expect(__low2float(out[i]) == i + 1.0f && __high2float(out[i]) == (i ^ 1) + 1.0f, "the kernel");
  expect(sum == 0.5f * n * (n - 1) / 2, "the sum");

  __nv_bfloat162 pairs[8], *of_pairs;
  for (int i = 0; i < 8; i++) pairs[i] = __floats2bfloat162_rn(float(i), -float(i));
  cudaMalloc(&of_pairs, sizeof pairs);
  cudaMemcpy(of_pairs, pairs, sizeof pairs, cudaMemcpyHostToDevice);
  scaled<<<1, 8>>>(of_pairs, __float2bfloat16(3.0f));
  cudaMemcpy(pairs, of_pairs, sizeof pairs, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 8; i++) expect(__low2float(pairs[i]) == 3 * i + 1 && __high2float(pairs[i]) == 1 - i, "the other kernel");
  return wrong != 0;
}
