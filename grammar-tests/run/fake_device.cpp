// A CUDA runtime without a device, for programs that `raceproof nvcc` has built: memory is the host's, and a launch
// writes, as if its first 32 threads had all written to where the first argument points, what the second site of its
// unit would. Everything else succeeds and does nothing. So the host's half of the runtime can be seen at work on real objects.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>
#include <map>

#define RACEPROOF_HOST_ONLY 1
#include "records.hpp"

using namespace raceproof_cuda;

namespace {

struct Known {
    std::map<const void*, void**> binary_of;       // of functions and variables, by the host's name
    std::map<const void*, const char*> name_of;    // of functions
    std::map<void**, Context> contexts;
    dim3 grid, block;
    size_t bytes = 0;
    cudaStream_t stream{};
};

Known& known() {
    static Known* all = new Known;
    return *all;
}

void write(Context& context, u64& at, std::initializer_list<u64> words) {
    for (u64 word : words) context.words[at++] = word;
}

// The records of one block of two warps.
cudaError_t run(const void* kernel, void** arguments) {
    auto found = known().contexts.find(known().binary_of[kernel]);
    if (found == known().contexts.end()) return cudaSuccess;
    Context& context = found->second;
    context.head->unit = context.unit;
    context.head->kernel = 0;
    context.head->words = context.head->dynamic_bytes = 0;
    context.head->ready = 1;
    u64 at = 0, all = 0xffffffffu, place = reinterpret_cast<u64>(*static_cast<void**>(arguments[0]));
    write(context, at, {u64(line) | u64(writes) << 4 | u64(4) << 16 | u64(context.first_site + 1) << 32, 0, all, place});
    write(context, at, {u64(thread_end), 0, all});
    write(context, at, {u64(thread_end) | u64(1) << 8, 0, all});
    context.written[0] = at;
    context.lanes[0].cursor = at;
    return cudaSuccess;
}

}  // namespace

static_assert(sizeof(Lane) == 256, "lanes are apart");

#define DOES_NOTHING(name, ...) \
    cudaError_t name(__VA_ARGS__) { return cudaSuccess; }

extern "C" {
void** __cudaRegisterFatBinary(void*) { return static_cast<void**>(std::calloc(1, sizeof(void*))); }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void** binary, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*, int*) {
    known().binary_of[host] = binary;
    known().name_of[host] = name;
}
void __cudaRegisterVar(void** binary, char* host, char*, const char*, int, size_t, int, int) { known().binary_of[host] = binary; }
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int) {}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t bytes, CUstream_st* stream) {
    known().grid = grid;
    known().block = block;
    known().bytes = bytes;
    known().stream = stream;
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* bytes, void* stream) {
    *grid = known().grid;
    *block = known().block;
    *bytes = known().bytes;
    *static_cast<cudaStream_t*>(stream) = known().stream;
    return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host));
    return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3, dim3, void** arguments, size_t, cudaStream_t) {
    return run(reinterpret_cast<const void*>(kernel), arguments);
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3, dim3, void** arguments, size_t, cudaStream_t) { return run(kernel, arguments); }
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3, dim3, void** arguments, size_t, cudaStream_t) {
    return run(kernel, arguments);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void* kernel, void** arguments) { return run(kernel, arguments); }
cudaError_t cudaFuncGetName(const char** name, const void* function) {
    *name = known().name_of[function];
    return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t, cudaMemcpyKind) {
    if (bytes == sizeof(Context)) std::memcpy(&known().contexts[known().binary_of[symbol]], from, bytes);
    return cudaSuccess;
}
cudaError_t cudaGetSymbolAddress(void** address, const void*) {
    *address = nullptr;
    return cudaSuccess;
}
cudaError_t cudaMalloc(void** out, size_t bytes) { return (*out = std::calloc(1, bytes)), cudaSuccess; }
cudaError_t cudaMallocManaged(void** out, size_t bytes, unsigned) { return cudaMalloc(out, bytes); }
cudaError_t cudaMallocHost(void** out, size_t bytes) { return cudaMalloc(out, bytes); }
cudaError_t cudaHostAlloc(void** out, size_t bytes, unsigned) { return cudaMalloc(out, bytes); }
cudaError_t cudaFree(void* memory) { return std::free(memory), cudaSuccess; }
cudaError_t cudaFreeHost(void* memory) { return cudaFree(memory); }
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
    return std::memcpy(to, from, bytes), cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) { return (*device = 0), cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "no error"; }
DOES_NOTHING(cudaHostRegister, void*, size_t, unsigned)
DOES_NOTHING(cudaHostUnregister, void*)
DOES_NOTHING(cudaMallocPitch, void**, size_t*, size_t, size_t)
DOES_NOTHING(cudaMalloc3D, cudaPitchedPtr*, cudaExtent)
DOES_NOTHING(cudaMallocAsync, void**, size_t, cudaStream_t)
DOES_NOTHING(cudaMallocFromPoolAsync, void**, size_t, cudaMemPool_t, cudaStream_t)
DOES_NOTHING(cudaFreeAsync, void*, cudaStream_t)
DOES_NOTHING(cudaDeviceReset)
DOES_NOTHING(cudaDeviceSynchronize)
DOES_NOTHING(cudaSetDevice, int)
DOES_NOTHING(cudaGetLastError)
DOES_NOTHING(cudaStreamSynchronize, cudaStream_t)
DOES_NOTHING(cudaStreamCreateWithFlags, cudaStream_t*, unsigned)
DOES_NOTHING(cudaStreamIsCapturing, cudaStream_t, cudaStreamCaptureStatus*)
DOES_NOTHING(cudaPointerGetAttributes, cudaPointerAttributes*, const void*)
DOES_NOTHING(cudaDeviceGetAttribute, int*, cudaDeviceAttr, int)
}
