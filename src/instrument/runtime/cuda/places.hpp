// What addresses mean: the allocations of device memory, and the arrays in shared memory of one launch.
//
// Addresses are the device's; nothing here reads what they point to.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "log.hpp"
#include "told.hpp"

namespace raceproof_cuda {

// A range of addresses and what the log calls it.
struct Extent {
    std::uint64_t base = 0, bytes = 0;
    std::uint32_t id = 0;

    bool holds(std::uint64_t address) const { return address - base < bytes; }
};

// All allocations that there are, and the log that they are told to.
class Allocations {
public:
    void begin(raceproof::Log& to) {
        std::lock_guard<std::mutex> guard(lock);
        log = &to;
    }

    void add(const void* base, std::uint64_t bytes, raceproof::Space space, const char* name) {
        std::lock_guard<std::mutex> guard(lock);
        if (!log || !base) return;
        auto at = reinterpret_cast<std::uintptr_t>(base);
        known[at] = Extent{at, bytes, log->allocation(at, bytes, space, name)};
    }

    void remove(const void* base) {
        std::lock_guard<std::mutex> guard(lock);
        auto found = known.find(reinterpret_cast<std::uintptr_t>(base));
        if (found == known.end()) return;
        log->release(found->second.id);
        known.erase(found);
    }

    void remove_all() {
        std::lock_guard<std::mutex> guard(lock);
        for (const auto& entry : known) log->release(entry.second.id);
        known.clear();
    }

    // As a copy in the order of addresses: none comes or goes while a kernel runs that may use it.
    std::vector<Extent> all() {
        std::lock_guard<std::mutex> guard(lock);
        std::vector<Extent> result;
        for (const auto& entry : known) result.push_back(entry.second);
        return result;
    }

    // Something is not logged.
    void left_out(raceproof::Lack how, const char* what) {
        std::lock_guard<std::mutex> guard(lock);
        if (log) log->left_out(how, what);
    }

    // An array of shared memory, the same for all launches that have one of that name, size and place.
    Extent shared(const std::string& name, std::uint64_t place, std::uint64_t bytes) {
        std::lock_guard<std::mutex> guard(lock);
        std::string key = name + '\t' + std::to_string(place) + '\t' + std::to_string(bytes);
        auto found = shared_arrays.find(key);
        if (found == shared_arrays.end()) {
            std::uint32_t id = log->allocation(0, bytes, raceproof::Space::shared, name.c_str());
            found = shared_arrays.emplace(std::move(key), Extent{place, bytes, id}).first;
        }
        return found->second;
    }

private:
    std::mutex lock;
    raceproof::Log* log = nullptr;
    std::map<std::uintptr_t, Extent> known;
    std::map<std::string, Extent> shared_arrays;
};

// Whether an address belongs to memory that the device may use though nothing was told of it: of libraries, of the driver's
// own functions, of the system's allocator where the device shares it. In runtime.cu, and in a test another one.
bool is_memory_of_others(std::uint64_t address);

// `path:line:column` of a site. In session.hpp.
std::string place_of_site(std::uint32_t site);

// Shared memory that no declaration told of; larger than any block's.
constexpr std::uint64_t ALL_SHARED = std::uint64_t(1) << 20;

// What addresses mean during one launch. Used by several threads.
class Places {
public:
    Places(Allocations& all, std::string of) : allocations(all), kernel(std::move(of)), extents(all.all()) {}

    const Extent* global(std::uint64_t address) const {
        auto after = std::upper_bound(extents.begin(), extents.end(), address,
                                      [](std::uint64_t at, const Extent& extent) { return at < extent.base; });
        if (after == extents.begin() || !std::prev(after)->holds(address)) return nullptr;
        return &*std::prev(after);
    }

    // Arrays keep their place as long as the launch lasts, so that the pointer stays.
    const Extent* shared(std::uint64_t place) {
        std::lock_guard<std::mutex> guard(lock);
        auto after = arrays.upper_bound(place);
        if (after != arrays.begin() && std::prev(after)->second.holds(place)) return &std::prev(after)->second;
        if (!rest.bytes) rest = allocations.shared("shared memory", 0, ALL_SHARED);
        return &rest;
    }

    void add_shared(const std::string& name, std::uint64_t place, std::uint64_t bytes) {
        std::lock_guard<std::mutex> guard(lock);
        if (bytes && !arrays.count(place)) arrays.emplace(place, allocations.shared(name, place, bytes));
    }

    void tell_wild(std::uint32_t site, bool is_write, std::uint32_t bytes, std::uint64_t address, std::uint64_t block,
                   std::uint32_t thread) const {
        char text[160];
        std::snprintf(text, sizeof text, "%u\t%s of %u bytes at %#llx, thread %u of block %llu", site,
                      is_write ? "write" : "read", bytes, static_cast<unsigned long long>(address), thread,
                      static_cast<unsigned long long>(block));
        bool is_foreign = is_memory_of_others(address);
        std::string line = place_of_site(site) + ": " + (std::strchr(text, '\t') + 1) + " (in " + kernel + "): ";
        line += is_foreign ? "to memory that was allocated in a way that is not followed" : "outside of all allocations";
        line += "; it is not logged";
        // Much may lie there.
        auto how = is_foreign ? raceproof::Lack::more : raceproof::Lack::places;
        if (tell(is_foreign ? "foreign" : "wild", std::to_string(site), kernel.c_str(), text, line)) {
            allocations.left_out(how, line.c_str());
        }
    }

    const std::string& kernel_name() const { return kernel; }

private:
    Allocations& allocations;
    const std::string kernel;
    const std::vector<Extent> extents;
    std::mutex lock;
    std::map<std::uint64_t, Extent> arrays;
    Extent rest;
};

}  // namespace raceproof_cuda
