//! What `raceproof show` prints.

use raceproof::driver::options::Options;
use raceproof::driver::show::{ShowError, Stage, show};
use std::path::Path;

fn shown(stage: Stage, path: &str, text: &str) -> Result<String, ShowError> {
    show(stage, Path::new(path), text, &Options::default())
}

const TOUR: &str = r"
template <typename T, int N = 4> struct Tile {
  T cells[N][33];
  int width : 5;
  __device__ T &at(int i) const;
};
enum class Mode : int { off, on = 2 };
typedef const float *Input;
__constant__ float weights[3] = {1.0f, .5f};
template <typename T>
__global__ void __launch_bounds__(256) k(T *__restrict__ out, Input in, unsigned n, Mode mode) {
  extern __shared__ float s[];
  for (int i = threadIdx.x, j = 0; i < n; i += blockDim.x) {
    if (i % 2 == 0 && !(n & 1u)) s[i] = -in[i] * 2 + 1; else continue;
    do { j++; } while (j < 0x10);
  }
  switch (mode) { case Mode::on: __syncthreads(); break; default: return; }
  out[threadIdx.x] = static_cast<T>(s[0] > 0 ? (int)s[1] : sizeof(T)), *out += 1;
}
template __global__ void k<float>(float *, Input, unsigned, Mode);
void host(float *x) { k<float><<<dim3(4, 2), 64, 256>>>(x, x, 3, Mode::on); }
";

#[test]
fn syntax_is_printed_with_every_grouping() {
    insta::assert_snapshot!("syntax.cuda", shown(Stage::Syntax, "tour.cu", TOUR).unwrap());
    let opencl = "__kernel void k(__global const float4 *x, __local int *s) {\n  s[get_local_id(0)] = (int)x[0].w;\n  \
                  barrier(CLK_LOCAL_MEM_FENCE);\n}\n";
    insta::assert_snapshot!("syntax.opencl", shown(Stage::Syntax, "tour.cl", opencl).unwrap());
}

#[test]
fn intervals_say_how_accesses_meet() {
    let text = "\
__global__ void k(float *out, int n) {
  __shared__ float s[64];
  for (int i = 0; i < n; i++) {
    s[threadIdx.x] = i;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
  }
}
";
    let intervals = shown(Stage::Intervals, "k.cu", text).unwrap();
    assert!(!intervals.contains("s: write at 4:5 and read at 6:24, in one turn"), "{intervals}");
    assert!(intervals.contains("s: write at 4:5 and read at 6:24, one turn earlier of the loop at 3:3"), "{intervals}");
    assert!(intervals.contains("out: write at 6:5 and write at 6:5"), "{intervals}");
}

#[test]
fn a_file_without_kernels_has_nothing_to_show() {
    assert!(matches!(shown(Stage::Calculus, "a.cu", "int x;"), Err(ShowError::NoKernel(_))));
}
