// As much of CUDA's driver API as programs of the runtime API name: its types and its errors.
#pragma once

#include "raceproof.hpp"

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_NOT_SUPPORTED = 801 };
inline CUresult cuGetErrorName(CUresult error, const char** name) {
    *name = error == CUDA_SUCCESS ? "CUDA_SUCCESS" : error == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR_NOT_SUPPORTED";
    return CUDA_SUCCESS;
}
