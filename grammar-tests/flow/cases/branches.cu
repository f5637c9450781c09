// Branches on data: those that could be a choice of values, and those that could not.

// flow: correctable same, key
__global__ void compare_and_swap(int *key) {
  int i = 2 * threadIdx.x;
  if (key[i] > key[i + 1]) {
    int t = key[i];
    key[i] = key[i + 1];
    key[i + 1] = t;
  }
}

// The values are touched only where the keys are out of order.
// flow: correctable wider, key
__global__ void swap_with_values(int *key, float *value) {
  int i = 2 * threadIdx.x;
  if (key[i] > key[i + 1]) {
    int t = key[i];
    key[i] = key[i + 1];
    key[i + 1] = t;
    float v = value[i];
    value[i] = value[i + 1];
    value[i + 1] = v;
  }
}

// flow: correctable same, a
__global__ void both_sides(int *a, int *out) {
  if (a[threadIdx.x] > 0)
    out[threadIdx.x] = 1;
  else
    out[threadIdx.x] = 2;
}

// No access stands in the branch at all.
// flow: invariant
__global__ void only_values(float *a) {
  float x = a[threadIdx.x];
  if (x < 0) x = -x;
  a[threadIdx.x] = x;
}

// flow: variant, a; conflicts
__global__ void different_sides(int *a, int *out) {
  if (a[threadIdx.x] > 0)
    out[a[threadIdx.x]] = 1;
  else
    out[threadIdx.x] = 2;
}

// flow: variant, a, s; conflicts
__global__ void barrier_by_data(int *a) {
  __shared__ int s[64];
  if (a[0] > 0) __syncthreads();
  s[threadIdx.x] = a[s[0] & 1];
}
