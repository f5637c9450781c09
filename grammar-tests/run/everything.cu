// A program that uses what the cpu back end has, and checks every result itself.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

namespace cg = cooperative_groups;

static int failures = 0;
static int checks = 0;
#define CHECK(condition)                                                  \
    do {                                                                  \
        checks++;                                                         \
        if (!(condition)) failures++, printf("FAILED line %d: %s\n", __LINE__, #condition); \
    } while (0)
#define DONE() CHECK(cudaDeviceSynchronize() == cudaSuccess && cudaGetLastError() == cudaSuccess)

__constant__ float weights[4];
__device__ int counter;
__device__ unsigned long long wide;

template <class T, int N> __global__ void tree(const T *in, T *out, int n) {
    __shared__ T part[N];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] : T(0);
    __syncthreads();
    for (int d = N / 2; d > 0; d /= 2) {
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

// One name of dynamic shared memory with two types.
__global__ void reversed(int *a) {
    extern __shared__ int store[];
    store[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = store[blockDim.x - 1 - threadIdx.x];
}
__global__ void scaled(double *a, double by) {
    extern __shared__ double store[];
    store[threadIdx.x] = a[threadIdx.x] * by;
    a[threadIdx.x] = store[threadIdx.x];
}

__global__ void warps(int *out) {
    unsigned lane = threadIdx.x % 32;
    int sum = lane;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    int first = __shfl_sync(0xffffffffu, sum, 0);
    unsigned odd = __ballot_sync(0xffffffffu, lane & 1);
    int any = __any_sync(0xffffffffu, lane == 31), all = __all_sync(0xffffffffu, lane < 32);
    unsigned same = __match_any_sync(0xffffffffu, lane / 4);
    unsigned most = __reduce_max_sync(0xffffffffu, lane * 3);
    unsigned active = 0;
    if (lane < 10) active = __activemask();
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int in_tile = cg::reduce(tile, int(lane), cg::plus<int>());
    int swapped = tile.shfl_xor(int(lane), 1);
    bool good = first == 496 && odd == 0xaaaaaaaau && any && all && same == 0xfu << (lane / 4 * 4) && most == 93 &&
                active == (lane < 10 ? 0x3ffu : 0) && in_tile == int(lane / 8 * 64 + 28) && swapped == int(lane ^ 1);
    out[threadIdx.x] = good;
}

__global__ void counts(int *out) {
    int thirds = __syncthreads_count(threadIdx.x % 3 == 0);
    int some = __syncthreads_or(threadIdx.x == 5), every = __syncthreads_and(threadIdx.x != 5);
    if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = thirds, out[1] = some, out[2] = every;
    atomicAdd(&counter, int(weights[threadIdx.x % 4]));
    atomicMax(&wide, (unsigned long long)threadIdx.x << 33);
}

// Threads leave before the barrier; the others go on.
__global__ void leaving(int *out, int n) {
    if (threadIdx.x >= n) return;
    __syncthreads();
    out[threadIdx.x] = 1;
}

// The first thread waits for the last block.
__global__ void waiting(int *flag) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        while (atomicAdd(flag, 0) == 0) {
        }
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == blockDim.x - 1) atomicExch(flag, 1);
}

__global__ void whole_grid(int *a, int *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i;
    cg::this_grid().sync();
    int sum = 0;
    for (unsigned j = 0; j < gridDim.x * blockDim.x; j++) sum += a[j];
    sums[i] = sum;
}

struct Pair {
    float2 a;
    int k;
};
__device__ __forceinline__ float dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
__global__ void math(Pair p, float *out, unsigned *bits) {
    out[0] = rsqrtf(4.0f) + __expf(0.0f) + __fdividef(1.0f, 4.0f) + fmaxf(p.a.x, p.a.y) + dot(p.a, make_float2(1, 2));
    out[1] = min(p.k, 3) + max(2.5f, 1.0f) + __saturatef(7.0f);
    bits[0] = __popc(0xf0f0u) + __clz(1) + __ffs(8) + __umul24(3, 5) + __brev(1u) % 7;
    bits[1] = __float_as_uint(1.0f);
    bits[2] = __umulhi(0x80000000u, 6);
}

template <class T> static T *device(int n) {
    T *memory = nullptr;
    CHECK(cudaMalloc(&memory, n * sizeof(T)) == cudaSuccess);
    cudaMemset(memory, 0, n * sizeof(T));
    return memory;
}
template <class T> static std::vector<T> host(const T *memory, int n) {
    std::vector<T> copy(n);
    CHECK(cudaMemcpy(copy.data(), memory, n * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    return copy;
}

int main() {
    const int n = 3000;
    std::vector<int> ones(n, 1);
    int *a = device<int>(n), *sum = device<int>(1);
    cudaMemcpy(a, ones.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    tree<int, 128><<<(n + 127) / 128, 128>>>(a, sum, n);
    DONE();
    CHECK(host(sum, 1)[0] == n);
    float *fa = device<float>(64), *fs = device<float>(1);
    tree<float, 64><<<1, 64>>>(fa, fs, 64);
    CHECK(host(fs, 1)[0] == 0);

    std::vector<int> numbers(64);
    for (int i = 0; i < 64; i++) numbers[i] = i;
    cudaMemcpy(a, numbers.data(), 64 * sizeof(int), cudaMemcpyHostToDevice);
    reversed<<<1, 64, 64 * sizeof(int)>>>(a);
    CHECK(host(a, 64)[0] == 63 && host(a, 64)[63] == 0);
    double *da = device<double>(32);
    std::vector<double> halves(32, 0.5);
    cudaMemcpy(da, halves.data(), 32 * sizeof(double), cudaMemcpyHostToDevice);
    scaled<<<dim3(1), dim3(32), 32 * sizeof(double)>>>(da, 3);
    CHECK(host(da, 32)[31] == 1.5);

    int *good = device<int>(64);
    warps<<<1, 64>>>(good);
    std::vector<int> each = host(good, 64);
    for (int i = 0; i < 64; i++) CHECK(each[i] == 1);

    float four[4] = {1, 2, 3, 4};
    CHECK(cudaMemcpyToSymbol(weights, four, sizeof four) == cudaSuccess);
    int *out = device<int>(64);
    counts<<<2, 64>>>(out);
    CHECK(host(out, 3)[0] == 22 && host(out, 3)[1] == 1 && host(out, 3)[2] == 0);
    int counted;
    unsigned long long widest;
    CHECK(cudaMemcpyFromSymbol(&counted, counter, sizeof counted) == cudaSuccess && counted == 2 * 16 * 10);
    CHECK(cudaMemcpyFromSymbol(&widest, wide, sizeof widest) == cudaSuccess && widest == 63ull << 33);

    leaving<<<1, 64>>>(out, 40);
    CHECK(host(out, 64)[39] == 1 && host(out, 64)[41] == 0);
    int *flag = device<int>(1);
    waiting<<<9, 32>>>(flag);
    DONE();

    int *ga = device<int>(8 * 32), *gs = device<int>(8 * 32);
    void *arguments[] = {&ga, &gs};
    CHECK(cudaLaunchCooperativeKernel((void *)whole_grid, dim3(8), dim3(32), arguments, 0, 0) == cudaSuccess);
    CHECK(host(gs, 256)[0] == 255 * 128 && host(gs, 256)[255] == 255 * 128);

    float *mo = device<float>(2);
    unsigned *mb = device<unsigned>(3);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaEvent_t before, after;
    cudaEventCreate(&before), cudaEventCreate(&after);
    cudaEventRecord(before, stream);
    math<<<1, 1, 0, stream>>>(Pair{make_float2(3, 5), 9}, mo, mb);
    cudaEventRecord(after, stream);
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, before, after) == cudaSuccess && milliseconds > 0);
    CHECK(host(mo, 2)[0] == 0.5f + 1 + 0.25f + 5 + 13 && host(mo, 2)[1] == 3 + 2.5f + 1);
    CHECK(host(mb, 3)[0] == 8 + 31 + 4 + 15 + 0x80000000u % 7 && host(mb, 3)[1] == 0x3f800000u && host(mb, 3)[2] == 3);

    int pitched_rows[3][5] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, {11, 12, 13, 14, 15}}, back[3][5] = {};
    char *pitched;
    size_t pitch;
    CHECK(cudaMallocPitch(&pitched, &pitch, 20, 3) == cudaSuccess && pitch >= 20);
    CHECK(cudaMemcpy2D(pitched, pitch, pitched_rows, 20, 20, 3, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy2D(back, 20, pitched, pitch, 20, 3, cudaMemcpyDeviceToHost) == cudaSuccess && back[2][4] == 15);

    leaving<<<1, 2048>>>(out, 40);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaSuccess);
    CHECK(cudaMemcpy(out, numbers.data(), 1 << 20, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaFree(out) == cudaSuccess && cudaFree(out) == cudaErrorInvalidValue);
    printf(failures ? "%d of %d checks fail\n" : "%d failures in %d checks\n", failures, checks);
    return failures ? 1 : 0;
}
