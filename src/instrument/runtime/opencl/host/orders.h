// A launch whose work-groups and work-items take the ids that raceproof gives them, and what its buffers hold behind it.
//
// The ids are in a buffer of the device (`orders.cl`), of one size in all orders: what the driver does with memory is then the same in
// all runs of a program. A buffer that the program's host may not read is not looked at.
#pragma once

#include "launch.h"

enum {
    ORDER_HEAD = 8,   // words before the orders (`orders.cl`)
};

// Whether raceproof gives ids, in the place of a log.
static int is_ordered(void) {
    const char* value = getenv("RACEPROOF_HOST_ORDERS");
    return value && *value;
}

// Asks for the order of a launch; gives the words of its buffer, which are to be freed.
static uint32_t* ask_for_order(const struct launch* launch, size_t* count, long* dumped) {
    char device[256] = "";
    cl_uint units = 0;
    library.clGetDeviceInfo(launch->device, CL_DEVICE_NAME, sizeof device - 1, device, NULL);
    library.clGetDeviceInfo(launch->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    struct message message = begin_message();
    say(&message, "order\t%lu\t%ld\t%s", launch->number, launch->kernel->unit, launch->kernel->name);
    say(&message, "global\t%zu\t%zu\t%zu", launch->global[0], launch->global[1], launch->global[2]);
    say(&message, "local\t%zu\t%zu\t%zu", launch->local[0], launch->local[1], launch->local[2]);
    say(&message, "units\t%u", units);
    say_text(&message, "device", device);
    say(&message, "%s", "");
    char* answer = send_message(&message) ? answer_to(&message) : NULL;
    unsigned long groups = 0, items = 0;
    int read = 0;
    if (!answer || sscanf(answer, "%lu %lu %ld%n", &groups, &items, dumped, &read) != 3) {
        free(answer);
        return NULL;
    }
    *count = ORDER_HEAD + groups + items;
    uint32_t* words = zeros(*count * sizeof *words);
    words[1] = (uint32_t)groups;
    words[2] = (uint32_t)items;
    for (unsigned axis = 0; axis < 3; axis++) words[4 + axis] = (uint32_t)launch->local[axis];
    char* at = answer + read;
    for (size_t word = ORDER_HEAD; word < *count; word++) words[word] = (uint32_t)strtoul(at, &at, 10);
    free(answer);
    return words;
}

// A number for bytes, for which other bytes have another one in all likelihood.
static uint64_t digest_of(const unsigned char* bytes, size_t count) {
    uint64_t digest = 1;
    for (; count > 0; count -= count < 8 ? count : 8) {
        uint64_t word = 0;
        memcpy(&word, bytes, count < 8 ? count : 8);
        bytes += 8;
        digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
        digest ^= digest >> 29;
    }
    return digest;
}

static void dump(const unsigned char* bytes, size_t count) {
    const char* path = getenv("RACEPROOF_HOST_DUMP");
    FILE* file = path && *path ? fopen(path, "wbe") : NULL;
    if (!file) return;
    if (fwrite(bytes, 1, count, file) != count) perror(path);
    fclose(file);
}

// Says what the buffers hold that the launch may have written.
static void tell_held(const struct launch* launch, long dumped) {
    struct kernel* kernel = launch->kernel;
    struct message message = begin_message();
    say(&message, "ran\t%lu", launch->number);
    for (unsigned each = 0; each < kernel->parameters; each++) {
        const struct argument* argument = &kernel->arguments[each];
        if (!argument->is_written || !argument->whole) continue;
        unsigned char* bytes = malloc(argument->whole_bytes + 8);
        if (bytes && !library.clEnqueueReadBuffer(launch->own_queue, argument->whole, 1, 0, argument->whole_bytes, bytes, 0,
                                                  NULL, NULL)) {
            say(&message, "held\t%u\t%zu\t%016llx", each, argument->whole_bytes,
                (unsigned long long)digest_of(bytes, argument->whole_bytes));
            if ((long)each == dumped) dump(bytes, argument->whole_bytes);
        }
        free(bytes);
    }
    say(&message, "%s", "");
    send_message(&message);
}

// Launches the twin with ids of its own and waits for it. Gives why nothing was launched, or nothing.
static const char* launch_ordered(struct kernel* kernel, const struct request* request) {
    struct launch launch;
    const char* reason = begin_launch(&launch, kernel, request);
    if (reason) return reason;
    cl_event event = NULL;
    int has_run = 0;
    size_t count = 0;
    long dumped = -1;
    uint32_t* words = ask_for_order(&launch, &count, &dumped);
    launch.log = words ? new_buffer(&launch, count * sizeof *words) : NULL;
    reason = words ? "there is no memory for its ids" : "raceproof did not answer";
    if (launch.log && !library.clEnqueueWriteBuffer(launch.own_queue, launch.log, 1, 0, count * sizeof *words, words, 0, NULL, NULL)) {
        enum outcome outcome = run_twin(&launch, &event, 0);
        has_run = outcome != IT_WAS_REFUSED;
        reason = "the driver refuses to launch it with ids of its own";
        if (outcome == IT_RAN) tell_held(&launch, dumped);
    }
    free(words);
    return end_launch(&launch, event, has_run, reason);
}
