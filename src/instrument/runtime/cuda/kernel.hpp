// The beginning and the end of a thread of a kernel.
//
// The first thread of a launch tells which kernel it is and what its parameters are; every thread tells its end, so that
// the host knows when it has seen all of a block. Arrays in shared memory are told by every warp that passes their
// declaration, before it can use them.
#pragma once

#include "access.hpp"

namespace raceproof_cuda {

namespace {

template <class T, class U> struct is_same_type { static constexpr bool value = false; };
template <class T> struct is_same_type<T, T> { static constexpr bool value = true; };
template <class T> struct unqualified { typedef T type; };
template <class T> struct unqualified<const T> { typedef T type; };
template <class T> struct unqualified<volatile T> { typedef T type; };
template <class T> struct unqualified<const volatile T> { typedef T type; };
template <class T> struct is_any_pointer { static constexpr bool value = false; };
template <class T> struct is_any_pointer<T*> { static constexpr bool value = true; };
template <class T> struct is_any_pointer<T* __restrict__> { static constexpr bool value = true; };

template <class T> __host__ __device__ constexpr bool is_natural() {
    return is_same_type<T, unsigned char>::value || is_same_type<T, unsigned short>::value ||
           is_same_type<T, unsigned int>::value || is_same_type<T, unsigned long>::value ||
           is_same_type<T, unsigned long long>::value;
}

template <class T> __host__ __device__ constexpr bool is_integer() {
    return is_same_type<T, char>::value || is_same_type<T, signed char>::value || is_same_type<T, short>::value ||
           is_same_type<T, int>::value || is_same_type<T, long>::value || is_same_type<T, long long>::value;
}

template <class T> __host__ __device__ constexpr bool is_floating() {
    return is_same_type<T, float>::value || is_same_type<T, double>::value;
}

// One expression, as C++11 wants it.
template <class T> __host__ __device__ constexpr Form form_of_plain() {
    return is_any_pointer<T>::value             ? Form::pointer
           : is_same_type<T, bool>::value       ? Form::truth
           : is_floating<T>()                   ? Form::floating
           : __is_enum(T) || is_integer<T>()    ? Form::integer
           : is_natural<T>()                    ? Form::natural
                                                : Form::bytes;
}

template <class T> __host__ __device__ constexpr Form form_of() {
    return form_of_plain<typename unqualified<T>::type>();
}

// A parameter: a word with its form and its bytes, then the bytes.
template <class T> __device__ __forceinline__ void tell_parameter(Head* head, u32& words, const T& value) {
    u32 bytes = u32(sizeof(T)) < MOST_PARAMETER_BYTES ? u32(sizeof(T)) : MOST_PARAMETER_BYTES;
    u32 count = 1 + (bytes + 7) / 8;
    // What does not fit is left out.
    if (words + count > HEAD_WORDS) return;
    head->values[words] = u64(form_of<T>()) << 32 | bytes;
    const volatile unsigned char* from = (const volatile unsigned char*)address_of(value);
    for (u32 word = 1; word < count; word++) {
        u64 packed = 0;
        for (u32 byte = 0; byte < 8 && (word - 1) * 8 + byte < bytes; byte++) {
            packed |= u64(from[(word - 1) * 8 + byte]) << (8 * byte);
        }
        head->values[words + word] = packed;
    }
    words += count;
}

// Stands first in every kernel.
class kernel {
public:
    template <class... T> __device__ __forceinline__ explicit kernel(u32 number, const T&... parameters) {
#ifdef RACEPROOF_LOGS
        if (!context.enabled || linear_block() != 0 || linear_thread() != 0) return;
        Head* head = context.head;
        head->unit = context.unit;
        head->kernel = number;
        head->dynamic_bytes = dynamic_bytes();
        head->dynamic_at = dynamic_place();
        u32 words = 0;
        int all[] = {0, (tell_parameter(head, words, parameters), 0)...};
        (void)all;
        head->words = words;
        __threadfence();
        *const_cast<volatile u32*>(&head->ready) = 1;
#else
        (void)number;
#endif
    }
    __device__ __forceinline__ ~kernel() {
#ifdef RACEPROOF_LOGS
        if (context.enabled) log_mark(context, thread_end, 0, 0, 0);
#endif
    }
    kernel(const kernel&) = delete;
};

// An array in shared memory, by its number in the unit.
__device__ __forceinline__ void shared(u32 number, const volatile void* base, u64 bytes) {
#ifdef RACEPROOF_LOGS
    u64 address = 0;
    if (context.enabled && where(base, address) == Where::shared) {
        log_mark(context, shared_extent, number | context.unit << 16, 0, address | bytes << 32);
    }
#else
    (void)number, (void)base, (void)bytes;
#endif
}

}  // namespace

}  // namespace raceproof_cuda
