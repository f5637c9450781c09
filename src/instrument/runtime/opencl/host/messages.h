// What this library tells raceproof, and what it asks: files in the directory that RACEPROOF_HOST_DIRECTORY names.
//
// A message is a file PROCESS-NUMBER, whose numbers count from 0 in each process. It begins with lines whose words are
// separated by tabs, the first of which says what kind it is; an empty line ends them, and bytes may follow. It is written
// under another name, and has its own when it is whole. raceproof takes messages in their order and removes them. An answer
// is a file of the same name with `.answer` behind it.
//
//   build        a program is to be instrumented; options, directory, executable, extensions and version of the device, headers with
//                their bytes; the text, and the headers' texts follow. Answer: `unit` and its number, or -1, whether its kernels
//                run once only, and how many words they count in, 0 if they log; a line `kernel` for each, with its name and a letter for each parameter (g, c, l: pointers to global, constant,
//                local memory; v: anything else); then the instrumented text.
//   refused      a unit that the device's compiler does not take; what it says follows
//   launch       the launch of this number begins: unit, kernel, extents, arguments, device
//   records      of a launch: words 200 to 255 of the head of its log and the records (`raceproof.cl`)
//   counts       of a launch: the buffer that its kernel counted in (`counts.cl`)
//   finished     a launch is over, and all of it was told
//   cut          a launch is over, and why not all of it was told
//   filled       the host writes to a buffer, where raceproof asks for that: what the process calls it, its bytes; the first byte that is
//                written, and how many
//   order        which ids the work-groups and work-items of the launch of this number take is asked for: unit, kernel, extents, device
//                and how many compute units that has. Answer: how many work-groups and work-items there are in an order of their own,
//                the parameter whose buffer is to be written to RACEPROOF_HOST_DUMP behind the launch, or -1; then their linear numbers
//   ran          such a launch is over; a line `held` for each buffer that it may write: parameter, bytes, and a number for what it holds
//   plain        a launch of which nothing is told, and why; an unknown unit is -1
#pragma once

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "opencl.h"

enum { PATH_BYTES = 4096 };

struct message {
    FILE* file;
    char path[PATH_BYTES];
};

static pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER;
static unsigned long sent;

// The directory, or nothing: then nothing is done here but what the program asks the driver for.
static const char* directory(void) {
    const char* path = getenv("RACEPROOF_HOST_DIRECTORY");
    return path && *path && strlen(path) < PATH_BYTES - 64 ? path : NULL;
}

static void nap(void) {
    struct timespec time = {0, 500000};
    nanosleep(&time, NULL);
}

// Whether whoever reads the messages is still there.
static int has_reader(void) {
    const char* process = getenv("RACEPROOF_HOST_READER");
    return process && (kill((pid_t)atol(process), 0) == 0 || errno == EPERM);
}

// Begins a message; whoever does so has to send it. Nothing is written if there is nobody to read it.
static struct message begin_message(void) {
    static pid_t process;
    struct message message = {NULL, ""};
    pthread_mutex_lock(&sending);
    if (!directory()) return message;
    // A process that was forked has numbers of its own.
    if (process != getpid()) {
        process = getpid();
        sent = 0;
    }
    snprintf(message.path, sizeof message.path, "%s/%ld-%08lu", directory(), (long)process, sent);
    char part[PATH_BYTES + 8];
    snprintf(part, sizeof part, "%s.part", message.path);
    message.file = fopen(part, "wbe");
    if (message.file) sent++;
    return message;
}

// A line of words; tabs in `form` separate them.
__attribute__((format(printf, 2, 3))) static void say(struct message* message, const char* form, ...) {
    if (!message->file) return;
    va_list words;
    va_start(words, form);
    vfprintf(message->file, form, words);
    va_end(words);
    fputc('\n', message->file);
}

// A line of two words, of which the second may have anything in it.
static void say_text(struct message* message, const char* word, const char* text) {
    if (!message->file) return;
    fprintf(message->file, "%s\t", word);
    for (; *text; text++) fputc(*text == '\n' || *text == '\t' || *text == '\r' ? ' ' : *text, message->file);
    fputc('\n', message->file);
}

static void add_bytes(struct message* message, const void* bytes, size_t count) {
    if (message->file && count) fwrite(bytes, 1, count, message->file);
}

// Sends a message; false if it could not be written.
static int send_message(struct message* message) {
    int is_whole = 0;
    if (message->file) {
        char part[PATH_BYTES + 8];
        snprintf(part, sizeof part, "%s.part", message->path);
        is_whole = !ferror(message->file);
        is_whole = fclose(message->file) == 0 && is_whole;
        is_whole = is_whole && rename(part, message->path) == 0;
    }
    // Whoever reads waits for each number.
    if (message->file && !is_whole) sent--;
    pthread_mutex_unlock(&sending);
    return is_whole;
}

// Waits until a message was taken, so that those who write faster than raceproof reads do not fill the disk.
static void wait_until_taken(const char* path) {
    while (*path && access(path, F_OK) == 0 && has_reader()) nap();
}

// The answer to a message: bytes to be freed, with a zero behind them; nothing if there is none.
static char* answer_to(const struct message* message) {
    char path[PATH_BYTES + 8];
    snprintf(path, sizeof path, "%s.answer", message->path);
    while (access(path, F_OK) != 0) {
        if (!has_reader()) return NULL;
        nap();
    }
    FILE* file = fopen(path, "rbe");
    if (!file) return NULL;
    char* text = NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        long bytes = ftell(file);
        rewind(file);
        text = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
        if (text) text[fread(text, 1, (size_t)bytes, file)] = 0;
    }
    fclose(file);
    remove(path);
    return text;
}
