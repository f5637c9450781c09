// What the instrumenter puts around every access, on the device. On the host it is nothing.
//
// The memory that an address lies in decides whether it is logged (space.hpp); which allocation it is, the host finds
// out (places.hpp). Everything here belongs to its unit, which has constants of its own.
#pragma once

#include "records.hpp"
#include "space.hpp"

#if defined(__CUDA_ARCH__) && !defined(RACEPROOF_PLAIN)
#define RACEPROOF_LOGS 1
#endif

namespace raceproof_cuda {

namespace {

#ifndef RACEPROOF_CONTEXT
__constant__ Context context;
#endif

template <class T> __host__ __device__ __forceinline__ const volatile void* address_of(T& place) {
    return (const volatile void*)__builtin_addressof(place);
}

// In the output of a compiler this is the only place where accesses branch off. Units are compiled one by one and have
// sites of their own, from 0; where theirs begin in the program's table, the host says when they have all been told.
__host__ __device__ __forceinline__ void touched(u32 site, u32 kind, const volatile void* place, u64 bytes) {
#ifdef RACEPROOF_LOGS
    if (!context.enabled) return;
    u64 address = 0;
    Where in = where(place, address);
    if (in == Where::unshared) return;
    if (in == Where::shared) kind |= in_shared;
    if (bytes <= MOST_BYTES) log_access(context, site + context.first_site, kind, u32(bytes), address);
    else log_wide(context, site + context.first_site, kind, bytes, address);
#else
    (void)site, (void)kind, (void)place, (void)bytes;
#endif
}

template <class T> __host__ __device__ __forceinline__ T& rd(u32 site, T& place) {
    touched(site, reads, address_of(place), sizeof(T));
    return place;
}

template <class T> __host__ __device__ __forceinline__ T& wr(u32 site, T& place) {
    touched(site, writes, address_of(place), sizeof(T));
    return place;
}

template <class T> __host__ __device__ __forceinline__ T& rw(u32 site, T& place) {
    touched(site, reads_and_writes, address_of(place), sizeof(T));
    return place;
}

// What an operator of the user's gives back by value is no object that another thread could know.
template <class T> struct value_type { typedef T type; };
template <class T> struct value_type<T&> {};
template <class T> using value_only = typename value_type<T>::type;
template <class T> __host__ __device__ __forceinline__ value_only<T> rd(u32, T&& value) { return static_cast<T&&>(value); }
template <class T> __host__ __device__ __forceinline__ value_only<T> wr(u32, T&& value) { return static_cast<T&&>(value); }
template <class T> __host__ __device__ __forceinline__ value_only<T> rw(u32, T&& value) { return static_cast<T&&>(value); }

constexpr u32 block_scope = atomic_block;
constexpr u32 device_scope = atomic_device;
constexpr u32 system_scope = atomic_system;

template <class T> __host__ __device__ __forceinline__ T* at(u32 site, T* place, u32 scope) {
    touched(site, scope, place, sizeof(T));
    return place;
}

template <class T> __host__ __device__ __forceinline__ T* rd_range(u32 site, T* place, u64 bytes) {
    if (bytes) touched(site, reads, place, bytes);
    return place;
}

template <class T> __host__ __device__ __forceinline__ T* wr_range(u32 site, T* place, u64 bytes) {
    if (bytes) touched(site, writes, place, bytes);
    return place;
}

}  // namespace

}  // namespace raceproof_cuda
