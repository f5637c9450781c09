// Two kernels that race, one within its blocks and one between them.
#include <cuda_runtime.h>

__global__ void within(float* out) {
    __shared__ float tile[64];
    tile[threadIdx.x] = threadIdx.x;
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void between(float* out, const float* in) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i / 2] = in[i];
    atomicAdd(&out[256], 1.0f);
}

int main() {
    float *first, *second;
    cudaMalloc(&first, 1024 * sizeof(float));
    cudaMalloc(&second, 1024 * sizeof(float));
    within<<<4, 64>>>(first);
    between<<<4, 64>>>(second, first);
    cudaDeviceSynchronize();
    cudaFree(first);
    cudaFree(second);
}
