// Devices, streams, events, and launches by function of the CUDA runtime API.
//
// There is one device, with properties of a usual GPU as far as they limit launches. Whatever is asynchronous in CUDA is
// done when its call returns.
#pragma once

#include "api_memory.hpp"

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
    if (device != 0) return raceproof::result(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "raceproof cpu back end");
    p->totalGlobalMem = size_t(8) << 30;
    p->sharedMemPerBlock = 49152;
    p->sharedMemPerBlockOptin = raceproof::MAX_SHARED;
    p->sharedMemPerMultiprocessor = 228 * 1024;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->warpSize = 32;
    p->memPitch = 2147483647;
    p->maxThreadsPerBlock = 1024;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024, p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 2147483647, p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->clockRate = p->memoryClockRate = 1000000;
    p->totalConstMem = 65536;
    p->major = 8, p->minor = 0;
    p->textureAlignment = p->surfaceAlignment = 512;
    p->multiProcessorCount = 8;
    p->maxThreadsPerMultiProcessor = 2048;
    p->maxBlocksPerMultiProcessor = 32;
    p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->deviceOverlap = p->asyncEngineCount = 1;
    p->managedMemory = p->concurrentManagedAccess = p->cooperativeLaunch = p->streamPrioritiesSupported = 1;
    p->hostRegisterSupported = p->memoryPoolsSupported = 1;
    p->memoryBusWidth = 256;
    p->l2CacheSize = 4 << 20;
    return cudaSuccess;
}

inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp properties;
    if (cudaError_t error = cudaGetDeviceProperties(&properties, device)) return error;
    switch (attribute) {
#define RACEPROOF_VALUE(name, number, field) \
    case name: *value = int(properties.field); return cudaSuccess;
        RACEPROOF_ATTRIBUTES(RACEPROOF_VALUE)
#undef RACEPROOF_VALUE
    }
    return raceproof::result(cudaErrorInvalidValue);
}

inline cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaSetDevice(int device) { return raceproof::result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaError_t(raceproof::last_error); }
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaDeviceReset() { return cudaSuccess; }
inline cudaError_t cudaThreadExit() { return cudaSuccess; }
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit) { return *value = raceproof::stack_bytes(), cudaSuccess; }
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 0, cudaSuccess; }
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return raceproof::result(cudaErrorInvalidDevice); }
inline cudaError_t cudaDeviceDisablePeerAccess(int) { return raceproof::result(cudaErrorInvalidDevice); }
inline cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }

inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags, int priority) {
    *out = new CUstream_st{flags, priority};
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) { return cudaStreamCreateWithPriority(out, flags, 0); }
inline cudaError_t cudaStreamCreate(cudaStream_t* out) { return cudaStreamCreateWithPriority(out, 0, 0); }
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) { return delete stream, cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaError_t(raceproof::last_error); }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
inline cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) { return *priority = stream->priority, cudaSuccess; }
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) { return *least = 0, *greatest = -5, cudaSuccess; }
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t call, void* data, unsigned) {
    return call(stream, cudaSuccess, data), cudaSuccess;
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t call, void* data) { return call(data), cudaSuccess; }

inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned) { return *out = new CUevent_st{0, false}, cudaSuccess; }
inline cudaError_t cudaEventCreate(cudaEvent_t* out, unsigned = 0) { return cudaEventCreateWithFlags(out, 0); }
inline cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->milliseconds = double(now.tv_sec) * 1e3 + double(now.tv_nsec) / 1e6;
    event->is_recorded = true;
    return cudaSuccess;
}
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t = nullptr, unsigned = 0) { return cudaEventRecord(event); }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaError_t(raceproof::last_error); }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    if (!from->is_recorded || !to->is_recorded) return raceproof::result(cudaErrorInvalidResourceHandle);
    *milliseconds = float(to->milliseconds - from->milliseconds);
    if (*milliseconds <= 0) *milliseconds = 0.0005f;   // the resolution that CUDA documents
    return cudaSuccess;
}

template <class F> inline cudaError_t cudaFuncSetCacheConfig(F, cudaFuncCache) { return cudaSuccess; }
template <class F> inline cudaError_t cudaFuncSetSharedMemConfig(F, cudaSharedMemConfig) { return cudaSuccess; }
template <class F> inline cudaError_t cudaFuncSetAttribute(F, cudaFuncAttribute, int) { return cudaSuccess; }
template <class F> inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, F) {
    memset(attributes, 0, sizeof *attributes);
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = 80;
    attributes->maxDynamicSharedSizeBytes = 49152;
    return cudaSuccess;
}
template <class F>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F, int threads, size_t dynamic_bytes) {
    if (threads < 1) return raceproof::result(cudaErrorInvalidValue);
    int by_threads = threads > 1024 ? 0 : 2048 / ((threads + 31) / 32 * 32);
    int by_shared = dynamic_bytes ? int(228 * 1024 / dynamic_bytes) : 32;
    *blocks = min(min(by_threads, by_shared), 32);
    return cudaSuccess;
}
template <class F>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, F, size_t = 0, int limit = 0) {
    *block = limit > 0 && limit < 256 ? limit : 256;
    *grid = 8 * (2048 / *block);
    return cudaSuccess;
}

namespace raceproof {

template <class... P, size_t... I>
inline void call_with(void (*function)(P...), void** arguments, std::index_sequence<I...>) {
    (void)arguments;
    function(*static_cast<std::remove_reference_t<P>*>(arguments[I])...);
}
template <class... P> inline void call_kernel(void (*function)(P...), void** arguments) {
    call_with(function, arguments, std::index_sequence_for<P...>());
}

// A kernel whose type is not known. What it takes for its parameters is overwritten by its first statement
// (`parameters`), so it is called with anything in the registers and on the stack that hold parameters. Where large
// structures are handed over by address (AArch64), each register points to room for one.
inline void call_kernel(const void* function, void** arguments) {
    struct Room { char bytes[4096]; };
    using Any = void (*)(void*, void*, void*, void*, void*, void*, void*, void*, double, double, double, double, double,
                         double, double, double, Room);
    void* rooms[8] = {};
#if defined(__aarch64__)
    for (void*& room : rooms) room = calloc(1, sizeof(Room));
#endif
    untyped_arguments = arguments;
    reinterpret_cast<Any>(const_cast<void*>(function))(rooms[0], rooms[1], rooms[2], rooms[3], rooms[4], rooms[5], rooms[6],
                                                       rooms[7], 0, 0, 0, 0, 0, 0, 0, 0, Room{});
    untyped_arguments = nullptr;
    for (void* room : rooms) free(room);
}

template <class F>
inline cudaError_t launch(F function, dim3 grid, dim3 block, void** arguments, size_t dynamic_bytes, bool cooperative,
                          dim3 cluster = dim3()) {
    configure(grid, block, dynamic_bytes);
    pending.cooperative = cooperative;
    pending.cluster = cluster;
    call_kernel(function, arguments);
    return cudaError_t(last_error);
}

}  // namespace raceproof

template <class F>
inline cudaError_t cudaLaunchKernel(F function, dim3 grid, dim3 block, void** arguments, size_t dynamic_bytes = 0,
                                    cudaStream_t = nullptr) {
    return raceproof::launch(function, grid, block, arguments, dynamic_bytes, false);
}

// Launches with a configuration. Of its attributes there are those of cooperative launches and of clusters, and those that make launches
// wait for less, which here wait for everything.
enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0,
    cudaLaunchAttributeAccessPolicyWindow = 1,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeSynchronizationPolicy = 3,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6,
    cudaLaunchAttributePriority = 8
};
union cudaLaunchAttributeValue {
    char pad[64];
    int cooperative;
    int programmaticStreamSerializationAllowed;
    int priority;
    struct {
        unsigned x, y, z;
    } clusterDim;
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    char pad[4];
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim;
    dim3 blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned numAttrs;
};

namespace raceproof {
// What the attributes of a launch ask of its blocks.
struct Together {
    bool cooperative = false;
    dim3 cluster;
};
inline Together together(const cudaLaunchConfig_t& of) {
    Together are;
    for (unsigned at = 0; at < of.numAttrs; at++) {
        const cudaLaunchAttribute& attribute = of.attrs[at];
        if (attribute.id == cudaLaunchAttributeCooperative) are.cooperative = attribute.val.cooperative != 0;
        if (attribute.id != cudaLaunchAttributeClusterDimension) continue;
        const auto& cluster = attribute.val.clusterDim;
        are.cluster = dim3(cluster.x, cluster.y, cluster.z);
    }
    return are;
}
}  // namespace raceproof

template <class F>
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* of, F function, void** arguments) {
    raceproof::Together are = raceproof::together(*of);
    return raceproof::launch(function, of->gridDim, of->blockDim, arguments, of->dynamicSmemBytes, are.cooperative,
                             are.cluster);
}
template <class... Parameters, class... Arguments>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* of, void (*function)(Parameters...), Arguments&&... arguments) {
    raceproof::configure(of->gridDim, of->blockDim, of->dynamicSmemBytes);
    raceproof::Together are = raceproof::together(*of);
    raceproof::pending.cooperative = are.cooperative;
    raceproof::pending.cluster = are.cluster;
    function(static_cast<Arguments&&>(arguments)...);
    return cudaError_t(raceproof::last_error);
}

template <class F>
inline cudaError_t cudaLaunchCooperativeKernel(F function, dim3 grid, dim3 block, void** arguments,
                                               size_t dynamic_bytes = 0, cudaStream_t = nullptr) {
    return raceproof::launch(function, grid, block, arguments, dynamic_bytes, true);
}
