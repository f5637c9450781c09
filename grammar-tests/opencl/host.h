// What the host programs of the tests have in common: as much of OpenCL as they need, and short words for it.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_bits;
typedef struct handle* handle;

handle clCreateContext(const void*, cl_uint, const handle*, void*, void*, cl_int*);
handle clCreateCommandQueue(handle, handle, cl_bits, cl_int*);
handle clCreateProgramWithSource(handle, cl_uint, const char**, const size_t*, cl_int*);
handle clCreateProgramWithBinary(handle, cl_uint, const handle*, const size_t*, const unsigned char**, cl_int*, cl_int*);
handle clLinkProgram(handle, cl_uint, const handle*, const char*, cl_uint, const handle*, void*, void*, cl_int*);
handle clCreateKernel(handle, const char*, cl_int*);
handle clCreateBuffer(handle, cl_bits, size_t, void*, cl_int*);
handle clCreateSubBuffer(handle, cl_bits, cl_uint, const void*, cl_int*);
handle clCreateUserEvent(handle, cl_int*);
cl_int clGetPlatformIDs(cl_uint, handle*, cl_uint*);
cl_int clGetDeviceIDs(handle, cl_bits, cl_uint, handle*, cl_uint*);
cl_int clBuildProgram(handle, cl_uint, const handle*, const char*, void*, void*);
cl_int clCompileProgram(handle, cl_uint, const handle*, const char*, cl_uint, const handle*, const char**, void*, void*);
cl_int clCreateKernelsInProgram(handle, cl_uint, handle*, cl_uint*);
cl_int clGetProgramInfo(handle, cl_uint, size_t, void*, size_t*);
cl_int clGetKernelInfo(handle, cl_uint, size_t, void*, size_t*);
cl_int clSetKernelArg(handle, cl_uint, size_t, const void*);
cl_int clEnqueueNDRangeKernel(handle, handle, cl_uint, const size_t*, const size_t*, const size_t*, cl_uint, const handle*,
                              handle*);
cl_int clEnqueueTask(handle, handle, cl_uint, const handle*, handle*);
cl_int clEnqueueReadBuffer(handle, handle, cl_uint, size_t, size_t, void*, cl_uint, const handle*, handle*);
cl_int clEnqueueWriteBuffer(handle, handle, cl_uint, size_t, size_t, const void*, cl_uint, const handle*, handle*);
cl_int clSetUserEventStatus(handle, cl_int);
cl_int clSetEventCallback(handle, cl_int, void (*)(handle, cl_int, void*), void*);
cl_int clWaitForEvents(cl_uint, const handle*);
cl_int clFinish(handle);
cl_int clReleaseKernel(handle);
cl_int clReleaseProgram(handle);
cl_int clReleaseMemObject(handle);

static handle device, context, queue;

// Every call has to work.
static void need(cl_int code, int line) {
    if (!code) return;
    printf("error %d in line %d\n", code, line);
    fflush(stdout);
    _Exit(77);
}
#define NEED(call) need(call, __LINE__)

static handle new_context(void) {
    cl_int code;
    handle made = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    NEED(code);
    return made;
}

static handle new_queue(handle of) {
    cl_int code;
    handle made = clCreateCommandQueue(of, device, 0, &code);
    NEED(code);
    return made;
}

static void open_device(void) {
    handle platform;
    NEED(clGetPlatformIDs(1, &platform, NULL));
    NEED(clGetDeviceIDs(platform, 0xFFFFFFFF, 1, &device, NULL));
    context = new_context();
    queue = new_queue(context);
}

static char* text_of(const char* path) {
    static char text[1 << 16];
    FILE* file = fopen(path, "rb");
    if (!file) exit(76);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static handle source(handle of, const char* text) {
    cl_int code;
    handle made = clCreateProgramWithSource(of, 1, &text, NULL, &code);
    NEED(code);
    return made;
}

static handle built(const char* text, const char* options) {
    handle made = source(context, text);
    NEED(clBuildProgram(made, 1, &device, options, NULL, NULL));
    return made;
}

static handle kernel_of(handle program, const char* name) {
    cl_int code;
    handle made = clCreateKernel(program, name, &code);
    NEED(code);
    return made;
}

static handle buffer_in(handle of, size_t bytes) {
    cl_int code;
    handle made = clCreateBuffer(of, 1, bytes, NULL, &code);
    NEED(code);
    return made;
}
static handle buffer(size_t bytes) { return buffer_in(context, bytes); }

static handle part_of(handle whole, size_t from, size_t bytes) {
    size_t region[2] = {from, bytes};
    cl_int code;
    handle made = clCreateSubBuffer(whole, 1, 0x1220, region, &code);
    NEED(code);
    return made;
}

static void give(handle kernel, cl_uint position, handle memory) {
    NEED(clSetKernelArg(kernel, position, sizeof memory, &memory));
}
static void give_int(handle kernel, cl_uint position, int value) {
    NEED(clSetKernelArg(kernel, position, sizeof value, &value));
}

static void launch_in(handle of, handle kernel, size_t global, size_t local) {
    NEED(clEnqueueNDRangeKernel(of, kernel, 1, NULL, &global, local ? &local : NULL, 0, NULL, NULL));
}
static void launch(handle kernel, size_t global, size_t local) { launch_in(queue, kernel, global, local); }

static void fill(handle memory, int count) {
    int values[4096];
    for (int at = 0; at < count; at++) values[at] = at;
    NEED(clEnqueueWriteBuffer(queue, memory, 1, 0, count * sizeof(int), values, 0, NULL, NULL));
}

static void print_in(handle of, handle memory, int count) {
    int values[4096];
    NEED(clEnqueueReadBuffer(of, memory, 1, 0, count * sizeof(int), values, 0, NULL, NULL));
    for (int at = 0; at < count; at++) printf("%d ", values[at]);
    printf("\n");
}
static void print(handle memory, int count) { print_in(queue, memory, count); }
