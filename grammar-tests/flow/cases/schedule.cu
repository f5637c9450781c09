// What depends on the order in which threads run.

// flow: variant, next, n; schedule atomic
__global__ void append(int *out, int *next, const int *in, int n) {
  if (threadIdx.x < n) out[atomicAdd(next, 1)] = in[threadIdx.x];
}

// Counting is no matter for indices as long as nobody looks at the counts.
// flow: variant, in; conflicts
__global__ void histogram(int *bins, const int *in) { atomicAdd(&bins[in[threadIdx.x]], 1); }

// flow: invariant
__global__ void total(int *sum, const int *in) { atomicAdd(sum, in[threadIdx.x]); }

// flow: invariant; schedule clock
__global__ void by_the_clock(int *a) {
  if (clock() & 1) a[threadIdx.x] = 0;
}

// flow: invariant
__global__ void timed(long long *ticks) { ticks[threadIdx.x] = clock64(); }

// flow: variant, ready; schedule loop that waits for another thread
__global__ void waits(volatile int *ready, int *a) {
  if (threadIdx.x == 0) ready[0] = 1;
  while (ready[1] == 0) {
  }
  while (ready[2] == 0) a[threadIdx.x] = 0;
}

// flow: unknown
__global__ void shuffled(int *a, int v) {
  int from = __shfl_sync(0xffffffff, v, 0);
  a[from + threadIdx.x] = 0;
}

// flow: invariant
__global__ void assembled(int *a) {
  asm volatile("red.global.add.u32 [%0], 1;" ::"l"(a));
  a[threadIdx.x] = 0;
}
