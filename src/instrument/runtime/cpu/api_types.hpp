// Types and constants of the CUDA runtime API for host code.
#pragma once

#include "intrinsics.hpp"

// name, number, what it says
#define RACEPROOF_ERRORS(error)                                                                 \
    error(cudaSuccess, 0, "no error")                                                           \
    error(cudaErrorInvalidValue, 1, "invalid argument")                                         \
    error(cudaErrorMemoryAllocation, 2, "out of memory")                                        \
    error(cudaErrorInitializationError, 3, "initialization error")                              \
    error(cudaErrorCudartUnloading, 4, "driver shutting down")                                  \
    error(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                   \
    error(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                             \
    error(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                  \
    error(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                              \
    error(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                          \
    error(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")             \
    error(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
    error(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                         \
    error(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                \
    error(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                        \
    error(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                       \
    error(cudaErrorNotReady, 600, "device not ready")                                           \
    error(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")             \
    error(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")        \
    error(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")               \
    error(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")             \
    error(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")               \
    error(cudaErrorAssert, 710, "device-side assert triggered")                                 \
    error(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
    error(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
    error(cudaErrorLaunchFailure, 719, "unspecified launch failure")                            \
    error(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")     \
    error(cudaErrorNotPermitted, 800, "operation not permitted")                                \
    error(cudaErrorNotSupported, 801, "operation not supported")                                \
    error(cudaErrorInvalidClusterSize, 912, "cluster misconfiguration")                         \
    error(cudaErrorUnknown, 999, "unknown error")

enum cudaError {
#define RACEPROOF_ENUMERATOR(name, number, text) name = number,
    RACEPROOF_ERRORS(RACEPROOF_ENUMERATOR)
#undef RACEPROOF_ENUMERATOR
};
typedef enum cudaError cudaError_t;

inline const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define RACEPROOF_NAME(name, number, text) \
    case name: return #name;
        RACEPROOF_ERRORS(RACEPROOF_NAME)
#undef RACEPROOF_NAME
    }
    return "unrecognized error code";
}
inline const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define RACEPROOF_TEXT(name, number, text) \
    case name: return text;
        RACEPROOF_ERRORS(RACEPROOF_TEXT)
#undef RACEPROOF_TEXT
    }
    return "unrecognized error code";
}

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void* ptr; size_t pitch, xsize, ysize; };
struct cudaMemcpy3DParms {
    void* srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    void* dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
};
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t x, size_t y) { return {pointer, pitch, x, y}; }

// Streams and events are handles; every stream is in order with all others.
struct CUstream_st { unsigned flags; int priority; };
struct CUevent_st { double milliseconds; bool is_recorded; };
typedef CUstream_st* cudaStream_t;
typedef CUevent_st* cudaEvent_t;
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void*);
typedef void (*cudaHostFn_t)(void*);
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(0x1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(0x2))

enum : unsigned {
    cudaStreamDefault = 0, cudaStreamNonBlocking = 1,
    cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaEventInterprocess = 4,
    cudaEventRecordDefault = 0, cudaEventWaitDefault = 0,
    cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4,
    cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2,
    cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4,
    cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2,
    cudaDeviceScheduleBlockingSync = 4, cudaDeviceBlockingSync = 4, cudaDeviceMapHost = 8, cudaDeviceLmemResizeToMax = 16,
    cudaOccupancyDefault = 0
};
constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;

enum cudaComputeMode {
    cudaComputeModeDefault = 0, cudaComputeModeExclusive = 1, cudaComputeModeProhibited = 2,
    cudaComputeModeExclusiveProcess = 3
};
enum cudaFuncCache {
    cudaFuncCachePreferNone = 0, cudaFuncCachePreferShared = 1, cudaFuncCachePreferL1 = 2, cudaFuncCachePreferEqual = 3
};
enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault = 0, cudaSharedMemBankSizeFourByte = 1, cudaSharedMemBankSizeEightByte = 2
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9,
    cudaFuncAttributeNonPortableClusterSizeAllowed = 14
};
enum cudaSharedCarveout {
    cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxL1 = 0, cudaSharedmemCarveoutMaxShared = 100
};
enum cudaLimit {
    cudaLimitStackSize = 0, cudaLimitPrintfFifoSize = 1, cudaLimitMallocHeapSize = 2,
    cudaLimitDevRuntimeSyncDepth = 3, cudaLimitDevRuntimePendingLaunchCount = 4
};
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly = 2, cudaMemAdviseSetPreferredLocation = 3,
    cudaMemAdviseUnsetPreferredLocation = 4, cudaMemAdviseSetAccessedBy = 5, cudaMemAdviseUnsetAccessedBy = 6
};
enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0, cudaMemoryTypeHost = 1, cudaMemoryTypeDevice = 2, cudaMemoryTypeManaged = 3
};
enum cudaMemLocationType {
    cudaMemLocationTypeInvalid = 0, cudaMemLocationTypeDevice = 1, cudaMemLocationTypeHost = 2,
    cudaMemLocationTypeHostNuma = 3
};
struct cudaMemLocation { cudaMemLocationType type; int id; };
struct cudaPointerAttributes { cudaMemoryType type; int device; void* devicePointer; void* hostPointer; };

// name, number, the field of the properties or the value that it stands for
#define RACEPROOF_ATTRIBUTES(attribute)                                                         \
    attribute(cudaDevAttrMaxThreadsPerBlock, 1, maxThreadsPerBlock)                             \
    attribute(cudaDevAttrMaxBlockDimX, 2, maxThreadsDim[0])                                     \
    attribute(cudaDevAttrMaxBlockDimY, 3, maxThreadsDim[1])                                     \
    attribute(cudaDevAttrMaxBlockDimZ, 4, maxThreadsDim[2])                                     \
    attribute(cudaDevAttrMaxGridDimX, 5, maxGridSize[0])                                        \
    attribute(cudaDevAttrMaxGridDimY, 6, maxGridSize[1])                                        \
    attribute(cudaDevAttrMaxGridDimZ, 7, maxGridSize[2])                                        \
    attribute(cudaDevAttrMaxSharedMemoryPerBlock, 8, sharedMemPerBlock)                         \
    attribute(cudaDevAttrTotalConstantMemory, 9, totalConstMem)                                 \
    attribute(cudaDevAttrWarpSize, 10, warpSize)                                                \
    attribute(cudaDevAttrMaxPitch, 11, memPitch)                                                \
    attribute(cudaDevAttrMaxRegistersPerBlock, 12, regsPerBlock)                                \
    attribute(cudaDevAttrClockRate, 13, clockRate)                                              \
    attribute(cudaDevAttrTextureAlignment, 14, textureAlignment)                                \
    attribute(cudaDevAttrGpuOverlap, 15, deviceOverlap)                                         \
    attribute(cudaDevAttrMultiProcessorCount, 16, multiProcessorCount)                          \
    attribute(cudaDevAttrKernelExecTimeout, 17, kernelExecTimeoutEnabled)                       \
    attribute(cudaDevAttrIntegrated, 18, integrated)                                            \
    attribute(cudaDevAttrCanMapHostMemory, 19, canMapHostMemory)                                \
    attribute(cudaDevAttrComputeMode, 20, computeMode)                                          \
    attribute(cudaDevAttrConcurrentKernels, 31, concurrentKernels)                              \
    attribute(cudaDevAttrMemoryClockRate, 36, memoryClockRate)                                  \
    attribute(cudaDevAttrGlobalMemoryBusWidth, 37, memoryBusWidth)                              \
    attribute(cudaDevAttrL2CacheSize, 38, l2CacheSize)                                          \
    attribute(cudaDevAttrMaxThreadsPerMultiProcessor, 39, maxThreadsPerMultiProcessor)          \
    attribute(cudaDevAttrAsyncEngineCount, 40, asyncEngineCount)                                \
    attribute(cudaDevAttrUnifiedAddressing, 41, unifiedAddressing)                              \
    attribute(cudaDevAttrComputeCapabilityMajor, 75, major)                                     \
    attribute(cudaDevAttrComputeCapabilityMinor, 76, minor)                                     \
    attribute(cudaDevAttrStreamPrioritiesSupported, 78, streamPrioritiesSupported)              \
    attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, sharedMemPerMultiprocessor)      \
    attribute(cudaDevAttrManagedMemory, 83, managedMemory)                                      \
    attribute(cudaDevAttrPageableMemoryAccess, 88, pageableMemoryAccess)                        \
    attribute(cudaDevAttrConcurrentManagedAccess, 89, concurrentManagedAccess)                  \
    attribute(cudaDevAttrCooperativeLaunch, 95, cooperativeLaunch)                              \
    attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, sharedMemPerBlockOptin)              \
    attribute(cudaDevAttrMemoryPoolsSupported, 115, memoryPoolsSupported)

enum cudaDeviceAttr {
#define RACEPROOF_ENUMERATOR(name, number, field) name = number,
    RACEPROOF_ATTRIBUTES(RACEPROOF_ENUMERATOR)
#undef RACEPROOF_ENUMERATOR
};

struct cudaUUID_t { char bytes[16]; };
struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    size_t totalGlobalMem, sharedMemPerBlock, memPitch, totalConstMem, textureAlignment, surfaceAlignment;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount;
    int unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, singleToDoublePrecisionPerfRatio;
    int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, cooperativeLaunch;
    int cooperativeMultiDeviceLaunch, maxBlocksPerMultiProcessor, hostRegisterSupported, memoryPoolsSupported;
};

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes;
};

namespace raceproof {
inline cudaError_t result(int error) { return cudaError_t(failed(error)); }
}  // namespace raceproof

inline cudaError_t cudaGetLastError() {
    int error = raceproof::last_error;
    raceproof::last_error = 0;
    return cudaError_t(error);
}
inline cudaError_t cudaPeekAtLastError() { return cudaError_t(raceproof::last_error); }
