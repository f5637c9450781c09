// Arrays and texture objects: made from arrays, linear memory and rows of it, and read in every shape but mipmaps.
//
// Guarantees: reads give what the format, the read mode, the address modes and the filter say, linear filters in
// floating point instead of CUDA's 8 bits of fraction. Reads of textures are not logged: a kernel that writes what it
// also reads through a texture is not looked at. Deliberately absent: texture references, surfaces, mipmaps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "api_memory.hpp"
#include "narrow.hpp"

enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned = 0,
    cudaChannelFormatKindUnsigned = 1,
    cudaChannelFormatKindFloat = 2,
    cudaChannelFormatKindNone = 3
};
struct cudaChannelFormatDesc {
    int x, y, z, w;
    cudaChannelFormatKind f;
};
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaResourceType {
    cudaResourceTypeArray,
    cudaResourceTypeMipmappedArray,
    cudaResourceTypeLinear,
    cudaResourceTypePitch2D
};
enum : unsigned {
    cudaArrayDefault = 0,
    cudaArrayLayered = 1,
    cudaArraySurfaceLoadStore = 2,
    cudaArrayCubemap = 4,
    cudaArrayTextureGather = 8
};

struct cudaArray {
    cudaChannelFormatDesc format;
    cudaExtent extent;   // in elements; 0 where there is no such dimension
    unsigned flags;
    char* data;
};
typedef cudaArray* cudaArray_t;
typedef const cudaArray* cudaArray_const_t;
typedef struct cudaMipmappedArray* cudaMipmappedArray_t;

struct cudaResourceDesc {
    cudaResourceType resType;
    union {
        struct { cudaArray_t array; } array;
        struct { cudaMipmappedArray_t mipmap; } mipmap;
        struct { void* devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
        struct { void* devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
    } res;
};
struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
    cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc;
typedef unsigned long long cudaTextureObject_t;
typedef cudaTextureObject_t CUtexObject;

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}

namespace raceproof {

// The type of a channel: of a vector that of its lanes.
template <class T, class = void> struct Lanes { typedef T element; };
template <class T> struct Lanes<T, std::void_t<decltype(T::x)>> { typedef std::remove_cv_t<decltype(T::x)> element; };

inline size_t element_bytes(const cudaChannelFormatDesc& format) {
    return size_t(format.x + format.y + format.z + format.w) / 8;
}

inline size_t at_least_one(size_t extent) { return extent ? extent : 1; }

// What texture objects are handles of.
struct Texture {
    const char* data;
    cudaChannelFormatDesc format;
    size_t extents[3];   // at least 1
    size_t pitch;
    cudaTextureDesc how;

    // A channel of a texel within the extents.
    double channel(const size_t (&at)[3], int which) const {
        const int bits[4] = {format.x, format.y, format.z, format.w};
        if (!bits[which]) return 0;
        const char* place = data + (at[2] * extents[1] + at[1]) * pitch + at[0] * element_bytes(format);
        for (int before = 0; before < which; before++) place += bits[before] / 8;
        uint64_t raw = 0;
        memcpy(&raw, place, size_t(bits[which]) / 8);
        bool normalizes = how.readMode == cudaReadModeNormalizedFloat && bits[which] <= 16;
        if (format.f == cudaChannelFormatKindFloat) {
            if (bits[which] == 16) return Narrow<5>(Narrow<5>::Raw{uint16_t(raw)});
            float value;
            memcpy(&value, &raw, 4);
            return value;
        }
        if (format.f == cudaChannelFormatKindUnsigned) {
            return normalizes ? double(raw) / double((1u << bits[which]) - 1) : double(raw);
        }
        int64_t value = int64_t(raw << (64 - bits[which])) >> (64 - bits[which]);
        return normalizes ? std::fmax(-1, double(value) / double((1 << (bits[which] - 1)) - 1)) : double(value);
    }

    // Where a texel lies after the address mode; false: outside, the border.
    bool wrapped(long long index, int axis, size_t& out) const {
        auto count = (long long)extents[axis];
        auto mode = how.addressMode[axis];
        if (!how.normalizedCoords && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)) {
            mode = cudaAddressModeClamp;
        }
        if (index < 0 || index >= count) {
            if (mode == cudaAddressModeBorder) return false;
            if (mode == cudaAddressModeClamp) index = index < 0 ? 0 : count - 1;
            if (mode == cudaAddressModeWrap) index = (index % count + count) % count;
            if (mode == cudaAddressModeMirror) {
                index = (index % (2 * count) + 2 * count) % (2 * count);
                if (index >= count) index = 2 * count - 1 - index;
            }
        }
        out = size_t(index);
        return true;
    }

    double texel(const long long (&index)[3], int which) const {
        size_t at[3];
        for (int axis = 0; axis < 3; axis++) {
            if (!wrapped(index[axis], axis, at[axis])) return how.borderColor[which];
        }
        return channel(at, which);
    }

    // The first `axes` coordinates are filtered; those after them are whole numbers.
    double sample(const double (&place)[3], int axes, int which) const {
        bool is_linear = how.filterMode == cudaFilterModeLinear;
        long long low[3];
        double weight[3] = {};
        for (int axis = 0; axis < 3; axis++) {
            bool scales = how.normalizedCoords && axis < axes;
            double exact = scales ? place[axis] * double(extents[axis]) : place[axis];
            if (is_linear && axis < axes) exact -= 0.5;
            if (!(std::fabs(exact) < 1e15)) exact = 0;
            low[axis] = (long long)std::floor(exact);
            if (is_linear && axis < axes) weight[axis] = exact - double(low[axis]);
            // A layer that is not there is the nearest one.
            if (axis >= axes) low[axis] = std::min(std::max(low[axis], 0LL), (long long)extents[axis] - 1);
        }
        double sum = 0;
        for (int corner = 0; corner < 8; corner++) {
            double share = 1;
            long long index[3];
            for (int axis = 0; axis < 3; axis++) {
                bool is_high = corner >> axis & 1;
                share *= is_high ? weight[axis] : 1 - weight[axis];
                index[axis] = low[axis] + is_high;
            }
            if (share != 0) sum += share * texel(index, which);
        }
        return sum;
    }
};

template <class T, class Channel> inline T from_channels(const Channel& channel) {
    typedef typename Lanes<T>::element Element;
    T value{};
    for (size_t lane = 0; lane < sizeof(T) / sizeof(Element) && lane < 4; lane++) {
        auto element = Element(channel(int(lane)));
        memcpy(reinterpret_cast<char*>(&value) + lane * sizeof element, &element, sizeof element);
    }
    return value;
}

template <class T> inline T sampled(cudaTextureObject_t object, int axes, double x, double y = 0, double z = 0) {
    auto texture = reinterpret_cast<const Texture*>(object);
    if (!texture) return T{};
    const double place[3] = {x, y, z};
    return from_channels<T>([&](int lane) { return texture->sample(place, axes, lane); });
}

template <class T> inline T fetched(cudaTextureObject_t object, long long index) {
    auto texture = reinterpret_cast<const Texture*>(object);
    if (!texture || index < 0 || size_t(index) >= texture->extents[0]) return T{};
    const size_t at[3] = {size_t(index), 0, 0};
    return from_channels<T>([&](int lane) { return texture->channel(at, lane); });
}

// Memory behind one side of a copy: rows of an array, or what the pointer says. Positions become bytes.
inline cudaPitchedPtr rows_of(void* array, const cudaPitchedPtr& plain, cudaPos& position) {
    if (!array) return plain;
    auto of = static_cast<cudaArray*>(array);
    size_t bytes = element_bytes(of->format);
    position.x *= bytes;
    return {of->data, at_least_one(of->extent.width) * bytes, at_least_one(of->extent.width) * bytes,
            at_least_one(of->extent.height)};
}

inline cudaError_t copy_with_arrays(const cudaMemcpy3DParms& asked) {
    cudaMemcpy3DParms plain = asked;
    plain.srcPtr = rows_of(asked.srcArray, asked.srcPtr, plain.srcPos);
    plain.dstPtr = rows_of(asked.dstArray, asked.dstPtr, plain.dstPos);
    // With an array the width counts elements.
    auto array = static_cast<cudaArray*>(asked.dstArray ? asked.dstArray : asked.srcArray);
    plain.extent.width *= element_bytes(array->format);
    plain.srcArray = plain.dstArray = nullptr;
    return cudaMemcpy3D(&plain);
}

}  // namespace raceproof

template <class T> inline cudaChannelFormatDesc cudaCreateChannelDesc() {
    typedef typename raceproof::Lanes<T>::element Element;
    int bits = int(8 * sizeof(Element)), lanes = int(sizeof(T) / sizeof(Element));
    auto kind = std::is_floating_point<Element>::value ? cudaChannelFormatKindFloat
              : std::is_signed<Element>::value         ? cudaChannelFormatKindSigned : cudaChannelFormatKindUnsigned;
    return {bits, lanes > 1 ? bits : 0, lanes > 2 ? bits : 0, lanes > 3 ? bits : 0, kind};
}

inline cudaError_t cudaMalloc3DArray(cudaArray_t* out, const cudaChannelFormatDesc* format, cudaExtent extent,
                                     unsigned flags = 0) {
    size_t texels = raceproof::at_least_one(extent.width) * raceproof::at_least_one(extent.height) *
                    raceproof::at_least_one(extent.depth);
    auto data = static_cast<char*>(calloc(texels, raceproof::element_bytes(*format)));
    if (!data) return raceproof::result(cudaErrorMemoryAllocation);
    *out = new cudaArray{*format, extent, flags, data};
    return cudaSuccess;
}
inline cudaError_t cudaMallocArray(cudaArray_t* out, const cudaChannelFormatDesc* format, size_t width,
                                   size_t height = 0, unsigned flags = 0) {
    return cudaMalloc3DArray(out, format, {width, height, 0}, flags);
}
inline cudaError_t cudaFreeArray(cudaArray_t array) {
    if (array) free(array->data);
    delete array;
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                       size_t height, cudaMemcpyKind) {
    size_t row = to->extent.width * raceproof::element_bytes(to->format);
    return raceproof::copy_rows(to->data + y * row + x, row, from, pitch, width, height);
}
inline cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                         size_t width, size_t height, cudaMemcpyKind) {
    size_t row = from->extent.width * raceproof::element_bytes(from->format);
    return raceproof::copy_rows(to, pitch, from->data + y * row + x, row, width, height);
}
inline cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                                     cudaMemcpyKind) {
    size_t row = to->extent.width * raceproof::element_bytes(to->format);
    return raceproof::copy_rows(to->data + y * row + x, bytes, from, bytes, bytes, 1);
}

inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* of,
                                           const cudaTextureDesc* how, const cudaResourceViewDesc* view) {
    auto texture = raceproof::Texture{nullptr, {}, {1, 1, 1}, 0, *how};
    const auto& linear = of->res.linear;
    const auto& rows = of->res.pitch2D;
    if (view || of->resType == cudaResourceTypeMipmappedArray) return raceproof::result(cudaErrorNotSupported);
    if (of->resType == cudaResourceTypeArray) {
        const cudaArray& array = *of->res.array.array;
        size_t width = raceproof::at_least_one(array.extent.width);
        texture.data = array.data;
        texture.format = array.format;
        texture.extents[0] = width;
        texture.extents[1] = raceproof::at_least_one(array.extent.height);
        texture.extents[2] = raceproof::at_least_one(array.extent.depth);
        texture.pitch = width * raceproof::element_bytes(array.format);
    } else if (of->resType == cudaResourceTypeLinear) {
        texture.data = static_cast<const char*>(linear.devPtr);
        texture.format = linear.desc;
        texture.extents[0] = linear.sizeInBytes / raceproof::element_bytes(linear.desc);
        texture.pitch = linear.sizeInBytes;
    } else {
        texture.data = static_cast<const char*>(rows.devPtr);
        texture.format = rows.desc;
        texture.extents[0] = rows.width;
        texture.extents[1] = rows.height;
        texture.pitch = rows.pitchInBytes;
    }
    *out = reinterpret_cast<cudaTextureObject_t>(new raceproof::Texture(texture));
    return cudaSuccess;
}
inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
    delete reinterpret_cast<raceproof::Texture*>(object);
    return cudaSuccess;
}

template <class T> inline T tex1Dfetch(cudaTextureObject_t t, int x) { return raceproof::fetched<T>(t, x); }
template <class T> inline T tex1D(cudaTextureObject_t t, float x) { return raceproof::sampled<T>(t, 1, x); }
template <class T> inline T tex2D(cudaTextureObject_t t, float x, float y) { return raceproof::sampled<T>(t, 2, x, y); }
template <class T> inline T tex3D(cudaTextureObject_t t, float x, float y, float z) {
    return raceproof::sampled<T>(t, 3, x, y, z);
}
template <class T> inline T tex1DLayered(cudaTextureObject_t t, float x, int layer) {
    return raceproof::sampled<T>(t, 1, x, 0, layer);
}
template <class T> inline T tex2DLayered(cudaTextureObject_t t, float x, float y, int layer) {
    return raceproof::sampled<T>(t, 2, x, y, layer);
}
// Without mipmaps there is one level.
template <class T> inline T tex1DLod(cudaTextureObject_t t, float x, float) { return tex1D<T>(t, x); }
template <class T> inline T tex2DLod(cudaTextureObject_t t, float x, float y, float) { return tex2D<T>(t, x, y); }
template <class T> inline T tex3DLod(cudaTextureObject_t t, float x, float y, float z, float) {
    return tex3D<T>(t, x, y, z);
}
// The older forms give their value through a pointer.
template <class T> inline void tex1Dfetch(T* out, cudaTextureObject_t t, int x) { *out = tex1Dfetch<T>(t, x); }
template <class T> inline void tex1D(T* out, cudaTextureObject_t t, float x) { *out = tex1D<T>(t, x); }
template <class T> inline void tex2D(T* out, cudaTextureObject_t t, float x, float y) { *out = tex2D<T>(t, x, y); }
template <class T> inline void tex3D(T* out, cudaTextureObject_t t, float x, float y, float z) {
    *out = tex3D<T>(t, x, y, z);
}
