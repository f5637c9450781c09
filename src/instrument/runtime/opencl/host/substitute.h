// A text in the place of another one: a program that is to be made of the first is made of the second.
//
// RACEPROOF_HOST_TEXT and RACEPROOF_HOST_REPLACEMENT name files with the two; into the file that RACEPROOF_HOST_TAKEN names goes a line
// for each such program that is built, `built`, or that the driver's compiler refuses, `refused`.
#pragma once

#include <fcntl.h>

#include "objects.h"

// Programs that were made of the other text. Handles are not taken out: at worst a program is told that is none of them.
static cl_program substitutes[256];
static unsigned substitute_count;

// What stands in the file that a variable names, with a zero behind it; nothing if there is none.
static char* contents_of(const char* variable) {
    const char* path = getenv(variable);
    FILE* file = path && *path ? fopen(path, "rbe") : NULL;
    if (!file) return NULL;
    char* text = NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        long bytes = ftell(file);
        rewind(file);
        text = zeros((size_t)(bytes < 0 ? 0 : bytes) + 1);
        text[fread(text, 1, (size_t)(bytes < 0 ? 0 : bytes), file)] = 0;
    }
    fclose(file);
    return text;
}

static int may_substitute(void) {
    const char* path = getenv("RACEPROOF_HOST_TEXT");
    return path && *path;
}

// What a program is to be made of in the place of this text, to be freed; nothing for the text itself.
static char* substitute_for(const char* text) {
    char* wanted = contents_of("RACEPROOF_HOST_TEXT");
    int is_it = wanted && !strcmp(wanted, text);
    free(wanted);
    return is_it ? contents_of("RACEPROOF_HOST_REPLACEMENT") : NULL;
}

static void note_substitute(cl_program handle) {
    lock_objects();
    if (handle && substitute_count < sizeof substitutes / sizeof *substitutes) substitutes[substitute_count++] = handle;
    unlock_objects();
}

// Tells whether the driver builds a program, if it was made of the other text.
static void tell_if_substitute(cl_program handle, cl_int code) {
    const char* path = getenv("RACEPROOF_HOST_TAKEN");
    int is_one = 0;
    lock_objects();
    for (unsigned each = 0; each < substitute_count; each++) is_one |= substitutes[each] == handle;
    unlock_objects();
    if (!is_one || !path) return;
    const char* line = code ? "refused\n" : "built\n";
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return;
    if (write(file, line, strlen(line)) < 0) perror(path);
    close(file);
}
