// Logging of accesses: what the instrumenter puts around every access of the user's.
//
// The address alone decides what is accessed. The stack of the running thread holds its local variables, which no other
// thread knows: not logged. An address that belongs to nothing that the program allocated is *wild*; told once a site.
// Outside of kernels, and with RACEPROOF_PLAIN, all of this is nothing.
#pragma once

#if defined(__linux__)
#include <link.h>
#endif

#include "warp.hpp"

// A program of several units has one table of sites: the sites of a unit begin where those of the unit before end. The
// functions that take sites therefore belong to their unit (static).
#ifndef RACEPROOF_FIRST_SITE
#define RACEPROOF_FIRST_SITE 0
#endif

namespace raceproof {

inline constexpr Kind block_scope = Kind::atomic_block;
inline constexpr Kind device_scope = Kind::atomic_device;
inline constexpr Kind system_scope = Kind::atomic_system;
inline constexpr Kind block_load = Kind::load_block;
inline constexpr Kind device_load = Kind::load_device;
inline constexpr Kind system_load = Kind::load_system;

// Whether an access of that kind may change memory.
constexpr bool is_writing(Kind kind) {
    return kind != Kind::read && kind != Kind::load_block && kind != Kind::load_device && kind != Kind::load_system;
}

namespace {
// Registers the table of sites of this unit.
struct sites {
    explicit sites(const char* table) { Memory::the().add_sites(table, RACEPROOF_FIRST_SITE); }
};
}  // namespace

constexpr uint32_t STEPS_BEFORE_OTHERS = 1 << 16;
void sample_event(uint32_t site, Kind kind);

// A thread that reads the same thing over and over waits for another one: that one must get its turn.
inline void spin() {
    if (here.in_kernel && ++here.spins >= SPINS_BEFORE_YIELD) worker->yield();
}

inline void Worker::prepare_sites() {
    if (!here.log) return;
    size_t sites = Memory::the().sites();
    uint64_t now = Memory::the().generation_now();
    if (found_by_site.size() < sites || found_generation != now) {
        found_by_site.assign(sites, Found{});
        found_generation = now;
    }
    here.found = found_by_site.data();
}

// Whether an address is in what the program was loaded with and nobody can write: tables of constants.
inline bool is_constant_of_program(uintptr_t address) {
#if defined(__linux__)
    struct Asked { uintptr_t address; bool found; } asked{address, false};
    dl_iterate_phdr(
        [](dl_phdr_info* object, size_t, void* data) {
            auto asked = static_cast<Asked*>(data);
            for (int i = 0; i < object->dlpi_phnum; i++) {
                const auto& part = object->dlpi_phdr[i];
                uintptr_t first = object->dlpi_addr + part.p_vaddr;
                bool holds = part.p_type == PT_LOAD && asked->address - first < part.p_memsz;
                if (holds && !(part.p_flags & PF_W)) asked->found = true;
            }
            return int(asked->found);
        },
        &asked);
    return asked.found;
#else
    (void)address;
    return false;
#endif
}

// The slow way: the site meets this allocation for the first time, or another one than before.
__attribute__((noinline)) inline bool look_up(uint32_t site, uintptr_t address, uint32_t bytes, bool is_write) {
    Found& found = here.found[site];
    if (worker->is_shared(address, found)) return true;
    Allocation allocation;
    if (Memory::the().find(reinterpret_cast<const void*>(address), allocation)) {
        found = {allocation.base, allocation.bytes, allocation.id};
        return true;
    }
    if (!is_write && is_constant_of_program(address)) return false;
    char text[160];
    snprintf(text, sizeof text, "%u\t%s of %u bytes at %#zx, thread %s of block %s", site, is_write ? "write" : "read",
             bytes, size_t(address), text_of(threadIdx).c_str(), text_of(blockIdx).c_str());
    Report::the().tell("wild", std::to_string(site), worker->now().kernel, {}, text);
    return false;
}

// An access is an event of the schedule (plan.hpp), before it takes place.
inline void happens(uint32_t site, Kind kind, const volatile void* place, uint32_t bytes) {
    Here& mine = here;
    mine.site = site;
    if (__builtin_expect(mine.holds, 0)) worker->settle(place, bytes);
    events.now++;
    mine.thread->events++;
    if (__builtin_expect(events.are_sampled, 0)) sample_event(site, kind);
    if (__builtin_expect(mine.thread->events == mine.thread->next_change, 0)) worker->change_point(kind, place, bytes);
    if (kind == Kind::write) {
        events.changes++;
        mine.spins = 0;
    }
    if (__builtin_expect(++mine.steps >= STEPS_BEFORE_OTHERS, 0)) worker->let_others();
}

__attribute__((always_inline)) inline void touched(uint32_t site, Kind kind, const volatile void* place, uint32_t bytes) {
#ifndef RACEPROOF_PLAIN
    Here& mine = here;
    if (!is_scheduled && !mine.log) return;
    auto address = reinterpret_cast<uintptr_t>(place);
    if (address - mine.stack_low < mine.stack_bytes) return;
    if constexpr (is_scheduled) {
        if (!mine.in_kernel) return;
        happens(site, kind, place, bytes);
        if (!mine.log) return;
    }
    Found& found = mine.found[site];
    if (__builtin_expect(address - found.base >= found.bytes, 0)) {
        if (!look_up(site, address, bytes, is_writing(kind))) return;
    }
    if (__builtin_expect(!mine.is_announced, 0)) worker->announce();
    mine.log->access(site, kind, found.allocation, address - found.base, bytes);
#else
    (void)site, (void)kind, (void)place, (void)bytes;
#endif
}

template <class T> __attribute__((always_inline)) inline const volatile void* address_of(T& place) {
    return (const volatile void*)__builtin_addressof(place);
}

template <class T> __attribute__((always_inline)) static inline T& rd(uint32_t site, T& place) {
    touched(site + RACEPROOF_FIRST_SITE, Kind::read, address_of(place), sizeof(T));
    if constexpr (std::is_volatile<T>::value) spin();
    return place;
}

template <class T> __attribute__((always_inline)) static inline T& wr(uint32_t site, T& place) {
    touched(site + RACEPROOF_FIRST_SITE, Kind::write, address_of(place), sizeof(T));
    return place;
}

template <class T> __attribute__((always_inline)) static inline T& rw(uint32_t site, T& place) {
    touched(site + RACEPROOF_FIRST_SITE, Kind::read, address_of(place), sizeof(T));
    if constexpr (is_scheduled && std::is_trivially_copyable<T>::value) {
        // Who is delayed between the two writes what it makes of what it has read before.
        if (here.in_kernel && here.thread->events + 1 == here.thread->next_change) {
            auto at = const_cast<void*>(address_of(place));
            unsigned char before[sizeof(T)];
            memcpy(before, at, sizeof(T));
            touched(site + RACEPROOF_FIRST_SITE, Kind::write, address_of(place), sizeof(T));
            memcpy(at, before, sizeof(T));
            return place;
        }
    }
    touched(site + RACEPROOF_FIRST_SITE, Kind::write, address_of(place), sizeof(T));
    return place;
}

// What an operator of the user's gives back by value is no object that another thread could know.
template <class T> using value_only = std::enable_if_t<!std::is_lvalue_reference<T>::value, T>;
template <class T> static inline value_only<T> rd(uint32_t, T&& value) { return static_cast<T&&>(value); }
template <class T> static inline value_only<T> wr(uint32_t, T&& value) { return static_cast<T&&>(value); }
template <class T> static inline value_only<T> rw(uint32_t, T&& value) { return static_cast<T&&>(value); }

template <class T> __attribute__((always_inline)) static inline T* at(uint32_t site, T* place, Kind scope) {
    touched(site + RACEPROOF_FIRST_SITE, scope, place, sizeof(T));
    return place;
}

template <class T> static inline T* rd_range(uint32_t site, T* place, size_t bytes) {
    if (bytes) touched(site + RACEPROOF_FIRST_SITE, Kind::read, place, uint32_t(bytes));
    return place;
}

template <class T> static inline T* wr_range(uint32_t site, T* place, size_t bytes) {
    if (bytes) touched(site + RACEPROOF_FIRST_SITE, Kind::write, place, uint32_t(bytes));
    return place;
}

inline void Worker::add_shared(const char* name, const void* base, size_t bytes) {
    auto address = reinterpret_cast<uintptr_t>(base);
    for (const SharedArray& array : shared_arrays) {
        if (array.base == address && array.bytes == bytes) return;
    }
    uint32_t id = launch->cluster_blocks() > 1
                      ? cluster->declare({address, bytes, 0, name})
                      : Memory::the().shared(name, bytes, address - reinterpret_cast<uintptr_t>(&here));
    shared_arrays.push_back({address, bytes, id});
}

// Declares an array in shared memory; every thread of the block says so.
inline void shared(const char* name, const volatile void* base, size_t bytes) {
#ifndef RACEPROOF_PLAIN
    if (here.log) worker->add_shared(name, const_cast<const void*>(base), bytes);
#else
    (void)name, (void)base, (void)bytes;
#endif
}

inline void Worker::add_dynamic(const void* base, size_t bytes) {
    auto address = reinterpret_cast<uintptr_t>(base);
    for (const SharedArray& array : shared_arrays) {
        if (array.base == address) return;
    }
    const char* name = "dynamic shared memory";
    uint32_t id = launch->cluster_blocks() > 1 ? cluster->declare({address, bytes, 0, name})
                                               : Memory::the().shared(name, bytes, 0);
    shared_arrays.push_back({address, bytes, id});
}

inline void* Worker::dynamic_memory(size_t bytes) {
    if (bytes > dynamic_capacity || !dynamic) {
        free(dynamic);
        dynamic_capacity = bytes < 49152 ? 49152 : (bytes + 1023) / 1024 * 1024;
        dynamic = static_cast<char*>(aligned_alloc(1024, dynamic_capacity));
        found_by_site.assign(found_by_site.size(), Found{});
    }
    return dynamic;
}

// The dynamic shared memory of the block: one array, whatever names and types kernels give it.
template <class T> inline T* dynamic_shared(const char* name = "dynamic shared memory") {
    (void)name;
    size_t bytes = worker->now().dynamic_bytes;
    void* memory = worker->dynamic_memory(bytes);
#ifndef RACEPROOF_PLAIN
    if (here.log) worker->add_dynamic(memory, bytes);
#endif
    return static_cast<T*>(memory);
}

}  // namespace raceproof
