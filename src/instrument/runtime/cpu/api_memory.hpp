// Memory of the CUDA runtime API: allocations, copies, fills and symbols.
//
// A copy that leaves the allocation that it begins in is refused as the driver refuses it (cudaErrorInvalidValue).
#pragma once

#include "api_types.hpp"

namespace raceproof {

inline cudaError_t allocate(void** out, size_t bytes, Space space) {
    if (!out) return result(cudaErrorInvalidValue);
    *out = nullptr;
    if (bytes == 0) return cudaSuccess;
    void* memory = bytes > (size_t(1) << 46) ? nullptr : aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!memory) return result(cudaErrorMemoryAllocation);
    memset(memory, 0, bytes);   // the same run gives the same results, whatever was there before
    Memory::the().add(memory, bytes, space);
    *out = memory;
    return cudaSuccess;
}

inline cudaError_t release(void* memory) {
    if (!memory) return cudaSuccess;
    if (!Memory::the().remove(memory)) return result(cudaErrorInvalidValue);
    free(memory);
    return cudaSuccess;
}

// Whether `bytes` from `memory` on stay in the allocation that it points into, if it points into one.
inline bool fits(const void* memory, size_t bytes) {
    Allocation allocation;
    if (!Memory::the().find(memory, allocation)) return true;
    return reinterpret_cast<uintptr_t>(memory) - allocation.base + bytes <= allocation.bytes;
}

inline cudaError_t copy(void* to, const void* from, size_t bytes) {
    if (bytes == 0) return cudaSuccess;
    if (!to || !from || !fits(to, bytes) || !fits(from, bytes)) return result(cudaErrorInvalidValue);
    memmove(to, from, bytes);
    Memory::the().host_wrote(to, bytes);
    return cudaSuccess;
}

inline cudaError_t copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows) {
    if (width > to_pitch || width > from_pitch) return result(cudaErrorInvalidPitchValue);
    for (size_t row = 0; row < rows; row++) {
        cudaError_t error = copy(static_cast<char*>(to) + row * to_pitch,
                                 static_cast<const char*>(from) + row * from_pitch, width);
        if (error) return error;
    }
    return cudaSuccess;
}

// The address of a symbol that was named, or that is pointed to.
template <class T> inline void* symbol_address(const T& named, size_t* bytes = nullptr) {
    const void* place = &reinterpret_cast<const char&>(named);
    Allocation allocation;
    bool is_symbol = Memory::the().find(place, allocation);
    if constexpr (std::is_pointer<T>::value) {
        if (!is_symbol) {
            place = const_cast<const void*>(static_cast<const volatile void*>(named));
            is_symbol = Memory::the().find(place, allocation);
        }
    }
    if (bytes) *bytes = is_symbol ? allocation.bytes : sizeof(T);
    return is_symbol ? const_cast<void*>(place) : nullptr;
}

}  // namespace raceproof

template <class T> inline cudaError_t cudaMalloc(T** out, size_t bytes) {
    return raceproof::allocate(reinterpret_cast<void**>(out), bytes, raceproof::Space::global);
}
template <class T> inline cudaError_t cudaMallocAsync(T** out, size_t bytes, cudaStream_t) { return cudaMalloc(out, bytes); }
template <class T> inline cudaError_t cudaMallocManaged(T** out, size_t bytes, unsigned = cudaMemAttachGlobal) {
    return raceproof::allocate(reinterpret_cast<void**>(out), bytes, raceproof::Space::managed);
}
template <class T> inline cudaError_t cudaMallocHost(T** out, size_t bytes, unsigned = cudaHostAllocDefault) {
    return raceproof::allocate(reinterpret_cast<void**>(out), bytes, raceproof::Space::managed);
}
template <class T> inline cudaError_t cudaHostAlloc(T** out, size_t bytes, unsigned) { return cudaMallocHost(out, bytes); }
template <class T> inline cudaError_t cudaMallocPitch(T** out, size_t* pitch, size_t width, size_t height) {
    *pitch = (width + 511) / 512 * 512;
    return cudaMalloc(out, *pitch * height);
}
inline cudaError_t cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
    out->xsize = extent.width;
    out->ysize = extent.height;
    return cudaMallocPitch(&out->ptr, &out->pitch, extent.width, extent.height * extent.depth);
}
inline cudaError_t cudaFree(void* memory) { return raceproof::release(memory); }
inline cudaError_t cudaFreeAsync(void* memory, cudaStream_t) { return raceproof::release(memory); }
inline cudaError_t cudaFreeHost(void* memory) { return raceproof::release(memory); }

inline cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned) {
    raceproof::Memory::the().add(memory, bytes, raceproof::Space::managed);
    return cudaSuccess;
}
inline cudaError_t cudaHostUnregister(void* memory) {
    return raceproof::result(raceproof::Memory::the().remove(memory) ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}
template <class T> inline cudaError_t cudaHostGetDevicePointer(T** out, void* host, unsigned) {
    *out = static_cast<T*>(host);
    return cudaSuccess;
}
inline cudaError_t cudaHostGetFlags(unsigned* flags, void*) {
    *flags = cudaHostAllocMapped;
    return cudaSuccess;
}

inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) { return raceproof::copy(to, from, bytes); }
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t = nullptr) {
    return raceproof::copy(to, from, bytes);
}
inline cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) { return raceproof::copy(to, from, bytes); }
inline cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t = nullptr) {
    return raceproof::copy(to, from, bytes);
}
inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                size_t height, cudaMemcpyKind) {
    return raceproof::copy_rows(to, to_pitch, from, from_pitch, width, height);
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                     size_t height, cudaMemcpyKind, cudaStream_t = nullptr) {
    return raceproof::copy_rows(to, to_pitch, from, from_pitch, width, height);
}
namespace raceproof { inline cudaError_t copy_with_arrays(const cudaMemcpy3DParms& asked); }
inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
    if (p->srcArray || p->dstArray) return raceproof::copy_with_arrays(*p);
    auto at = [](const cudaPitchedPtr& base, const cudaPos& pos, size_t z) {
        return static_cast<char*>(base.ptr) + ((pos.z + z) * base.ysize + pos.y) * base.pitch + pos.x;
    };
    for (size_t z = 0; z < p->extent.depth; z++) {
        cudaError_t error = raceproof::copy_rows(at(p->dstPtr, p->dstPos, z), p->dstPtr.pitch, at(p->srcPtr, p->srcPos, z),
                                                 p->srcPtr.pitch, p->extent.width, p->extent.height);
        if (error) return error;
    }
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t = nullptr) { return cudaMemcpy3D(p); }

inline cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
    if (bytes == 0) return cudaSuccess;
    if (!memory || !raceproof::fits(memory, bytes)) return raceproof::result(cudaErrorInvalidValue);
    memset(memory, value, bytes);
    raceproof::Memory::the().host_wrote(memory, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t = nullptr) {
    return cudaMemset(memory, value, bytes);
}
inline cudaError_t cudaMemset2D(void* memory, size_t pitch, int value, size_t width, size_t height) {
    for (size_t row = 0; row < height; row++) {
        if (cudaError_t error = cudaMemset(static_cast<char*>(memory) + row * pitch, value, width)) return error;
    }
    return cudaSuccess;
}
inline cudaError_t cudaMemset2DAsync(void* memory, size_t pitch, int value, size_t width, size_t height, cudaStream_t = nullptr) {
    return cudaMemset2D(memory, pitch, value, width, height);
}

template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind = cudaMemcpyHostToDevice) {
    auto to = static_cast<char*>(raceproof::symbol_address(symbol));
    return to ? raceproof::copy(to + offset, from, bytes) : raceproof::result(cudaErrorInvalidSymbol);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t = nullptr) {
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                        cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    auto from = static_cast<char*>(raceproof::symbol_address(symbol));
    return from ? raceproof::copy(to, from + offset, bytes) : raceproof::result(cudaErrorInvalidSymbol);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t = nullptr) {
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
template <class P, class T> inline cudaError_t cudaGetSymbolAddress(P** out, const T& symbol) {
    *out = static_cast<P*>(raceproof::symbol_address(symbol));
    return raceproof::result(*out ? cudaSuccess : cudaErrorInvalidSymbol);
}
template <class T> inline cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
    return raceproof::result(raceproof::symbol_address(symbol, bytes) ? cudaSuccess : cudaErrorInvalidSymbol);
}

inline cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
    *total = size_t(8) << 30;
    *available = size_t(6) << 30;
    return cudaSuccess;
}
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    raceproof::Allocation allocation;
    bool is_known = raceproof::Memory::the().find(pointer, allocation);
    attributes->type = !is_known                                        ? cudaMemoryTypeUnregistered
                       : allocation.space == raceproof::Space::managed ? cudaMemoryTypeManaged
                                                                        : cudaMemoryTypeDevice;
    attributes->device = 0;
    attributes->devicePointer = attributes->hostPointer = const_cast<void*>(pointer);
    return cudaSuccess;
}
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = nullptr) { return cudaSuccess; }
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned = 0, cudaStream_t = nullptr) { return cudaSuccess; }
inline cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) { return cudaSuccess; }
inline cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t = 0, unsigned = cudaMemAttachSingle) { return cudaSuccess; }

// Pools are names: whatever is allocated from one is allocated as always.
struct CUmemPoolHandle_st { uint64_t attributes[16]; };
typedef CUmemPoolHandle_st* cudaMemPool_t;
enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1, cudaMemPoolReuseAllowOpportunistic = 2,
    cudaMemPoolReuseAllowInternalDependencies = 3, cudaMemPoolAttrReleaseThreshold = 4,
    cudaMemPoolAttrReservedMemCurrent = 5, cudaMemPoolAttrReservedMemHigh = 6, cudaMemPoolAttrUsedMemCurrent = 7,
    cudaMemPoolAttrUsedMemHigh = 8
};
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* out, int) {
    static CUmemPoolHandle_st pool{};
    return *out = &pool, cudaSuccess;
}
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* out, int device) { return cudaDeviceGetDefaultMemPool(out, device); }
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    memcpy(&pool->attributes[attribute], value, sizeof(uint64_t));
    return cudaSuccess;
}
inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    memcpy(value, &pool->attributes[attribute], sizeof(uint64_t));
    return cudaSuccess;
}
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
template <class T> inline cudaError_t cudaMallocFromPoolAsync(T** out, size_t bytes, cudaMemPool_t, cudaStream_t) {
    return cudaMalloc(out, bytes);
}
