// Empties the rings while a kernel runs.
//
// One thread looks at the counters of all rings, copies the chunks that are written, makes room for the next lap, and
// then reads them; it uses a stream of its own, so that no copy waits for the kernel. What is left is copied when the
// kernel has ended. A kernel that dies takes what was not copied with it: the log then has no end (`cut_off`).
//
// Copies from and to the device are the only thing here that needs a device, and on the cpu back end they are copies.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "blocks.hpp"
#include "parameters.hpp"

// The program's own calls go through the runtime (runtime.cu); those of the drain must not.
#ifndef RACEPROOF_REAL
#define RACEPROOF_REAL(name) name
#endif

namespace raceproof_cuda {

// The tables of all units.
struct Tables {
    std::vector<std::vector<std::vector<std::string>>> kernels;   // by unit and number: name, names of parameters
    std::vector<std::vector<std::string>> shared;                 // by unit and number
};

// A launch as the host sees it.
struct Launched {
    std::uint32_t grid[3], block[3];
    std::uint64_t dynamic_bytes;
    const char* name;   // if the kernel does not tell its own
};

// How a launch ended.
enum class Ending { well, dead, never_began };

class Drain {
public:
    // Takes device memory for rings of `words` in all. Whether there is enough.
    bool open(std::uint64_t words) {
        if (is_open) return true;
        std::uint64_t capacity = 2 * CHUNK_WORDS;
        while (capacity * 2 * RINGS <= words) capacity *= 2;
        device.capacity = capacity;
        chunks = capacity / CHUNK_WORDS;
        bool fits = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
                    take(device.words, capacity * RINGS) && take(device.written, chunks * RINGS) &&
                    take(device.lanes, RINGS) && take(device.head, 1) && pin(staged, capacity) &&
                    pin(written, chunks * RINGS) && pin(lanes, RINGS) && pin(head, 1);
        device.enabled = 1;
        cudaGetDevice(&number);
        return is_open = fits;
    }

    // Forgets memory that is gone with its device.
    void forget() { is_open = false; }

    // What units are to know.
    const Context& context() const { return device; }
    int device_number() const { return number; }

    // A launch begins: the rings are empty, and the thread looks at them.
    void begin(raceproof::Log& to, Allocations& allocations, const Tables& tables, const Launched& what) {
        log = &to;
        units = &tables;
        launched = what;
        memory = &allocations;
        std::memset(lanes, 0, sizeof(Lane) * RINGS);
        for (std::uint32_t ring = 0; ring < RINGS; ring++) {
            lanes[ring].limit = device.capacity;
            drained[ring] = 0;
            waiting[ring].clear();
        }
        std::memset(written, 0, sizeof(u64) * chunks * RINGS);
        std::memset(head, 0, sizeof(Head));
        copy(device.lanes, lanes, RINGS, cudaMemcpyHostToDevice);
        copy(device.written, written, chunks * RINGS, cudaMemcpyHostToDevice);
        copy(device.head, head, 1, cudaMemcpyHostToDevice);
        cudaStreamSynchronize(stream);
        is_running = true;
        is_lost = false;
        thread = std::thread([this] { empty_until_the_end(); });
    }

    // The launch is over. Whether its log is whole.
    bool end(Ending how) {
        if (how == Ending::dead) is_lost = true;
        is_running = false;
        thread.join();
        if (how == Ending::never_began) return true;
        if (!is_lost) empty_the_rest();
        bool is_whole = !is_lost;
        if (running) {
            for (auto& reader : readers) reader.finish();
            if (is_whole) log->finished(running->launch);
        }
        readers.clear();
        running.reset();
        places.reset();
        return is_whole;
    }

private:
    template <class T> static bool take(T*& out, std::uint64_t count) {
        void* memory = nullptr;
        if (RACEPROOF_REAL(cudaMalloc)(&memory, count * sizeof(T)) != cudaSuccess) return false;
        out = static_cast<T*>(memory);
        return true;
    }
    template <class T> static bool pin(T*& out, std::uint64_t count) {
        void* memory = nullptr;
        if (RACEPROOF_REAL(cudaHostAlloc)(&memory, count * sizeof(T), 0) != cudaSuccess) return false;
        out = static_cast<T*>(memory);
        return true;
    }
    template <class T> bool copy(T* to, const T* from, std::uint64_t count, cudaMemcpyKind kind) {
        return cudaMemcpyAsync(to, from, count * sizeof(T), kind, stream) == cudaSuccess;
    }

    void empty_until_the_end() {
        cudaSetDevice(number);
        while (is_running && !is_lost) {
            if (!empty_once()) std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }

    // Sees the counters as they are now. Writers count before they ask for more, so that what is counted is written.
    bool look() {
        bool is_seen = copy(written, device.written, chunks * RINGS, cudaMemcpyDeviceToHost) &&
                       copy(lanes, device.lanes, RINGS, cudaMemcpyDeviceToHost) &&
                       (running || copy(head, device.head, 1, cudaMemcpyDeviceToHost)) &&
                       cudaStreamSynchronize(stream) == cudaSuccess;
        if (!is_seen) is_lost = true;
        return is_seen;
    }

    // Whether there was anything.
    bool empty_once() {
        if (!look()) return false;
        bool any = false;
        for (std::uint32_t ring = 0; ring < RINGS; ring++) {
            std::uint64_t end = drained[ring];
            while (end - drained[ring] < device.capacity && is_written(ring, end)) end += CHUNK_WORDS;
            if (end == drained[ring]) continue;
            any = true;
            if (!fetch(ring, end) || !make_room(ring)) {
                is_lost = true;
                return false;
            }
        }
        read();
        return any;
    }

    // Whether the chunk that begins at `place` is whole in this lap.
    bool is_written(std::uint32_t ring, std::uint64_t place) const {
        std::uint64_t lap = place / device.capacity, chunk = place % device.capacity / CHUNK_WORDS;
        return written[ring * chunks + chunk] >= (lap + 1) * CHUNK_WORDS;
    }

    void empty_the_rest() {
        if (!look()) return;
        for (std::uint32_t ring = 0; ring < RINGS; ring++) {
            if (lanes[ring].cursor != drained[ring] && !fetch(ring, lanes[ring].cursor)) is_lost = true;
        }
        if (!running) {
            // No thread of the kernel was instrumented, or none began; what there is has no name but the host's.
            bool any = head->ready != 0;
            for (const auto& words : waiting) any = any || !words.empty();
            if (!any) {
                leave_out_launch();
                return;
            }
            name_launch();
        }
        read();
    }

    void leave_out_launch() {
        const char* what = "a kernel that is not instrumented: its accesses are not logged";
        std::string line = std::string(launched.name) + ": " + what;
        if (tell("note", launched.name, launched.name, what, line)) log->left_out(raceproof::Lack::places, line.c_str());
    }

    // Copies the words up to `end` behind those that wait.
    bool fetch(std::uint32_t ring, std::uint64_t end) {
        std::uint64_t count = end - drained[ring], at = drained[ring] % device.capacity;
        std::uint64_t first = count < device.capacity - at ? count : device.capacity - at;
        const u64* words = device.words + ring * device.capacity;
        bool is_copied = copy(staged, words + at, first, cudaMemcpyDeviceToHost) &&
                         (first == count || copy(staged + first, words, count - first, cudaMemcpyDeviceToHost)) &&
                         cudaStreamSynchronize(stream) == cudaSuccess;
        if (!is_copied) return false;
        waiting[ring].insert(waiting[ring].end(), staged, staged + count);
        drained[ring] = end;
        return true;
    }

    bool make_room(std::uint32_t ring) {
        lanes[ring].limit = drained[ring] + device.capacity;
        return copy(&device.lanes[ring].limit, &lanes[ring].limit, 1, cudaMemcpyHostToDevice) &&
               cudaStreamSynchronize(stream) == cudaSuccess;
    }

    // Reads what waits, the rings at the same time; not before the launch has a name.
    void read() {
        if (!running && !head->ready) return;
        if (!running) name_launch();
        std::vector<std::thread> helpers;
        for (std::uint32_t ring = 0; ring < RINGS; ring++) {
            if (waiting[ring].empty()) continue;
            auto feed = [this, ring] {
                readers[ring].feed(waiting[ring].data(), waiting[ring].size());
                waiting[ring].clear();
            };
            if (waiting[ring].size() < CHUNK_WORDS) feed();
            else helpers.emplace_back(feed);
        }
        for (auto& helper : helpers) helper.join();
    }

    // The log begins for this launch.
    void name_launch() {
        const std::vector<std::string>* row = nullptr;
        if (head->ready && head->unit < units->kernels.size() && head->kernel < units->kernels[head->unit].size()) {
            row = &units->kernels[head->unit][head->kernel];
        }
        const std::string name = row && !row->empty() ? row->front() : launched.name;
        tell_launch(name);
        places.reset(new Places(*memory, name));
        std::string parameters;
        if (row) parameters = parameter_lines(*head, *row, *places);
        std::uint32_t id = log->launch(name.c_str(), launched.grid, launched.block, launched.dynamic_bytes, parameters.c_str());
        if (head->ready) places->add_shared("dynamic shared memory", head->dynamic_at, head->dynamic_bytes);
        std::uint32_t threads = launched.block[0] * launched.block[1] * launched.block[2];
        running.reset(new Running{*log, id, threads, *places, units->shared});
        for (std::uint32_t ring = 0; ring < RINGS; ring++) readers.emplace_back(*running);
    }

    bool is_open = false;
    int number = 0;
    Context device{};
    std::uint64_t chunks = 0;
    cudaStream_t stream{};
    u64* staged = nullptr;
    u64* written = nullptr;
    Lane* lanes = nullptr;
    Head* head = nullptr;
    std::uint64_t drained[RINGS] = {};
    std::vector<u64> waiting[RINGS];
    raceproof::Log* log = nullptr;
    Allocations* memory = nullptr;
    const Tables* units = nullptr;
    Launched launched{};
    std::unique_ptr<Places> places;
    std::unique_ptr<Running> running;
    std::vector<RingReader> readers;
    std::atomic<bool> is_running{false}, is_lost{false};
    std::thread thread;
};

}  // namespace raceproof_cuda
