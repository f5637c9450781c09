//! What the tests with real editors have in common.

/// A race that a barrier ends, in line 3.
pub(super) const CUDA: &str = "__global__ void halves(float *y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = y[threadIdx.x];
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
int main() { halves<<<1, 64>>>(0); }
";

/// A race in line 1.
pub(super) const OPENCL: &str = "__kernel void k(__global int *y) { y[get_global_id(0) / 2] = 1; }\n";
