// flow: invariant, get_global_offset(0), n
__kernel void saxpy(__global float *y, __global const float *x, float a, uint n) {
  size_t i = get_global_id(0);
  if (i < n) y[i] += a * x[i];
}

// flow: variant, get_global_offset(0), idx; conflicts
__kernel void scatter(__global float *y, __global const int *idx) {
  y[idx[get_global_id(0)]] = 1.0f;
}

// flow: invariant, get_global_offset(0), k
__kernel void local_buffer(__global float *y, __local float *s, int k) {
  s[get_local_id(0)] = y[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  y[get_global_id(0)] = s[(get_local_id(0) + k) % get_local_size(0)];
}
