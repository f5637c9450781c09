// The host's half of the runtime: what stands in for parts of the CUDA runtime.
//
// One of each program. Calls of the functions below, also those that nvcc makes of launches and variables, come here in
// one of two ways, which may meet in one program:
//   - the linker sends them here (--wrap), from every unit, and names the functions of CUDA __real_…; so allocations and
//     launches are seen in units that are not instrumented, too;
//   - a logged object names what is here itself, and brings this unit with it, so that any linker makes a program of it.
//     All that is defined here is weak: of many objects that bring it, the program takes it once.
//
// Host code alone: nothing here is compiled for a device.
#include <cuda_runtime.h>
#include <cxxabi.h>

#define RACEPROOF_HOST_ONLY 1
#define RACEPROOF_WEAK __attribute__((weak))

extern "C" {
RACEPROOF_WEAK cudaError_t __real_cudaMalloc(void**, size_t);
RACEPROOF_WEAK cudaError_t __real_cudaMallocManaged(void**, size_t, unsigned);
RACEPROOF_WEAK cudaError_t __real_cudaMallocHost(void**, size_t);
RACEPROOF_WEAK cudaError_t __real_cudaHostAlloc(void**, size_t, unsigned);
RACEPROOF_WEAK cudaError_t __real_cudaHostRegister(void*, size_t, unsigned);
RACEPROOF_WEAK cudaError_t __real_cudaHostUnregister(void*);
RACEPROOF_WEAK cudaError_t __real_cudaMallocPitch(void**, size_t*, size_t, size_t);
RACEPROOF_WEAK cudaError_t __real_cudaMalloc3D(cudaPitchedPtr*, cudaExtent);
RACEPROOF_WEAK cudaError_t __real_cudaMallocAsync(void**, size_t, cudaStream_t);
RACEPROOF_WEAK cudaError_t __real_cudaMallocFromPoolAsync(void**, size_t, cudaMemPool_t, cudaStream_t);
RACEPROOF_WEAK cudaError_t __real_cudaFree(void*);
RACEPROOF_WEAK cudaError_t __real_cudaFreeHost(void*);
RACEPROOF_WEAK cudaError_t __real_cudaFreeAsync(void*, cudaStream_t);
RACEPROOF_WEAK cudaError_t __real_cudaDeviceReset();
RACEPROOF_WEAK cudaError_t __real_cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
RACEPROOF_WEAK cudaError_t __real___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);
RACEPROOF_WEAK cudaError_t __real_cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
RACEPROOF_WEAK cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**);
RACEPROOF_WEAK void __real___cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int);
RACEPROOF_WEAK void __real___cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int);
// What nvcc itself calls: for launches since CUDA 13.
RACEPROOF_WEAK cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int);
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int);
}

namespace raceproof_cuda {

// Whichever name the function of CUDA has here.
template <class Function> Function* real(Function* wrapped, Function* own) { return wrapped ? wrapped : own; }

}  // namespace raceproof_cuda

#define RACEPROOF_REAL(name) raceproof_cuda::real(__real_##name, name)

#include "session.hpp"

namespace raceproof_cuda {

inline bool Session::set_context(const void* symbol, const Context& context) {
    return cudaMemcpyToSymbol(symbol, &context, sizeof context) == cudaSuccess;
}

inline void* Session::address_of_symbol(const void* symbol) {
    void* address = nullptr;
    if (cudaGetSymbolAddress(&address, symbol) == cudaSuccess) return address;
    cudaGetLastError();   // it was the question of the runtime, not of the program
    return nullptr;
}

inline bool is_memory_of_others(std::uint64_t address) {
    cudaPointerAttributes attributes;
    bool is_known = cudaPointerGetAttributes(&attributes, reinterpret_cast<const void*>(address)) == cudaSuccess &&
                    attributes.type != cudaMemoryTypeUnregistered;
    int device = 0, shares = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&shares, cudaDevAttrPageableMemoryAccess, device);
    cudaGetLastError();   // it was the question of the runtime, not of the program
    return is_known || shares;
}

namespace {

// A name as the program has it, without the namespaces that nvcc makes for what only one unit knows.
std::string readable(const char* name) {
    int status = 0;
    char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string result = status == 0 && text ? text : name;
    std::free(text);
    for (const char* made : {"_INTERNAL_", "_GLOBAL__N_"}) {
        std::size_t at = result.find(made);
        std::size_t end = at == std::string::npos ? at : result.find("::", at);
        if (end != std::string::npos) result.erase(at, end + 2 - at);
    }
    return result;
}

// Remembers an allocation that succeeded.
cudaError_t remember(cudaError_t error, void** base, size_t bytes, raceproof::Space space) {
    if (error == cudaSuccess && *base) Session::the().add_memory(*base, bytes, space);
    return error;
}

// Before the memory is given back: another thread may get it again at once.
void forget(void* base) {
    if (base) Session::the().remove_memory(base);
}

std::string name_of(const void* function) {
#if CUDART_VERSION >= 12030
    const char* name = nullptr;
    if (cudaFuncGetName(&name, function) == cudaSuccess && name) return readable(name);
    cudaGetLastError();
#endif
    return "a kernel";
}

template <class Start>
cudaError_t launch(const void* function, dim3 grid, dim3 block, size_t bytes, cudaStream_t stream, Start start) {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (stream && cudaStreamIsCapturing(stream, &capture) == cudaSuccess && capture != cudaStreamCaptureStatusNone) {
        refuse("launches that are captured into graphs");
    }
    std::string name = name_of(function);
    Launched what{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, bytes, name.c_str()};
    return Session::the().launch(what, start, [stream] { return cudaStreamSynchronize(stream); });
}

}  // namespace

}  // namespace raceproof_cuda

using raceproof_cuda::Session;
using raceproof_cuda::forget;
using raceproof_cuda::refuse;
using raceproof_cuda::remember;

extern "C" {

RACEPROOF_WEAK void raceproof_register_unit(const RaceproofUnit* unit) { Session::the().add_unit(*unit); }

RACEPROOF_WEAK void __wrap___cudaRegisterVar(void** binary, char* host, char* device, const char* name, int is_extern,
                                             size_t bytes, int is_constant, int is_global) {
    RACEPROOF_REAL(__cudaRegisterVar)(binary, host, device, name, is_extern, bytes, is_constant, is_global);
    std::string known = raceproof_cuda::readable(name);
    if (is_extern || known.find("raceproof_cuda") != std::string::npos) return;
    Session::the().add_symbol(host, known.c_str(), bytes, is_constant ? raceproof::Space::constant : raceproof::Space::global);
}

RACEPROOF_WEAK void __wrap___cudaRegisterManagedVar(void** binary, void** host, char* device, const char* name, int is_extern,
                                                    size_t bytes, int is_constant, int is_global) {
    RACEPROOF_REAL(__cudaRegisterManagedVar)(binary, host, device, name, is_extern, bytes, is_constant, is_global);
    if (!is_extern) {
        Session::the().add_symbol(host, raceproof_cuda::readable(name).c_str(), bytes, raceproof::Space::managed);
    }
}

RACEPROOF_WEAK cudaError_t __wrap_cudaMalloc(void** out, size_t bytes) {
    return remember(RACEPROOF_REAL(cudaMalloc)(out, bytes), out, bytes, raceproof::Space::global);
}
RACEPROOF_WEAK cudaError_t __wrap_cudaMallocManaged(void** out, size_t bytes, unsigned flags) {
    return remember(RACEPROOF_REAL(cudaMallocManaged)(out, bytes, flags), out, bytes, raceproof::Space::managed);
}
RACEPROOF_WEAK cudaError_t __wrap_cudaMallocHost(void** out, size_t bytes) {
    return remember(RACEPROOF_REAL(cudaMallocHost)(out, bytes), out, bytes, raceproof::Space::managed);
}
RACEPROOF_WEAK cudaError_t __wrap_cudaHostAlloc(void** out, size_t bytes, unsigned flags) {
    return remember(RACEPROOF_REAL(cudaHostAlloc)(out, bytes, flags), out, bytes, raceproof::Space::managed);
}
RACEPROOF_WEAK cudaError_t __wrap_cudaHostRegister(void* memory, size_t bytes, unsigned flags) {
    return remember(RACEPROOF_REAL(cudaHostRegister)(memory, bytes, flags), &memory, bytes, raceproof::Space::managed);
}
RACEPROOF_WEAK cudaError_t __wrap_cudaHostUnregister(void* memory) {
    forget(memory);
    return RACEPROOF_REAL(cudaHostUnregister)(memory);
}
RACEPROOF_WEAK cudaError_t __wrap_cudaMallocPitch(void** out, size_t* pitch, size_t width, size_t height) {
    cudaError_t error = RACEPROOF_REAL(cudaMallocPitch)(out, pitch, width, height);
    return remember(error, out, error == cudaSuccess ? *pitch * height : 0, raceproof::Space::global);
}
RACEPROOF_WEAK cudaError_t __wrap_cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
    cudaError_t error = RACEPROOF_REAL(cudaMalloc3D)(out, extent);
    size_t bytes = error == cudaSuccess ? out->pitch * extent.height * extent.depth : 0;
    return remember(error, &out->ptr, bytes, raceproof::Space::global);
}
RACEPROOF_WEAK cudaError_t __wrap_cudaMallocAsync(void** out, size_t bytes, cudaStream_t stream) {
    return remember(RACEPROOF_REAL(cudaMallocAsync)(out, bytes, stream), out, bytes, raceproof::Space::global);
}
RACEPROOF_WEAK cudaError_t __wrap_cudaMallocFromPoolAsync(void** out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return remember(RACEPROOF_REAL(cudaMallocFromPoolAsync)(out, bytes, pool, stream), out, bytes, raceproof::Space::global);
}
RACEPROOF_WEAK cudaError_t __wrap_cudaFree(void* memory) {
    forget(memory);
    return RACEPROOF_REAL(cudaFree)(memory);
}
RACEPROOF_WEAK cudaError_t __wrap_cudaFreeHost(void* memory) {
    forget(memory);
    return RACEPROOF_REAL(cudaFreeHost)(memory);
}
RACEPROOF_WEAK cudaError_t __wrap_cudaFreeAsync(void* memory, cudaStream_t stream) {
    forget(memory);
    return RACEPROOF_REAL(cudaFreeAsync)(memory, stream);
}
RACEPROOF_WEAK cudaError_t __wrap_cudaDeviceReset() {
    Session::the().reset();
    return RACEPROOF_REAL(cudaDeviceReset)();
}

RACEPROOF_WEAK cudaError_t __wrap_cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** values, size_t bytes,
                                                    cudaStream_t stream) {
    return raceproof_cuda::launch(function, grid, block, bytes, stream, [&] {
        return RACEPROOF_REAL(cudaLaunchKernel)(function, grid, block, values, bytes, stream);
    });
}
RACEPROOF_WEAK cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** values, size_t bytes,
                                                    cudaStream_t stream) {
    return raceproof_cuda::launch(reinterpret_cast<const void*>(kernel), grid, block, bytes, stream, [&] {
        return RACEPROOF_REAL(__cudaLaunchKernel)(kernel, grid, block, values, bytes, stream);
    });
}
RACEPROOF_WEAK cudaError_t __wrap_cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** values,
                                                              size_t bytes, cudaStream_t stream) {
    return raceproof_cuda::launch(function, grid, block, bytes, stream, [&] {
        return RACEPROOF_REAL(cudaLaunchCooperativeKernel)(function, grid, block, values, bytes, stream);
    });
}
RACEPROOF_WEAK cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* how, const void* function, void** values) {
    return raceproof_cuda::launch(function, how->gridDim, how->blockDim, how->dynamicSmemBytes, how->stream,
                                  [&] { return RACEPROOF_REAL(cudaLaunchKernelExC)(how, function, values); });
}

// A graph launches kernels of which nothing is told.
RACEPROOF_WEAK cudaError_t __wrap_cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) { refuse("graphs"); }

}  // extern "C"
