// Launches: what stands in for a kernel's body and for `<<<…>>>`.
//
// A kernel is a function that builds one launch and runs it: `configure` leaves grid and block, `kernel` takes them. The
// blocks of a launch are taken one after another by as many OS threads as the machine has cores; the thread of the host
// is one of them. Launches run to their end before the next line of host code: every stream is in order with all others.
#pragma once


#include "change_points.hpp"

namespace raceproof {

// A type without what `__restrict__` adds to it, which makes compilers find that a pointer is none.
template <class T> struct unrestricted { using type = T; };
template <class T> struct unrestricted<T* __restrict__> { using type = T*; };

// A parameter of a kernel, as the log has it: numbers as text, pointers as allocation and offset.
struct argument {
    std::string text;

    template <class T> argument(const char* name, const T& value) : text(name) {
        using Plain = typename unrestricted<std::remove_cv_t<T>>::type;
        text += '=';
        char room[64];
        if constexpr (std::is_same<Plain, bool>::value) {
            text += value ? '1' : '0';
        } else if constexpr (std::is_enum<Plain>::value) {
            text += std::to_string(static_cast<std::underlying_type_t<Plain>>(value));
        } else if constexpr (std::is_integral<Plain>::value) {
            text += std::to_string(value);
        } else if constexpr (std::is_floating_point<Plain>::value) {
            snprintf(room, sizeof room, "%.17g", double(value));
            text += room;
        } else if constexpr (std::is_pointer<Plain>::value) {
            // A cast of C: it also takes pointers to functions and to volatile.
            add_pointer((const void*)value);
        } else {
            text += "struct:";
            auto bytes = (const unsigned char*)address_of(value);
            for (size_t i = 0; i < sizeof(T) && i < 256; i++) {
                snprintf(room, sizeof room, "%02x", bytes[i]);
                text += room;
            }
        }
        text += '\n';
    }

private:
    void add_pointer(const void* value) {
        Allocation allocation;
        if (!value) {
            text += "null";
        } else if (Memory::the().find(value, allocation)) {
            text += '@' + std::to_string(allocation.id) + '+' +
                    std::to_string(reinterpret_cast<uintptr_t>(value) - allocation.base);
        } else {
            text += "wild";
        }
    }
};

struct Configuration {
    dim3 grid, block;
    size_t dynamic_bytes = 0;
    bool cooperative = false;
    dim3 cluster;   // as the launch asks for it
    bool is_set = false;
};
inline thread_local Configuration pending{};

// The values of a launch through an untyped pointer: the stub was called without them.
inline thread_local void** untyped_arguments = nullptr;
struct Unnamed {};
inline Unnamed unnamed;

inline void take_value(Unnamed&, void*) {}
template <class T> inline void take_value(T& parameter, void* value) {
    auto place = const_cast<void*>((const volatile void*)__builtin_addressof(parameter));
    memcpy(place, value, sizeof(T));
    // A parameter that is const may not be known to have changed.
    asm volatile("" : : "r"(place) : "memory");
}

// Stands first in every kernel.
template <class... T> inline void parameters(T&... all) {
    void** values = untyped_arguments;
    if (__builtin_expect(values == nullptr, 1)) return;
    untyped_arguments = nullptr;
    (take_value(all, *values++), ...);
}
inline thread_local int last_error = 0;   // cudaError_t

// Keeps the error until the program asks for it.
inline int failed(int error) {
    if (error) last_error = error;
    return error;
}

constexpr uint32_t MAX_THREADS = 1024;
constexpr uint32_t MAX_CLUSTER = 16;   // blocks; that CUDA has to be asked for more than 8 is not checked
constexpr size_t MAX_SHARED = 227 * 1024;
constexpr uint32_t MAX_OS_THREADS = 512;

inline int check_configuration(const Configuration& c) {
    uint64_t threads = uint64_t(c.block.x) * c.block.y * c.block.z;
    bool is_wrong = threads == 0 || threads > MAX_THREADS || c.block.z > 64 || c.grid.x == 0 || c.grid.y == 0 ||
                    c.grid.z == 0 || c.grid.x > 2147483647u || c.grid.y > 65535 || c.grid.z > 65535;
    if (is_wrong) return 9;                             // cudaErrorInvalidConfiguration
    return c.dynamic_bytes > MAX_SHARED ? 1 : 0;        // cudaErrorInvalidValue
}

// The size of clusters that the kernel that is called next states.
inline thread_local dim3 stated_cluster;
inline void clusters(uint32_t x, uint32_t y = 1, uint32_t z = 1) { stated_cluster = dim3(x, y, z); }

// The size of clusters of a launch, which the kernel states or the launch or both.
inline int take_cluster(const Configuration& of, dim3& cluster) {
    auto blocks = [](dim3 extents) { return uint64_t(extents.x) * extents.y * extents.z; };
    dim3 stated = stated_cluster;
    stated_cluster = dim3();
    cluster = blocks(stated) == 1 ? of.cluster : stated;
    bool is_other = blocks(of.cluster) != 1 &&
                    (of.cluster.x != cluster.x || of.cluster.y != cluster.y || of.cluster.z != cluster.z);
    bool is_wrong = is_other || blocks(cluster) == 0 || blocks(cluster) > MAX_CLUSTER || of.grid.x % cluster.x != 0 ||
                    of.grid.y % cluster.y != 0 || of.grid.z % cluster.z != 0;
    return is_wrong ? 912 : 0;   // cudaErrorInvalidClusterSize
}

// Stands at the end of a kernel.
inline void at_end() { worker->come_to_end(); }

// Runs blocks of `launch` until there are none left.
inline void run_blocks(Launch& launch) {
    if (!worker) worker = new Worker;
    watch_this_thread();
    uint64_t block;
    if constexpr (is_scheduled) Turns::the().enter(*worker);
    while (launch.take_block(block)) {
        worker->run_block(launch, block);
        if (launch.barrier) launch.barrier->leave();
    }
    if constexpr (is_scheduled) Turns::the().leave(*worker);
    if (covered_points > 0) worker->coverage.flush();
}

// The OS threads that help the host's.
class Crew {
public:
    static Crew& the() {
        static Crew* crew = new Crew;
        return *crew;
    }

    void run(Launch& launch) {
        uint64_t wanted = launch.cooperative ? launch.blocks : launch.blocks < cores ? launch.blocks : cores;
        // Blocks of a cluster wait for each other.
        if (wanted < launch.cluster_blocks()) wanted = launch.cluster_blocks();
        if (wanted > MAX_OS_THREADS) wanted = MAX_OS_THREADS;
        if (is_scheduled) wanted = 1;   // others are invited when it is their turn
        {
            Guard guard(lock);
            current = &launch;
            invited = uint32_t(wanted - 1);
            while (members < invited) hire();
            if (invited > 0) pthread_cond_broadcast(&work);
        }
        run_blocks(launch);
        Guard guard(lock);
        invited = 0;
        current = nullptr;
        while (busy > 0) pthread_cond_wait(&idle, &lock.mutex);
    }

    // One more thread for the running launch, if there can be one.
    bool invite(Launch& launch) {
        Guard guard(lock);
        if (current != &launch) return false;
        if (invited + busy >= members) hire();
        if (invited + busy >= members) return false;
        invited++;
        pthread_cond_signal(&work);
        return true;
    }

    // One more thread for the running launch, because those that there are wait for a block that has not begun.
    void join_in(Launch& launch) {
        Guard guard(lock);
        if (current != &launch || !launch.has_more() || members >= MAX_OS_THREADS) return;
        invited++;
        if (members <= busy) hire();
        pthread_cond_signal(&work);
    }

private:
    Crew() {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        const char* asked = getenv("RACEPROOF_WORKERS");
        if (asked && atol(asked) > 0) online = atol(asked);
        cores = online < 1 ? 1 : online > 16 ? 16 : uint64_t(online);
    }

    void hire() {
        if (members >= MAX_OS_THREADS) return;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        // Shared memory of kernels is thread-local storage, which comes out of this.
        pthread_attr_setstacksize(&attributes, 16 << 20);
        pthread_t thread;
        if (pthread_create(&thread, &attributes, serve, this) == 0) {
            pthread_detach(thread);
            members++;
        } else if (invited > members) {
            invited = members;
        }
        pthread_attr_destroy(&attributes);
    }

    static void* serve(void* crew) {
        static_cast<Crew*>(crew)->serve();
        return nullptr;
    }

    void serve() {
        Guard guard(lock);
        for (;;) {
            while (invited == 0) pthread_cond_wait(&work, &lock.mutex);
            invited--;
            busy++;
            Launch* launch = current;
            lock.unlock();
            run_blocks(*launch);
            lock.lock();
            if (--busy == 0) pthread_cond_signal(&idle);
        }
    }

    Lock lock;
    pthread_cond_t work = PTHREAD_COND_INITIALIZER, idle = PTHREAD_COND_INITIALIZER;
    uint64_t cores = 1;
    uint32_t members = 0, busy = 0, invited = 0;
    Launch* current = nullptr;
};

inline bool invite(Launch& launch) { return Crew::the().invite(launch); }
inline void start_company(Launch& launch) { Crew::the().join_in(launch); }

// Leaves grid and block for the kernel that is called next on this thread.
inline void configure(dim3 grid, dim3 block, size_t dynamic_bytes = 0, const void* = nullptr) {
    if (here.in_kernel) refuse("launches from kernels");
    pending = {grid, block, dynamic_bytes, false, dim3(), true};
}

inline void run_launch(Launch& launch, const std::string& arguments) {
    static Lock one_at_a_time;
    static uint64_t launches = 0;
    Guard guard(one_at_a_time);
    launch.number = ++launches;
    launch.blocks = uint64_t(launch.grid.x) * launch.grid.y * launch.grid.z;
    launch.threads = launch.block.x * launch.block.y * launch.block.z;
    if (schedule_seed() != 0) launch.shuffle_blocks(schedule_seed(), launch.blocks / launch.cluster_blocks());
    GridBarrier barrier(launch.blocks);
    if (launch.cooperative) launch.barrier = &barrier;
    Report::the().tell("launch", launch.kernel, launch.kernel, {}, "");
    Memory& memory = Memory::the();
    Log& log = memory.the_log();
    uint32_t grid[3] = {launch.grid.x, launch.grid.y, launch.grid.z};
    uint32_t block[3] = {launch.block.x, launch.block.y, launch.block.z};
    launch.log_id = log.launch(launch.kernel, grid, block, launch.dynamic_bytes, arguments.c_str());
    memory.launched(launch.log_id + 1);
    watch_for_crashes();
    if constexpr (is_scheduled) begin_schedule(launch);
    Crew::the().run(launch);
    if constexpr (is_scheduled) end_schedule(launch, arguments);
    log.finished(launch.log_id);
    failed(launch.failure);
}

template <class F> inline void run_kernel(const char* name, const std::string& arguments, const F& body) {
    if (here.in_kernel) refuse("launches from kernels");
    Configuration configuration = pending;
    pending = Configuration{};
    if (!configuration.is_set) refuse("a kernel that is called without a launch");
    Launch launch;
    int of_cluster = take_cluster(configuration, launch.cluster);
    if (int error = check_configuration(configuration)) {
        failed(error);
        return;
    }
    if (of_cluster) {
        failed(of_cluster);
        return;
    }
    launch.kernel = name;
    launch.grid = configuration.grid;
    launch.block = configuration.block;
    launch.dynamic_bytes = configuration.dynamic_bytes;
    launch.cooperative = configuration.cooperative;
    if (launch.cooperative && uint64_t(launch.grid.x) * launch.grid.y * launch.grid.z > MAX_OS_THREADS) {
        failed(720);   // cudaErrorCooperativeLaunchTooLarge
        return;
    }
    launch.parameters = &body;
    // Every thread has parameters of its own, which it may change.
    launch.body = [](const void* parameters) {
        F mine(*static_cast<const F*>(parameters));
        mine();
    };
    run_launch(launch, arguments);
}

// The body of a kernel: its number, its name, its parameters (`argument`s, or pairs of name and value), and what to run.
template <class F> inline void kernel_with(const char* name, std::string& arguments, const F& body) {
    run_kernel(name, arguments, body);
}
template <class... Rest>
inline void kernel_with(const char* name, std::string& arguments, const argument& first, const Rest&... rest) {
    arguments += first.text;
    kernel_with(name, arguments, rest...);
}
template <class T, class... Rest>
inline void kernel_with(const char* name, std::string& arguments, const char* first, const T& value, const Rest&... rest) {
    arguments += argument(first, value).text;
    kernel_with(name, arguments, rest...);
}
template <class... Rest> inline void kernel(uint32_t, const char* name, const Rest&... rest) {
    std::string arguments;
    kernel_with(name, arguments, rest...);
}

}  // namespace raceproof
