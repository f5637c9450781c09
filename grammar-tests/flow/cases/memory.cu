// Values that go through memory.

// flow: invariant, n
__global__ void handed_on(float *a, int n) {
  __shared__ int base;
  if (threadIdx.x == 0) base = blockIdx.x * n;
  __syncthreads();
  a[base + threadIdx.x] = 0;
}

// flow: variant, base, n; conflicts
__global__ void handed_on_by_nobody(float *a, int n) {
  __shared__ int base;
  if (threadIdx.x == n) base = blockIdx.x;
  __syncthreads();
  a[base + threadIdx.x] = 0;
}

// flow: variant, start; conflicts
__global__ void handed_on_data(float *a, const int *start) {
  __shared__ int base;
  if (threadIdx.x == 0) base = start[blockIdx.x];
  __syncthreads();
  a[base + threadIdx.x] = 0;
}

// flow: invariant
__global__ void own_element(float *a) {
  __shared__ int slot[64];
  slot[threadIdx.x] = 63 - threadIdx.x;
  a[slot[threadIdx.x]] = 0;
}

// Whether all of `slot` was written is not followed.
// flow: variant, slot; conflicts
__global__ void others_element(float *a) {
  __shared__ int slot[64];
  slot[threadIdx.x] = 63 - threadIdx.x;
  __syncthreads();
  a[slot[63 - threadIdx.x]] = 0;
}

// The kernel writes data to the array that it takes indices from.
// flow: variant, in, queue; conflicts
__global__ void through_memory(float *a, int *queue, const int *in) {
  queue[threadIdx.x] = in[threadIdx.x];
  a[queue[threadIdx.x ^ 1]] = 0;
}

// flow: invariant
__global__ void local_table(float *a) {
  int order[4];
  for (int i = 0; i < 4; i++) order[i] = 3 - i;
  a[threadIdx.x * 4 + order[threadIdx.x & 3]] = 0;
}
