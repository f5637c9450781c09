// A library that an OpenCL program is started with: programs that it builds are instrumented, launches of their kernels logged.
//
// The dynamic linker finds the functions below before those of the library of OpenCL; a program that loads that library by
// itself is given them by `dlsym`. What the program sees of OpenCL stays what it was, but for the time that launches take:
// each is waited for. `objects.h` says what stands beside the program's own objects, `launch.h` how a launch is logged,
// `messages.h` how raceproof is told. What is said of logs below holds for counts of what is reached, too, where raceproof asks
// for these.
//
// What cannot be logged is launched as the program has it, and told: programs that are not made of source text, or linked of
// several; kernels that are given shared virtual memory; launches while an event waits for the host, and from callbacks,
// where waiting could last for ever.
//
// Where raceproof gives work-groups and work-items their ids, `orders.h` stands in the place of `launch.h`, and no log is kept.
//
// With a text to be replaced (`substitute.h`) and nobody to tell of launches the program runs on its own kernels, of which some are
// mutants.
//
// Deliberately absent: images and what device code enqueues (the instrumented text has them, unlogged, and raceproof names
// them); what two launches do to each other.

#define _GNU_SOURCE
#include "launch.h"
#include "orders.h"
#include "substitute.h"
#include "writes.h"

#define SHOWN __attribute__((visibility("default")))

// Events that the host has made and not set yet.
static int open_events;
// How many callbacks this thread is in.
static _Thread_local int callbacks;

SHOWN cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings, const size_t* lengths,
                                           cl_int* code) {
    need_library();
    int is_watched = directory() || may_substitute();
    if (!is_watched || !count || !strings)
        return library.clCreateProgramWithSource(context, count, strings, lengths, code);
    for (cl_uint each = 0; each < count; each++)
        if (!strings[each]) return library.clCreateProgramWithSource(context, count, strings, lengths, code);
    size_t bytes = 0;
    for (cl_uint each = 0; each < count; each++)
        bytes += lengths && lengths[each] ? lengths[each] : strlen(strings[each]);
    char *text = zeros(bytes + 1), *end = text;
    for (cl_uint each = 0; each < count; each++) {
        size_t length = lengths && lengths[each] ? lengths[each] : strlen(strings[each]);
        memcpy(end, strings[each], length);
        end += length;
    }
    // A text ends at its first zero.
    char* other = may_substitute() ? substitute_for(text) : NULL;
    const char* only = other;
    cl_program handle = other ? library.clCreateProgramWithSource(context, 1, &only, NULL, code)
                              : library.clCreateProgramWithSource(context, count, strings, lengths, code);
    if (other) note_substitute(handle);
    free(other);
    if (handle && directory()) {
        lock_objects();
        add_program(handle)->text = text;
        unlock_objects();
    } else {
        free(text);
    }
    return handle;
}

SHOWN cl_int clBuildProgram(cl_program handle, cl_uint count, const cl_device_id* devices, const char* options,
                            program_callback callback, void* data) {
    need_library();
    lock_objects();
    struct program* program = find_program(handle);
    if (program) note_build(program, options, count, devices);
    unlock_objects();
    // The callback may call what needs the lock.
    cl_int code = library.clBuildProgram(handle, count, devices, options, callback, data);
    tell_if_substitute(handle, code);
    return code;
}

SHOWN cl_int clCompileProgram(cl_program handle, cl_uint count, const cl_device_id* devices, const char* options,
                              cl_uint header_count, const cl_program* headers, const char** names,
                              program_callback callback, void* data) {
    need_library();
    lock_objects();
    struct program* program = find_program(handle);
    if (program) {
        note_build(program, options, count, devices);
        drop_headers(program);
        for (cl_uint each = 0; headers && names && each < header_count; each++) {
            struct program* source = find_program(headers[each]);
            struct header* header = zeros(sizeof *header);
            header->name = copy_of(names[each]);
            header->text = copy_of(source ? source->text : "");
            header->next = program->headers;
            program->headers = header;
        }
    }
    unlock_objects();
    cl_int code =
        library.clCompileProgram(handle, count, devices, options, header_count, headers, names, callback, data);
    tell_if_substitute(handle, code);
    return code;
}

SHOWN cl_program clLinkProgram(cl_context context, cl_uint count, const cl_device_id* devices, const char* options,
                               cl_uint input_count, const cl_program* inputs, program_callback callback, void* data,
                               cl_int* code) {
    need_library();
    cl_program handle =
        library.clLinkProgram(context, count, devices, options, input_count, inputs, callback, data, code);
    if (!handle || !directory()) return handle;
    lock_objects();
    struct program* only = input_count == 1 ? find_program(inputs[0]) : NULL;
    struct program* program = add_program(handle);
    if (only && only->text) {
        program->text = copy_of(only->text);
        note_build(program, only->options, count, devices);
        for (struct header* header = only->headers; header; header = header->next) {
            struct header* same = zeros(sizeof *same);
            *same = (struct header){program->headers, copy_of(header->name), copy_of(header->text)};
            program->headers = same;
        }
    } else {
        program->reason = "its program was linked of several, or of none made of source text";
    }
    unlock_objects();
    return handle;
}

SHOWN cl_int clRetainProgram(cl_program handle) {
    need_library();
    cl_int code = library.clRetainProgram(handle);
    lock_objects();
    struct program* program = code ? NULL : find_program(handle);
    if (program) program->users++;
    unlock_objects();
    return code;
}

SHOWN cl_int clReleaseProgram(cl_program handle) {
    need_library();
    lock_objects();
    struct program* program = find_program(handle);
    if (program && --program->users == 0) drop_program(handle);
    unlock_objects();
    return library.clReleaseProgram(handle);
}

SHOWN cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* code) {
    need_library();
    cl_kernel handle = library.clCreateKernel(program, name, code);
    if (!handle || !directory()) return handle;
    lock_objects();
    add_twin(add_kernel(handle), program);
    unlock_objects();
    return handle;
}

SHOWN cl_int clCreateKernelsInProgram(cl_program program, cl_uint count, cl_kernel* handles, cl_uint* found) {
    need_library();
    cl_uint made = 0;
    cl_int code = library.clCreateKernelsInProgram(program, count, handles, &made);
    if (found) *found = made;
    if (code || !handles || !directory()) return code;
    lock_objects();
    for (cl_uint each = 0; each < made && each < count; each++) add_twin(add_kernel(handles[each]), program);
    unlock_objects();
    return code;
}

SHOWN cl_kernel clCloneKernel(cl_kernel source, cl_int* code) {
    need_library();
    if (!library.clCloneKernel) {
        if (code) *code = CL_INVALID_OPERATION;
        return NULL;
    }
    cl_kernel handle = library.clCloneKernel(source, code);
    if (!handle || !directory()) return handle;
    lock_objects();
    struct kernel *kernel = add_kernel(handle), *model = find_kernel(source);
    if (!model) {
        kernel->reason = "it is the clone of a kernel that is not known";
    } else {
        kernel->unit = model->unit;
        kernel->runs_once = model->runs_once;
        kernel->count_words = model->count_words;
        kernel->reason = model->reason;
        kernel->letters = model->letters ? copy_of(model->letters) : NULL;
        cl_int refused = 0;
        if (model->twin) kernel->twin = library.clCloneKernel(model->twin, &refused);
        if (refused) kernel->twin = NULL;
        for (unsigned each = 0; each < kernel->parameters; each++) {
            struct argument argument = model->arguments[each];
            if (argument.value) argument.value = memcpy(zeros(argument.bytes), argument.value, argument.bytes);
            kernel->arguments[each] = argument;
        }
    }
    unlock_objects();
    return handle;
}

SHOWN cl_int clRetainKernel(cl_kernel handle) {
    need_library();
    cl_int code = library.clRetainKernel(handle);
    lock_objects();
    struct kernel* kernel = code ? NULL : find_kernel(handle);
    if (kernel) kernel->users++;
    unlock_objects();
    return code;
}

SHOWN cl_int clReleaseKernel(cl_kernel handle) {
    need_library();
    lock_objects();
    struct kernel* kernel = find_kernel(handle);
    if (kernel && --kernel->users == 0) drop_kernel(handle);
    unlock_objects();
    return library.clReleaseKernel(handle);
}

SHOWN cl_int clSetKernelArg(cl_kernel handle, cl_uint position, size_t bytes, const void* value) {
    need_library();
    cl_int code = library.clSetKernelArg(handle, position, bytes, value);
    lock_objects();
    struct kernel* kernel = code ? NULL : find_kernel(handle);
    if (kernel) note_argument(kernel, position, bytes, value);
    unlock_objects();
    return code;
}

// From now on the kernel is launched as it is.
static void give_up(cl_kernel handle, const char* reason) {
    lock_objects();
    struct kernel* kernel = find_kernel(handle);
    if (kernel) kernel->reason = reason;
    unlock_objects();
}

SHOWN cl_int clSetKernelArgSVMPointer(cl_kernel handle, cl_uint position, const void* value) {
    need_library();
    if (!library.clSetKernelArgSVMPointer) return CL_INVALID_OPERATION;
    give_up(handle, "it is given shared virtual memory");
    return library.clSetKernelArgSVMPointer(handle, position, value);
}

SHOWN cl_int clSetKernelExecInfo(cl_kernel handle, cl_uint name, size_t bytes, const void* value) {
    need_library();
    if (!library.clSetKernelExecInfo) return CL_INVALID_OPERATION;
    if (name == CL_KERNEL_EXEC_INFO_SVM_PTRS || name == CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM)
        give_up(handle, "it is given shared virtual memory");
    return library.clSetKernelExecInfo(handle, name, bytes, value);
}

// Why a launch is not logged, whatever its kernel; nothing if it can be.
static const char* obstacle(void) {
    if (callbacks) return "it is launched from a callback";
    if (__atomic_load_n(&open_events, __ATOMIC_ACQUIRE) > 0) return "it is launched while an event waits for the host";
    return NULL;
}

SHOWN cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel handle, cl_uint dimensions, const size_t* offset,
                                    const size_t* global, const size_t* local, cl_uint event_count,
                                    const cl_event* events, cl_event* event) {
    need_library();
    struct request request = {queue, dimensions, offset, global, local, event_count, events, event};
    if (!directory())
        return library.clEnqueueNDRangeKernel(queue, handle, dimensions, offset, global, local, event_count, events, event);
    lock_objects();
    struct kernel* kernel = find_kernel(handle);
    if (!kernel) {
        kernel = add_kernel(handle);
        kernel->reason = "its program was not made of source text";
    }
    const char* reason = obstacle() ? obstacle() : kernel->reason;
    begin_launch_of(kernel);
    unlock_objects();
    // Of a text that was not instrumented, raceproof knows the reason.
    if (!reason && !kernel->twin) reason = "";
    if (!reason) reason = is_ordered() ? launch_ordered(kernel, &request) : launch_logged(kernel, &request);
    cl_int code = CL_SUCCESS;
    if (reason) {
        code = library.clEnqueueNDRangeKernel(queue, handle, dimensions, offset, global, local, event_count, events, event);
        // What the driver does not launch at all is no launch.
        if (!code) tell_plain(kernel, reason);
    }
    lock_objects();
    end_launch_of(kernel);
    unlock_objects();
    return code;
}

SHOWN cl_int clEnqueueTask(cl_command_queue queue, cl_kernel handle, cl_uint event_count, const cl_event* events,
                           cl_event* event) {
    const size_t one = 1;
    return clEnqueueNDRangeKernel(queue, handle, 1, NULL, &one, &one, event_count, events, event);
}

SHOWN cl_mem clCreateBuffer(cl_context context, cl_bits flags, size_t bytes, void* host, cl_int* code) {
    need_library();
    cl_mem buffer = library.clCreateBuffer(context, flags, bytes, host, code);
    if (buffer) tell_written(buffer, 0, bytes);
    return buffer;
}

SHOWN cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_uint blocks, size_t first, size_t bytes,
                                  const void* from, cl_uint event_count, const cl_event* events, cl_event* event) {
    need_library();
    cl_int code = library.clEnqueueWriteBuffer(queue, buffer, blocks, first, bytes, from, event_count, events, event);
    if (!code) tell_written(buffer, first, bytes);
    return code;
}

SHOWN cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_first, size_t to_first,
                                 size_t bytes, cl_uint event_count, const cl_event* events, cl_event* event) {
    need_library();
    cl_int code =
        library.clEnqueueCopyBuffer(queue, from, to, from_first, to_first, bytes, event_count, events, event);
    if (!code) tell_written(to, to_first, bytes);
    return code;
}

SHOWN cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern, size_t pattern_bytes,
                                 size_t first, size_t bytes, cl_uint event_count, const cl_event* events,
                                 cl_event* event) {
    need_library();
    if (!library.clEnqueueFillBuffer) return CL_INVALID_OPERATION;
    cl_int code = library.clEnqueueFillBuffer(queue, buffer, pattern, pattern_bytes, first, bytes, event_count, events,
                                              event);
    if (!code) tell_written(buffer, first, bytes);
    return code;
}

SHOWN void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_uint blocks, cl_bits flags, size_t first,
                               size_t bytes, cl_uint event_count, const cl_event* events, cl_event* event,
                               cl_int* code) {
    need_library();
    void* memory =
        library.clEnqueueMapBuffer(queue, buffer, blocks, flags, first, bytes, event_count, events, event, code);
    if (memory && flags & CL_MAP_WRITE_OR_INVALIDATE) tell_written(buffer, first, bytes);
    return memory;
}

SHOWN cl_event clCreateUserEvent(cl_context context, cl_int* code) {
    need_library();
    cl_event event = library.clCreateUserEvent(context, code);
    if (event) __atomic_add_fetch(&open_events, 1, __ATOMIC_RELEASE);
    return event;
}

SHOWN cl_int clSetUserEventStatus(cl_event event, cl_int status) {
    need_library();
    cl_int code = library.clSetUserEventStatus(event, status);
    if (!code) __atomic_sub_fetch(&open_events, 1, __ATOMIC_RELEASE);
    return code;
}

struct callback {
    event_callback called;
    void* data;
};

static void call(cl_event event, cl_int status, void* data) {
    struct callback callback = *(struct callback*)data;
    free(data);
    callbacks++;
    callback.called(event, status, callback.data);
    callbacks--;
}

SHOWN cl_int clSetEventCallback(cl_event event, cl_int status, event_callback called, void* data) {
    need_library();
    if (!called) return library.clSetEventCallback(event, status, called, data);
    struct callback* callback = zeros(sizeof *callback);
    *callback = (struct callback){called, data};
    cl_int code = library.clSetEventCallback(event, status, call, callback);
    if (code) free(callback);
    return code;
}

#ifdef __GLIBC__
// What this library has in the place of a function; nothing if it has none of that name.
static void* taken(const char* name) {
#define COMPARE(result, own, parameters) \
    if (!strcmp(name, #own)) return (void*)own;
    TAKEN_FUNCTIONS(COMPARE)
#undef COMPARE
    return NULL;
}

// The last call has to be a jump: what RTLD_NEXT means depends on who calls.
SHOWN __attribute__((optimize("O2"))) void* dlsym(void* handle, const char* name) {
    symbol_finder finder = system_dlsym();
    if (name[0] == 'c' && name[1] == 'l' && handle != RTLD_NEXT && taken(name)) {
        void* found = finder(handle, name);
        return found ? taken(name) : NULL;
    }
    return finder(handle, name);
}
#endif
