// As much of OpenCL as this library names, and the functions of the library that is there.
//
// Handles are pointers that only the driver follows. Nothing of OpenCL needs to be installed to compile this.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_bits;
typedef struct cl_context_handle* cl_context;
typedef struct cl_device_handle* cl_device_id;
typedef struct cl_queue_handle* cl_command_queue;
typedef struct cl_program_handle* cl_program;
typedef struct cl_kernel_handle* cl_kernel;
typedef struct cl_mem_handle* cl_mem;
typedef struct cl_event_handle* cl_event;
typedef void (*program_callback)(cl_program, void*);
typedef void (*event_callback)(cl_event, cl_int, void*);

enum {
    CL_SUCCESS = 0,
    CL_INVALID_OPERATION = -59,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005,
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_NAME = 0x102B,
    CL_DEVICE_VERSION = 0x102F,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_QUEUE_CONTEXT = 0x1090,
    CL_QUEUE_DEVICE = 0x1091,
    CL_MEM_FLAGS = 0x1101,
    CL_MEM_SIZE = 0x1102,
    CL_MEM_CONTEXT = 0x1106,
    CL_MEM_ASSOCIATED_MEMOBJECT = 0x1107,
    CL_MEM_OFFSET = 0x1108,
    CL_PROGRAM_CONTEXT = 0x1161,
    CL_PROGRAM_NUM_DEVICES = 0x1162,
    CL_PROGRAM_DEVICES = 0x1163,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_KERNEL_FUNCTION_NAME = 0x1190,
    CL_KERNEL_NUM_ARGS = 0x1191,
    CL_KERNEL_PROGRAM = 0x1194,
    CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
    CL_KERNEL_COMPILE_WORK_GROUP_SIZE = 0x11B1,
    CL_KERNEL_EXEC_INFO_SVM_PTRS = 0x11B6,
    CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM = 0x11B7,
    CL_EVENT_COMMAND_QUEUE = 0x11D0,
    CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
};
#define CL_MEM_READ_WRITE ((cl_bits)1)
#define CL_MEM_READ_ONLY ((cl_bits)4)

// The functions that programs call here instead of in the library.
#define TAKEN_FUNCTIONS(F)                                                                                             \
    F(cl_program, clCreateProgramWithSource, (cl_context, cl_uint, const char**, const size_t*, cl_int*))               \
    F(cl_int, clBuildProgram,                                                                                          \
      (cl_program, cl_uint, const cl_device_id*, const char*, program_callback, void*))                                \
    F(cl_int, clCompileProgram,                                                                                        \
      (cl_program, cl_uint, const cl_device_id*, const char*, cl_uint, const cl_program*, const char**,                \
       program_callback, void*))                                                                                       \
    F(cl_program, clLinkProgram,                                                                                       \
      (cl_context, cl_uint, const cl_device_id*, const char*, cl_uint, const cl_program*, program_callback, void*,     \
       cl_int*))                                                                                                       \
    F(cl_int, clRetainProgram, (cl_program))                                                                           \
    F(cl_int, clReleaseProgram, (cl_program))                                                                          \
    F(cl_kernel, clCreateKernel, (cl_program, const char*, cl_int*))                                                   \
    F(cl_int, clCreateKernelsInProgram, (cl_program, cl_uint, cl_kernel*, cl_uint*))                                   \
    F(cl_kernel, clCloneKernel, (cl_kernel, cl_int*))                                                                  \
    F(cl_int, clRetainKernel, (cl_kernel))                                                                             \
    F(cl_int, clReleaseKernel, (cl_kernel))                                                                            \
    F(cl_int, clSetKernelArg, (cl_kernel, cl_uint, size_t, const void*))                                               \
    F(cl_int, clSetKernelArgSVMPointer, (cl_kernel, cl_uint, const void*))                                             \
    F(cl_int, clSetKernelExecInfo, (cl_kernel, cl_uint, size_t, const void*))                                          \
    F(cl_int, clEnqueueNDRangeKernel,                                                                                  \
      (cl_command_queue, cl_kernel, cl_uint, const size_t*, const size_t*, const size_t*, cl_uint, const cl_event*,    \
       cl_event*))                                                                                                     \
    F(cl_int, clEnqueueTask, (cl_command_queue, cl_kernel, cl_uint, const cl_event*, cl_event*))                       \
    F(cl_mem, clCreateBuffer, (cl_context, cl_bits, size_t, void*, cl_int*))                                           \
    F(cl_int, clEnqueueWriteBuffer,                                                                                    \
      (cl_command_queue, cl_mem, cl_uint, size_t, size_t, const void*, cl_uint, const cl_event*, cl_event*))           \
    F(cl_int, clEnqueueCopyBuffer,                                                                                     \
      (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event*, cl_event*))                 \
    F(cl_int, clEnqueueFillBuffer,                                                                                     \
      (cl_command_queue, cl_mem, const void*, size_t, size_t, size_t, cl_uint, const cl_event*, cl_event*))            \
    F(void*, clEnqueueMapBuffer,                                                                                       \
      (cl_command_queue, cl_mem, cl_uint, cl_bits, size_t, size_t, cl_uint, const cl_event*, cl_event*, cl_int*))      \
    F(cl_event, clCreateUserEvent, (cl_context, cl_int*))                                                              \
    F(cl_int, clSetUserEventStatus, (cl_event, cl_int))                                                                \
    F(cl_int, clSetEventCallback, (cl_event, cl_int, event_callback, void*))

// Those that only this library calls.
#define OTHER_FUNCTIONS(F)                                                                                             \
    F(cl_command_queue, clCreateCommandQueue, (cl_context, cl_device_id, cl_bits, cl_int*))                            \
    F(cl_int, clReleaseCommandQueue, (cl_command_queue))                                                               \
    F(cl_int, clReleaseMemObject, (cl_mem))                                                                            \
    F(cl_int, clEnqueueReadBuffer,                                                                                     \
      (cl_command_queue, cl_mem, cl_uint, size_t, size_t, void*, cl_uint, const cl_event*, cl_event*))                 \
    F(cl_int, clFinish, (cl_command_queue))                                                                            \
    F(cl_int, clFlush, (cl_command_queue))                                                                             \
    F(cl_int, clWaitForEvents, (cl_uint, const cl_event*))                                                             \
    F(cl_int, clReleaseEvent, (cl_event))                                                                              \
    F(cl_int, clGetEventInfo, (cl_event, cl_uint, size_t, void*, size_t*))                                             \
    F(cl_int, clGetMemObjectInfo, (cl_mem, cl_uint, size_t, void*, size_t*))                                           \
    F(cl_int, clGetProgramInfo, (cl_program, cl_uint, size_t, void*, size_t*))                                         \
    F(cl_int, clGetProgramBuildInfo, (cl_program, cl_device_id, cl_uint, size_t, void*, size_t*))                      \
    F(cl_int, clGetKernelInfo, (cl_kernel, cl_uint, size_t, void*, size_t*))                                           \
    F(cl_int, clGetKernelWorkGroupInfo, (cl_kernel, cl_device_id, cl_uint, size_t, void*, size_t*))                    \
    F(cl_int, clGetCommandQueueInfo, (cl_command_queue, cl_uint, size_t, void*, size_t*))                              \
    F(cl_int, clGetDeviceInfo, (cl_device_id, cl_uint, size_t, void*, size_t*))

#define MEMBER(result, name, parameters) result(*name) parameters;
static struct {
    TAKEN_FUNCTIONS(MEMBER)
    OTHER_FUNCTIONS(MEMBER)
} library;
#undef MEMBER

typedef void* (*symbol_finder)(void*, const char*);

// The system's own dlsym: this library has one, too (`host.c`).
static symbol_finder system_dlsym(void) {
    static symbol_finder found;
#ifdef __GLIBC__
    static const char* const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27", "GLIBC_2.0"};
    for (size_t at = 0; !found && at < sizeof versions / sizeof *versions; at++)
        found = (symbol_finder)dlvsym(RTLD_NEXT, "dlsym", versions[at]);
#else
    found = dlsym;
#endif
    return found;
}

// The library of OpenCL among those that are loaded, where nothing is linked with it.
static int look_for_library(struct dl_phdr_info* object, size_t bytes, void* handle) {
    (void)bytes;
    const char* slash = strrchr(object->dlpi_name, '/');
    if (!strstr(slash ? slash + 1 : object->dlpi_name, "libOpenCL")) return 0;
    *(void**)handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    return *(void**)handle != NULL;
}

static void* library_function(const char* name) {
    static void* handle;
    void* found = system_dlsym()(RTLD_NEXT, name);
    if (found) return found;
    if (!handle) dl_iterate_phdr(look_for_library, &handle);
    if (!handle) handle = dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_LOCAL);
    return handle ? system_dlsym()(handle, name) : NULL;
}

static void find_functions(void) {
#define FIND(result, name, parameters) library.name = (result(*) parameters)library_function(#name);
    TAKEN_FUNCTIONS(FIND)
    OTHER_FUNCTIONS(FIND)
#undef FIND
}

// To be called before the first use of `library`.
static void need_library(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_functions);
}
