// What the host writes to buffers, which raceproof is told where it asks for that (RACEPROOF_HOST_WRITES): a load of a kernel then
// does not read what a kernel has stored before.
//
// A part that is mapped to be written counts as written when it is mapped, a buffer when it is made: it may have the handle of one
// that was there before.
//
// Deliberately absent: rectangles, and images that are copied to buffers.
#pragma once

#include "messages.h"

enum { CL_MAP_WRITE_OR_INVALIDATE = 2 | 4 };

static void tell_written(cl_mem part, size_t first, size_t bytes) {
    if (!getenv("RACEPROOF_HOST_WRITES") || !directory() || !part) return;
    cl_mem whole = NULL;
    size_t origin = 0, whole_bytes = 0;
    library.clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL);
    library.clGetMemObjectInfo(part, CL_MEM_OFFSET, sizeof origin, &origin, NULL);
    if (!whole) whole = part;
    library.clGetMemObjectInfo(whole, CL_MEM_SIZE, sizeof whole_bytes, &whole_bytes, NULL);
    struct message message = begin_message();
    say(&message, "filled\t%llx\t%zu\t%zu\t%zu", (unsigned long long)(uintptr_t)whole, whole_bytes, origin + first, bytes);
    say(&message, "%s", "");
    send_message(&message);
}
