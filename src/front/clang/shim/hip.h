// What HIP's headers declare beyond CUDA's, under names of their own.
// Its macros (`hipLaunchKernelGGL`, `hipThreadIdx_x` …) are gone before clang reads anything.
#pragma clang force_cuda_host_device begin
// In CUDA these are built into clang.
void __syncthreads();
unsigned long long __ballot64(int);
unsigned __lane_id();
long long wall_clock64();
template <class... A> void __hip_assert(A...);
#define RP_ATOMIC(F) template <class T> T F(T *, typename rp_identity<T>::type);
RP_ATOMIC(unsafeAtomicAdd) RP_ATOMIC(safeAtomicAdd) RP_ATOMIC(unsafeAtomicMin) RP_ATOMIC(unsafeAtomicMax)
RP_ATOMIC(safeAtomicMin) RP_ATOMIC(safeAtomicMax)
#undef RP_ATOMIC
template <class T> void atomicAddNoRet(T *, typename rp_identity<T>::type);
typedef __half hip_bfloat16;
typedef __half __hip_bfloat16;
typedef __half2 __hip_bfloat162;
typedef float2 hipComplex;
typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
hipComplex make_hipComplex(float, float);
hipFloatComplex make_hipFloatComplex(float, float);
hipDoubleComplex make_hipDoubleComplex(double, double);
typedef cudaStream_t hipStream_t;
typedef cudaEvent_t hipEvent_t;
typedef cudaArray_t hipArray_t;
typedef cudaArray *hipArray;
typedef cudaExtent hipExtent;
typedef cudaChannelFormatDesc hipChannelFormatDesc;
typedef cudaTextureObject_t hipTextureObject_t;
typedef cudaSurfaceObject_t hipSurfaceObject_t;
typedef cudaGraph_t hipGraph_t;
typedef cudaGraphExec_t hipGraphExec_t;
typedef int hipDevice_t;
typedef void *hipDeviceptr_t;
typedef struct rp_module *hipModule_t;
typedef struct rp_function *hipFunction_t;
enum hipMemcpyKind {
  hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice, hipMemcpyDefault
};
enum hipError_t {
  hipSuccess, hipErrorInvalidValue, hipErrorOutOfMemory, hipErrorMemoryAllocation, hipErrorNotReady, hipErrorUnknown
};
enum hipFuncCache_t { hipFuncCachePreferNone, hipFuncCachePreferShared, hipFuncCachePreferL1, hipFuncCachePreferEqual };
enum { hipEventDefault, hipEventBlockingSync, hipEventDisableTiming, hipStreamDefault = 0, hipStreamNonBlocking = 1 };
enum { hipHostMallocDefault, hipHostMallocPortable, hipHostMallocMapped, hipHostMallocNonCoherent = 4 };
enum { hipHostRegisterDefault, hipHostRegisterMapped = 2, hipMemAttachGlobal = 1, hipDeviceMapHost = 8 };
struct hipDeviceProp_t : cudaDeviceProp {
  char gcnArchName[256];
  int gcnArch, maxSharedMemoryPerMultiProcessor, isMultiGpuBoard, pciBusID, pciDeviceID;
};
#define RP_API(F) template <class... A> hipError_t F(A &&...);
RP_API(hipMalloc) RP_API(hipHostMalloc) RP_API(hipMallocHost) RP_API(hipMallocManaged) RP_API(hipMallocPitch)
RP_API(hipMallocAsync) RP_API(hipMalloc3D) RP_API(hipHostAlloc) RP_API(hipHostGetDevicePointer) RP_API(hipHostRegister)
RP_API(hipHostUnregister) RP_API(hipFree) RP_API(hipFreeAsync) RP_API(hipHostFree) RP_API(hipFreeHost) RP_API(hipMemcpy)
RP_API(hipMemcpyAsync) RP_API(hipMemcpy2D) RP_API(hipMemcpyHtoD) RP_API(hipMemcpyDtoH) RP_API(hipMemcpyDtoD)
RP_API(hipMemcpyToSymbol) RP_API(hipMemcpyFromSymbol) RP_API(hipMemcpyToSymbolAsync) RP_API(hipMemcpyFromSymbolAsync)
RP_API(hipMemset) RP_API(hipMemsetAsync) RP_API(hipMemset2D) RP_API(hipMemsetD32) RP_API(hipMemGetInfo)
RP_API(hipMemPrefetchAsync) RP_API(hipGetSymbolAddress) RP_API(hipDeviceSynchronize) RP_API(hipDeviceReset)
RP_API(hipSetDevice) RP_API(hipGetDevice) RP_API(hipGetDeviceCount) RP_API(hipGetDeviceProperties)
RP_API(hipSetDeviceFlags) RP_API(hipDeviceGetAttribute) RP_API(hipGetLastError) RP_API(hipPeekAtLastError)
RP_API(hipEventCreate) RP_API(hipEventCreateWithFlags) RP_API(hipEventRecord) RP_API(hipEventSynchronize)
RP_API(hipEventElapsedTime) RP_API(hipEventDestroy) RP_API(hipEventQuery) RP_API(hipStreamCreate)
RP_API(hipStreamCreateWithFlags) RP_API(hipStreamDestroy) RP_API(hipStreamSynchronize) RP_API(hipStreamWaitEvent)
RP_API(hipStreamQuery) RP_API(hipFuncSetCacheConfig) RP_API(hipFuncSetAttribute) RP_API(hipFuncGetAttributes)
RP_API(hipDeviceSetCacheConfig) RP_API(hipDeviceSetLimit) RP_API(hipLaunchCooperativeKernel) RP_API(hipLaunchKernel)
RP_API(hipExtLaunchKernelGGL) RP_API(hipModuleLoad) RP_API(hipModuleGetFunction) RP_API(hipModuleLaunchKernel)
RP_API(hipOccupancyMaxActiveBlocksPerMultiprocessor) RP_API(hipOccupancyMaxPotentialBlockSize)
RP_API(hipDeviceCanAccessPeer) RP_API(hipDeviceEnablePeerAccess) RP_API(hipProfilerStart) RP_API(hipProfilerStop)
RP_API(hipInit) RP_API(hipDriverGetVersion) RP_API(hipRuntimeGetVersion)
#undef RP_API
const char *hipGetErrorString(hipError_t);
const char *hipGetErrorName(hipError_t);
enum hipTextureReadMode { hipReadModeElementType, hipReadModeNormalizedFloat };
enum { hipTextureType1D = 1, hipTextureType2D, hipTextureType3D };
typedef curandState hiprandState;
typedef curandState hiprandState_t;
typedef curandState hiprandStateXORWOW_t;
template <class... A> void hiprand_init(A...);
template <class T> unsigned hiprand(T *);
template <class T> float hiprand_uniform(T *);
template <class T> double hiprand_uniform_double(T *);
template <class T> float hiprand_normal(T *);
extern "C" unsigned __hipPushCallConfiguration(dim3, dim3, size_t = 0, void * = 0);
extern "C" unsigned hipConfigureCall(dim3, dim3, size_t = 0, void * = 0);
#pragma clang force_cuda_host_device end
