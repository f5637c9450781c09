// Which inputs reach an access, and which do not.

// flow: invariant, rows, pitch
__global__ void scale_rows(float *image, int rows, int height, int pitch, float factor) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) image[row * pitch] *= factor + height;
}

// flow: variant, idx, n; conflicts
__global__ void scatter(float *out, const int *idx, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[idx[i]] = 1.0f;
}

// flow: variant, in, idx, n; reads
__global__ void gather_twice(float *out, const int *in, const int *idx, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[in[idx[i]]];
}

// flow: variant, first, columns; reads
__global__ void sparse_row_sum(float *y, const float *x, const int *first, const int *columns) {
  int row = threadIdx.x;
  float sum = 0;
  for (int k = first[row]; k < first[row + 1]; k++) sum += x[columns[k]];
  y[row] = sum;
}

// The classic: what is added is data, where is not.
// flow: invariant, size
__global__ void tree_sum(float *out, const float *in, int size) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = threadIdx.x; i < size; i += 256) sum += in[i];
  part[threadIdx.x] = sum;
  for (int stride = 128; stride > 0; stride >>= 1) {
    __syncthreads();
    if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__constant__ int width;
__constant__ int rows_of[8];

// A scalar in constant memory is configuration; an array there is content.
// flow: invariant, width
__global__ void constant_width(float *a) { a[blockIdx.x * width + threadIdx.x] = 0; }

// flow: variant, rows_of; conflicts
__global__ void constant_table(float *a) { a[rows_of[blockIdx.x] + threadIdx.x] = 0; }

__device__ int offset;

// flow: variant, offset; conflicts
__global__ void device_scalar(float *a) { a[offset + threadIdx.x] = 0; }

struct Shape {
  int width, height;
};

// flow: invariant, shape.width
__global__ void by_value(float *a, Shape shape) {
  float tall = shape.height;
  a[threadIdx.y * shape.width + threadIdx.x] = tall;
}

template <bool guarded> __global__ void instance(float *a, int n) {
  if (guarded && threadIdx.x >= n) return;
  a[threadIdx.x] = 0;
}
// flow: invariant, n
template __global__ void instance<true>(float *, int);
// flow: invariant
template __global__ void instance<false>(float *, int);
