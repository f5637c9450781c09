// A launch of a kernel's twin, with its log, or what it counts, in a buffer of the device, and what is told of it.
//
// A launch that makes more records than there is room for is run again in slices of its work-groups, of which each run
// logs one; buffers that it may write have what they had before then. The last run is the one that the program sees. What
// prints, or changes variables of its program, is not run again: that would show.
//
// The lock for kernels is not held while a launch is waited for: callbacks that the driver makes meanwhile may need it.
#pragma once

#include "objects.h"

enum {
    HEAD_WORDS = 512,      // of a log, before its records (`raceproof.cl`)
    VARIABLE_WORDS = 200,  // where the sizes of variables begin in it
    VARIABLES = 56,
    RECORD_BYTES = 32,
    LEAST_RECORDS = 1 << 10,
    PIECE_RECORDS = 1 << 16,
    MOST_RUNS = 4096,
    // Of counts (`counts.cl`).
    PARTED_GROUPS = 256,
};

// What the program asks the driver for.
struct request {
    cl_command_queue queue;
    cl_uint dimensions;
    const size_t *offset, *global, *local;
    cl_uint event_count;
    const cl_event* events;
    cl_event* event;
};

// A launch being run.
struct launch {
    struct kernel* kernel;
    const struct request* request;
    cl_context context;
    cl_device_id device;
    cl_command_queue own_queue;
    size_t global[3], local[3];
    uint64_t groups[3];
    // Its log, or its counts.
    cl_mem log;
    uint64_t room;
    // What each buffer held before, by parameter; nothing where that is not needed.
    cl_mem* before;
    int can_run_again;
    unsigned long number;
};

static uint64_t smaller(uint64_t one, uint64_t other) { return one < other ? one : other; }

// The size of a work-group where the program leaves it to the driver: a divisor of each extent, at most as many work-items
// as the driver runs together.
static int choose_local(struct launch* launch) {
    size_t wanted[3] = {0, 0, 0}, most[3] = {1, 1, 1}, left = 1;
    cl_kernel twin = launch->kernel->twin;
    library.clGetKernelWorkGroupInfo(twin, launch->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof wanted, wanted, NULL);
    library.clGetKernelWorkGroupInfo(twin, launch->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof left, &left, NULL);
    library.clGetDeviceInfo(launch->device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof most, most, NULL);
    left = (size_t)smaller(left, 256);
    for (unsigned axis = 0; axis < 3; axis++) {
        size_t extent = wanted[axis];
        if (!extent) {
            extent = (size_t)smaller(smaller(left, most[axis]), launch->global[axis]);
            while (extent > 1 && launch->global[axis] % extent) extent--;
            left /= extent ? extent : 1;
        }
        launch->local[axis] = extent;
    }
    return launch->local[0] && launch->local[1] && launch->local[2];
}

// The extents of a launch; false if it has none that can be logged.
static int find_extents(struct launch* launch) {
    const struct request* request = launch->request;
    if (request->dimensions < 1 || request->dimensions > 3 || !request->global) return 0;
    uint64_t all = 1;
    for (unsigned axis = 0; axis < 3; axis++) {
        launch->global[axis] = axis < request->dimensions ? request->global[axis] : 1;
        launch->local[axis] = request->local && axis < request->dimensions ? request->local[axis] : 1;
    }
    if (!request->local && !choose_local(launch)) return 0;
    for (unsigned axis = 0; axis < 3; axis++) {
        if (!launch->local[axis] || !launch->global[axis]) return 0;
        launch->groups[axis] = (launch->global[axis] + launch->local[axis] - 1) / launch->local[axis];
        if (launch->groups[axis] > UINT32_MAX || launch->local[axis] > UINT32_MAX) return 0;
        all *= launch->groups[axis];
        // A record has 32 bits for its work-group.
        if (all > UINT32_MAX) return 0;
    }
    return 1;
}

static cl_mem new_buffer(struct launch* launch, size_t bytes) {
    cl_int code = 0;
    cl_mem buffer = library.clCreateBuffer(launch->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    return code ? NULL : buffer;
}

// A log as large as the device and RACEPROOF_OPENCL_RECORDS allow.
static int make_log(struct launch* launch) {
    cl_bits largest = 0;
    const char* wanted = getenv("RACEPROOF_OPENCL_RECORDS");
    library.clGetDeviceInfo(launch->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL);
    launch->room = wanted ? strtoull(wanted, NULL, 10) : 1 << 20;
    launch->room = smaller(launch->room, largest / RECORD_BYTES);
    for (; launch->room >= LEAST_RECORDS; launch->room /= 2) {
        launch->log = new_buffer(launch, HEAD_WORDS * 8 + launch->room * RECORD_BYTES);
        if (launch->log) return 1;
    }
    return 0;
}

static int copy(struct launch* launch, cl_mem from, cl_mem to, size_t bytes) {
    return !library.clEnqueueCopyBuffer(launch->own_queue, from, to, 0, 0, bytes, 0, NULL, NULL) &&
           !library.clFinish(launch->own_queue);
}

// Keeps what the launch may write. If there is no room for that it is not run again.
static void keep_contents(struct launch* launch) {
    struct kernel* kernel = launch->kernel;
    launch->before = zeros(kernel->parameters * sizeof *launch->before);
    launch->can_run_again = !kernel->runs_once;
    for (unsigned each = 0; each < kernel->parameters && launch->can_run_again; each++) {
        struct argument* argument = &kernel->arguments[each];
        if (!argument->is_written) continue;
        launch->before[each] = new_buffer(launch, argument->whole_bytes);
        launch->can_run_again = launch->before[each] &&
                                copy(launch, argument->whole, launch->before[each], argument->whole_bytes);
    }
}

static int restore_contents(struct launch* launch) {
    int is_done = 1;
    for (unsigned each = 0; each < launch->kernel->parameters; each++) {
        struct argument* argument = &launch->kernel->arguments[each];
        if (launch->before[each]) is_done &= copy(launch, launch->before[each], argument->whole, argument->whole_bytes);
    }
    return is_done;
}

static void drop_launch(struct launch* launch) {
    for (unsigned each = 0; launch->before && each < launch->kernel->parameters; each++)
        if (launch->before[each]) library.clReleaseMemObject(launch->before[each]);
    free(launch->before);
    if (launch->log) library.clReleaseMemObject(launch->log);
    if (launch->own_queue) library.clReleaseCommandQueue(launch->own_queue);
}

// What the kernel finds in its log at first: `raceproof.cl` says what stands where.
static int write_head(struct launch* launch, uint64_t first, uint64_t last) {
    uint64_t head[HEAD_WORDS] = {0, launch->room, first, last};
    unsigned pointers = 0;
    for (unsigned each = 0; each < launch->kernel->parameters; each++) {
        struct argument* argument = &launch->kernel->arguments[each];
        if (argument->kind == 'v') continue;
        head[8 + 2 * pointers] = 0;
        head[9 + 2 * pointers++] = argument->bytes;
    }
    return !library.clEnqueueWriteBuffer(launch->own_queue, launch->log, 1, 0, sizeof head, head, 0, NULL, NULL);
}

static void tell_launch(const struct launch* launch) {
    char device[256] = "";
    library.clGetDeviceInfo(launch->device, CL_DEVICE_NAME, sizeof device - 1, device, NULL);
    struct message message = begin_message();
    say(&message, "launch\t%lu\t%ld\t%s", launch->number, launch->kernel->unit, launch->kernel->name);
    say(&message, "global\t%zu\t%zu\t%zu", launch->global[0], launch->global[1], launch->global[2]);
    say(&message, "local\t%zu\t%zu\t%zu", launch->local[0], launch->local[1], launch->local[2]);
    say_text(&message, "device", device);
    for (unsigned each = 0; each < launch->kernel->parameters; each++) {
        struct argument* argument = &launch->kernel->arguments[each];
        if (argument->kind == 'l') {
            say(&message, "argument\tlocal\t%zu", argument->bytes);
        } else if (argument->kind == 'v') {
            if (message.file) fputs("argument\tvalue\t", message.file);
            for (size_t at = 0; message.file && argument->value && at < argument->bytes; at++)
                fprintf(message.file, "%02x", ((unsigned char*)argument->value)[at]);
            say(&message, "%s", "");
        } else if (argument->whole) {
            say(&message, "argument\tbuffer\t%llx\t%zu\t%zu", (unsigned long long)(uintptr_t)argument->whole,
                argument->whole_bytes, argument->first_byte);
        } else {
            say(&message, "argument\tnull");
        }
    }
    say(&message, "%s", "");
    send_message(&message);
}

static void tell_end(const struct launch* launch, const char* reason) {
    struct message message = begin_message();
    if (reason) say(&message, "cut\t%lu\t%s", launch->number, reason);
    else say(&message, "finished\t%lu", launch->number);
    say(&message, "%s", "");
    send_message(&message);
}

// Hands on the records of a run.
static int tell_records(struct launch* launch, const uint64_t* head, uint64_t count) {
    static _Thread_local char before[PATH_BYTES];
    wait_until_taken(before);
    struct message message = begin_message();
    say(&message, "records\t%lu", launch->number);
    say(&message, "%s", "");
    add_bytes(&message, head + VARIABLE_WORDS, VARIABLES * 8);
    char* piece = zeros(PIECE_RECORDS * RECORD_BYTES);
    int is_read = 1;
    for (uint64_t at = 0; at < count && is_read; at += PIECE_RECORDS) {
        size_t bytes = (size_t)smaller(PIECE_RECORDS, count - at) * RECORD_BYTES;
        is_read = !library.clEnqueueReadBuffer(launch->own_queue, launch->log, 1, HEAD_WORDS * 8 + at * RECORD_BYTES,
                                               bytes, piece, 0, NULL, NULL);
        if (is_read) add_bytes(&message, piece, bytes);
    }
    free(piece);
    memcpy(before, message.path, sizeof before);
    return send_message(&message) && is_read;
}

// How one run went.
enum outcome { IT_RAN, IT_IS_TOLD, IT_DOES_NOT_FIT, IT_FAILED, IT_WAS_REFUSED };

// Runs the twin with what is in its buffer, and waits for it. The program's event is that of the last run.
static enum outcome run_twin(struct launch* launch, cl_event* event, int is_first) {
    const struct request* request = launch->request;
    struct kernel* kernel = launch->kernel;
    cl_event done = NULL;
    lock_objects();
    cl_int code = library.clSetKernelArg(kernel->twin, kernel->parameters, sizeof(cl_mem), &launch->log);
    if (!code)
        code = library.clEnqueueNDRangeKernel(request->queue, kernel->twin, request->dimensions, request->offset,
                                              request->global, launch->local, request->event_count, request->events,
                                              &done);
    unlock_objects();
    if (code) return IT_WAS_REFUSED;
    if (*event) library.clReleaseEvent(*event);
    *event = done;
    // If it never ends, that is the kernel which was run.
    if (is_first) tell_launch(launch);
    library.clFlush(request->queue);
    return library.clWaitForEvents(1, &done) ? IT_FAILED : IT_RAN;
}

// Runs the twin once, work-groups from `first` to before `last` being logged.
static enum outcome run_once(struct launch* launch, uint64_t first, uint64_t last, cl_event* event, int is_first) {
    if (!write_head(launch, first, last)) return IT_WAS_REFUSED;
    enum outcome outcome = run_twin(launch, event, is_first);
    if (outcome != IT_RAN) return outcome;
    uint64_t head[HEAD_WORDS];
    if (library.clEnqueueReadBuffer(launch->own_queue, launch->log, 1, 0, sizeof head, head, 0, NULL, NULL)) return IT_FAILED;
    uint64_t made = head[0] & UINT32_MAX;
    if (made >= launch->room) return IT_DOES_NOT_FIT;
    return tell_records(launch, head, made) ? IT_IS_TOLD : IT_FAILED;
}

// Runs the twin, in as many runs as its records take. Gives why not all of it was told, or nothing; whether it ran at all is
// `*has_run`.
static const char* run_slices(struct launch* launch, cl_event* event, int* has_run) {
    uint64_t all = launch->groups[0] * launch->groups[1] * launch->groups[2], first = 0, last = all;
    for (unsigned runs = 0; runs < MOST_RUNS; runs++) {
        enum outcome outcome = run_once(launch, first, last, event, runs == 0);
        *has_run = outcome != IT_WAS_REFUSED;
        if (outcome == IT_WAS_REFUSED) return "the driver refuses to launch it instrumented";
        if (outcome == IT_FAILED) return "the device gave no log back";
        if (outcome == IT_IS_TOLD && last == all) return NULL;
        if (outcome == IT_DOES_NOT_FIT) {
            if (launch->kernel->runs_once)
                return "it makes more accesses than fit into its log, and what prints or has variables of the program is "
                       "not run twice";
            if (!launch->can_run_again) return "it makes more accesses than fit into its log, and is not run twice";
            if (last - first <= 1) return "one work-group makes more accesses than fit into its log";
            last = first + (last - first) / 2;
        } else {
            uint64_t width = last - first;
            first = last;
            last = smaller(last + 2 * width, all);
        }
        if (!restore_contents(launch)) return "its buffers could not be set back for a further part of its log";
    }
    return "its log needs too many runs";
}

// Runs the twin once, and hands on what it counts. As run_slices.
static const char* run_counted(struct launch* launch, cl_event* event, int* has_run) {
    size_t items = launch->local[0] * launch->local[1] * launch->local[2], parted_words = 2 + (items + 31) / 32;
    size_t bytes = 4 * (launch->kernel->count_words + PARTED_GROUPS * parted_words);
    uint32_t* words = zeros(bytes);
    words[1] = PARTED_GROUPS;
    words[2] = (uint32_t)parted_words;
    launch->log = new_buffer(launch, bytes);
    const char* reason = "there is no memory for its counts";
    if (launch->log &&
        !library.clEnqueueWriteBuffer(launch->own_queue, launch->log, 1, 0, bytes, words, 0, NULL, NULL)) {
        enum outcome outcome = run_twin(launch, event, 1);
        *has_run = outcome != IT_WAS_REFUSED;
        reason = *has_run ? "the device gave no counts back" : "the driver refuses to launch it instrumented";
        if (outcome == IT_RAN &&
            !library.clEnqueueReadBuffer(launch->own_queue, launch->log, 1, 0, bytes, words, 0, NULL, NULL)) {
            struct message message = begin_message();
            say(&message, "counts\t%lu", launch->number);
            say(&message, "%s", "");
            add_bytes(&message, words, bytes);
            if (send_message(&message)) reason = NULL;
        }
    }
    free(words);
    return reason;
}

// Says that a launch is not logged.
static void tell_plain(const struct kernel* kernel, const char* reason) {
    struct message message = begin_message();
    say(&message, "plain\t%ld\t%s\t%s", kernel->unit, kernel->name, reason ? reason : "");
    say(&message, "%s", "");
    send_message(&message);
}

// What is known of a launch before it. Gives why its twin cannot be launched, or nothing.
static const char* begin_launch(struct launch* launch, struct kernel* kernel, const struct request* request) {
    static unsigned long launches;
    unsigned long number = __atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);
    *launch = (struct launch){.kernel = kernel, .request = request, .number = number};
    for (unsigned each = 0; each < kernel->parameters; each++)
        if (!kernel->arguments[each].kind) return "an argument is missing";
    library.clGetCommandQueueInfo(request->queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &launch->context, NULL);
    library.clGetCommandQueueInfo(request->queue, CL_QUEUE_DEVICE, sizeof(cl_device_id), &launch->device, NULL);
    if (!find_extents(launch)) return "its extents are not followed";
    // What stands before it has to be done before its buffers are looked at; then it does not wait for anything.
    for (cl_uint each = 0; each < request->event_count; each++) {
        cl_command_queue other = NULL;
        library.clGetEventInfo(request->events[each], CL_EVENT_COMMAND_QUEUE, sizeof other, &other, NULL);
        if (other) library.clFlush(other);
    }
    library.clFinish(request->queue);
    if (request->event_count) library.clWaitForEvents(request->event_count, request->events);
    cl_int code = 0;
    launch->own_queue = library.clCreateCommandQueue(launch->context, launch->device, 0, &code);
    return code ? "the device has no queue for what stands beside it" : NULL;
}

// Hands the event of a launch on, if it was launched, and forgets the rest of it.
static const char* end_launch(struct launch* launch, cl_event event, int has_run, const char* reason) {
    drop_launch(launch);
    if (has_run && launch->request->event) *launch->request->event = event;
    else if (event) library.clReleaseEvent(event);
    return has_run ? NULL : reason;
}

// Launches the twin and waits for it. Gives why nothing was launched, or nothing.
static const char* launch_logged(struct kernel* kernel, const struct request* request) {
    struct launch launch;
    const char* reason = begin_launch(&launch, kernel, request);
    if (reason) return reason;
    reason = "there is no memory for its log";
    cl_event event = NULL;
    int has_run = 0;
    if (kernel->count_words) {
        reason = run_counted(&launch, &event, &has_run);
    } else if (make_log(&launch)) {
        keep_contents(&launch);
        reason = run_slices(&launch, &event, &has_run);
    }
    if (event) tell_end(&launch, reason);
    return end_launch(&launch, event, has_run, reason);
}
