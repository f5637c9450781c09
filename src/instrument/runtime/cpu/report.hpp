// What a run finds besides accesses: divergent barriers, accesses outside of all allocations, crashes.
//
// One line each, fields separated by tabs, appended to the file that RACEPROOF_REPORT names, at once, so that nothing
// is lost if the program dies; without that variable the lines are told on standard error. Nothing is told twice.
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <set>
#include <string>

#include "vectors.hpp"

namespace raceproof {

// A line of the user's text.
struct Place {
    const char* file = nullptr;
    int line = 0;
    int site = 0;   // tells barriers of one line apart
};

class Lock {
public:
    void lock() { pthread_mutex_lock(&mutex); }
    void unlock() { pthread_mutex_unlock(&mutex); }
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
};

class Guard {
public:
    explicit Guard(Lock& lock) : held(lock) { held.lock(); }
    ~Guard() { held.unlock(); }
    Guard(const Guard&) = delete;

private:
    Lock& held;
};

class Report {
public:
    static Report& the() {
        static Report* report = new Report;   // never destroyed: threads may still run at exit
        return *report;
    }

    // Tells `text` of a `kind`; `key` says what counts as the same.
    void tell(const char* kind, const std::string& key, const char* kernel, Place place, const std::string& text) {
        Guard guard(lock);
        if (!told.insert(std::string(kind) + '\t' + key).second) return;
        std::string line = std::string(kind) + '\t' + (kernel ? kernel : "") + '\t' +
                           (place.file ? place.file : "") + '\t' + std::to_string(place.line) + '\t' + text + '\n';
        write_out(line.data(), line.size());
    }

    // For signal handlers: nothing is allocated and nothing compared.
    void tell_raw(const char* line, size_t bytes) { write_out(line, bytes); }

private:
    Report() {
        const char* path = getenv("RACEPROOF_REPORT");
        if (path && *path) file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }

    void write_out(const char* line, size_t bytes) {
        if (file < 0) {
            if (write(2, "raceproof: ", 11) < 0) return;
        }
        if (write(file < 0 ? 2 : file, line, bytes) < 0) return;
    }

    Lock lock;
    std::set<std::string> told;
    int file = -1;
};

inline std::string text_of(uint3 v) {
    return std::to_string(v.x) + ',' + std::to_string(v.y) + ',' + std::to_string(v.z);
}

// Ends the program: it asks for what this back end does not have.
[[noreturn]] inline void refuse(const char* what) {
    Report::the().tell("unsupported", what, nullptr, {}, what);
    fprintf(stderr, "raceproof: the cpu back end does not support %s\n", what);
    fflush(stdout);
    _exit(71);
}

}  // namespace raceproof
