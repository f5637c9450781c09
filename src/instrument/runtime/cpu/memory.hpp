// The allocations of a run, and the log that they are told to.
//
// Host and device share one address space here: device memory is memory of the process that is registered.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "log.hpp"
#include "report.hpp"

namespace raceproof {

struct Allocation {
    uintptr_t base;
    size_t bytes;
    uint32_t id;      // as the log knows it
    Space space;
    const char* name; // of a symbol, else null
};

class Memory {
public:
    static Memory& the() {
        static Memory* memory = new Memory;
        return *memory;
    }

    // A symbol of the program's text; known before the log begins.
    void add_symbol(const char* name, const void* base, size_t bytes, Space space) {
        Guard guard(lock);
        symbols.push_back({reinterpret_cast<uintptr_t>(base), bytes, 0, space, name});
    }

    // A table of sites, one line each, that begins with the number of the site in its unit.
    void add_sites(const char* table, size_t first) {
        Guard guard(lock);
        while (table && *table) {
            char* rest = nullptr;
            size_t id = first + strtoul(table, &rest, 10);
            const char* end = strchr(rest, '\n');
            size_t length = end ? size_t(end - rest) : strlen(rest);
            if (length > 0) {
                site_table += std::to_string(id);
                site_table.append(rest, length);
                site_table += '\n';
                if (id + 1 > site_count) site_count = id + 1;
            }
            table = end ? end + 1 : nullptr;
        }
    }

    void add(const void* base, size_t bytes, Space space, const char* name = nullptr) {
        begin();
        Guard guard(lock);
        auto at = reinterpret_cast<uintptr_t>(base);
        uint32_t id = log->allocation(at, bytes, space, name ? name : "");
        known[at] = {at, bytes, id, space, name};
        generation++;
    }

    // Whether `base` was an allocation.
    bool remove(const void* base) {
        Guard guard(lock);
        auto found = known.find(reinterpret_cast<uintptr_t>(base));
        if (found == known.end() || found->second.name) return false;
        log->release(found->second.id);
        known.erase(found);
        generation++;
        return true;
    }

    // The allocation that holds `address`, as a copy: others may be added meanwhile.
    bool find(const void* address, Allocation& out) {
        begin();
        Guard guard(lock);
        auto at = reinterpret_cast<uintptr_t>(address);
        auto after = known.upper_bound(at);
        if (after == known.begin()) return false;
        const Allocation& candidate = std::prev(after)->second;
        // An allocation without bytes still owns its address.
        if (at - candidate.base >= candidate.bytes && at != candidate.base) return false;
        out = candidate;
        return true;
    }

    // How many launches the log has.
    void launched(uint32_t count) { __atomic_store_n(&launches, count, __ATOMIC_RELAXED); }

    // The host has written: told to whoever asks which store was the last one, a line each: launches so far, allocation, first
    // byte, bytes. What the host stores itself into managed memory nobody sees.
    void host_wrote(const void* to, size_t bytes) {
        static FILE* file = open_host_writes();
        Allocation allocation;
        if (!file || !find(to, allocation)) return;
        Guard guard(lock);
        fprintf(file, "%u\t%u\t%zu\t%zu\n", launches, allocation.id, size_t(reinterpret_cast<uintptr_t>(to) - allocation.base), bytes);
        fflush(file);
    }

    // All allocations that are there.
    template <class F> void each(const F& tell) {
        begin();
        Guard guard(lock);
        for (const auto& [base, allocation] : known) {
            if (allocation.space != Space::distributed) tell(allocation);
        }
    }

    // The id of an array in shared memory. Every OS thread has its own at another address; `place` is the distance from
    // something else of the thread, which is the same in all of them.
    uint32_t shared(const char* name, size_t bytes, uintptr_t place) {
        begin();
        Guard guard(lock);
        std::string key = std::string(name) + '\t' + std::to_string(bytes) + '\t' + std::to_string(place);
        auto found = shared_ids.find(key);
        if (found != shared_ids.end()) return found->second;
        uint32_t id = log->allocation(0, bytes, Space::shared, name);
        shared_ids.emplace(std::move(key), id);
        return id;
    }

    // The id of an array in shared memory of one block, which other blocks reach until it is forgotten.
    uint32_t add_distributed(uintptr_t base, size_t bytes, const char* name) {
        begin();
        Guard guard(lock);
        // Its address says nothing: another block's array may have lain there.
        uint32_t id = log->allocation(0, bytes, Space::distributed, name);
        known[base] = {base, bytes, id, Space::distributed, name};
        generation++;
        return id;
    }
    void forget_distributed(uintptr_t base) {
        Guard guard(lock);
        known.erase(base);
        generation++;
    }

    Log& the_log() {
        begin();
        return *log;
    }

    // Whether accesses are to be logged.
    bool logs() {
        begin();
        return is_logging;
    }

    size_t sites() {
        begin();
        return site_count;
    }

    // Grows whenever an address may have got another meaning.
    uint64_t generation_now() { return __atomic_load_n(&generation, __ATOMIC_RELAXED); }
    void changed() { __atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED); }

private:
    // The log begins when something is to be told: by then all symbols have been registered.
    void begin() {
        if (__atomic_load_n(&begun, __ATOMIC_ACQUIRE)) return;
        Guard guard(lock);
        if (begun) return;
        const char* path = getenv("RACEPROOF_LOG");
        is_logging = path && *path;
        log = &Log::start(path ? path : "");
        log->sites(site_table.c_str());
        for (Allocation& symbol : symbols) {
            symbol.id = log->allocation(symbol.base, symbol.bytes, symbol.space, symbol.name);
            known[symbol.base] = symbol;
        }
        at_end();
        __atomic_store_n(&begun, true, __ATOMIC_RELEASE);
    }

    static FILE* open_host_writes() {
        const char* path = getenv("RACEPROOF_HOST_WRITES");
        return path && *path ? fopen(path, "wb") : nullptr;
    }

    // A log that is not closed is taken for cut off.
    static void at_end() {
#if defined(__GLIBC__)
        on_exit([](int status, void*) { the().log->close(status); }, nullptr);
#else
        atexit([] { the().log->close(0); });
#endif
    }

    Lock lock;
    bool begun = false;
    bool is_logging = false;
    Log* log = nullptr;
    std::map<uintptr_t, Allocation> known;
    std::vector<Allocation> symbols;
    std::map<std::string, uint32_t> shared_ids;
    std::string site_table;
    size_t site_count = 0;
    uint64_t generation = 1;
    uint32_t launches = 0;
};

inline constexpr Space global_space = Space::global;
inline constexpr Space constant_space = Space::constant;
inline constexpr Space managed_space = Space::managed;

// Registers a variable of device memory; stands beside its definition.
struct symbol {
    symbol(const char* name, const void* base, size_t bytes, Space space) {
        Memory::the().add_symbol(name, base, bytes, space);
    }
};

}  // namespace raceproof
