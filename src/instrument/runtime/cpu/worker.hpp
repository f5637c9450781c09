// The scheduler of a block: which of its threads runs now, who waits for whom.
//
// One OS thread runs one block at a time, on fibers. A thread runs until it must wait; then the next one that is ready
// goes on, or one that has not begun yet begins. When all that live wait at the barrier, it opens. Threads that have
// returned no longer count, as in CUDA. When nobody can go on, the block is in deadlock: that is told with the lines on
// which threads wait, and the block ends.
//
// Deliberately absent: lock-step. A warp is only what its intrinsics make of it (warp.hpp).
#pragma once

#include "fiber.hpp"
#include "coverage.hpp"
#include "launch.hpp"

namespace raceproof {

// Whether the program has anything by which threads hand over to each other without a barrier: fences, atomics with an
// order. Only then does the log hear of atomics and barriers in their order. Whatever is such a thing names `noted` of
// `HandsOver`, of which there is one if any of them is used.
inline bool program_hands_over = false;
template <class = void> struct HandsOver {
    static const bool noted;
};
template <class T> const bool HandsOver<T>::noted = (program_hands_over = true);

constexpr uint32_t NO_SITE = UINT32_MAX;

enum class State : uint8_t {
    fresh, ready, at_barrier, at_warp, gathering, at_grid, at_cluster, at_object, delayed, spinning, done
};

// What a block may do that has the turn again (turns.hpp).
enum class Grant : uint8_t { look_again, delayed, spinner };

// How a thread spins: where, since which change, and whether it does what it did before.
struct Spin {
    uint32_t site = NO_SITE;
    uint64_t seen = UINT64_MAX;   // the changes that it knows of
    uint64_t since = UINT64_MAX;  // the change since which it is looked at
    uint64_t state = 0, rounds = 0;
    bool is_cycle = false;
};

// A store that only its own thread sees so far.
struct Held {
    uint32_t thread;
    char* place;
    uint32_t bytes;
    bool is_done;   // it has been executed, and taken back
    unsigned char before[16], after[16];
};

struct Thread {
    Fiber* fiber = nullptr;
    State state = State::fresh;
    uint3 index{};
    Epochs epochs{};
    Place place;              // where it waits
    bool at_end = false;      // it has come to the end of the kernel, and has not returned before
    const void* object = nullptr;   // what it waits at, if that is an object in memory
    uint32_t gathered = 0;    // the lanes that it was gathered with
    uint64_t cluster_arrivals = 0;  // the phase of its cluster in which it arrived last, from 1
    Synchronisation last_load;      // the last atomic that read only,
    uint64_t last_version = 0;      // and what its cell was when it did
    size_t point = NO_POINT;        // the point of coverage of the barrier that it comes to
    Spin spin;
    uint64_t events = 0, next_change = UINT64_MAX;   // of a scheduled run (plan.hpp)
};

// Where lanes of a warp that call the same intrinsic meet.
struct Rendezvous {
    uint32_t mask = 0, arrived = 0, taken = 0;
    uint32_t truths = 0;      // lanes whose predicate holds
    uint8_t kind = 0;
    bool complete = false;
    alignas(16) char values[32][32];
};

// Where threads of a tile that is larger than a warp meet.
struct TileMeeting {
    uint32_t first = 0, end = 0;   // threads of the block
    uint32_t arrived = 0, taken = 0;
    bool is_sync = false;
    bool complete = false;
    std::vector<uint8_t> has_come;
    std::vector<char> values;      // 32 bytes for each thread
};

// A copy that a thread has begun and not waited for.
struct Copy {
    uint32_t thread, to_site, from_site, bytes;
    void* to;
    const void* from;
    const void* told_by;   // the object that tells when it is done; null for what the thread commits itself
    uint32_t batch;
};

// Halves of a barrier of the block: how many have arrived, and how often all have.
struct Halves {
    uint32_t arrived = 0, phase = 0;
};

struct Warp {
    uint32_t live = 0;
    std::vector<Rendezvous*> open;
};

// How a site last found its allocation.
struct Found {
    uintptr_t base = 0;
    size_t bytes = 0;
    uint32_t allocation = 0;
};

struct SharedArray {
    uintptr_t base;
    size_t bytes;
    uint32_t id;
};

// What every access looks at; one for each OS thread.
struct Here {
    BlockLog* log = nullptr;      // null: nothing is logged
    uintptr_t stack_low = 0;
    size_t stack_bytes = 0;
    bool is_announced = false;    // the log knows which thread runs in which interval
    Found* found = nullptr;       // by site
    uint32_t spins = 0;           // volatile reads and atomics since something happened
    bool in_kernel = false;
    bool holds = false;           // a store of one of the threads
    uint32_t site = NO_SITE;      // of the last event
    uint32_t steps = 0;           // events since another thread ran
    Thread* thread = nullptr;     // that runs
};
inline thread_local Here here{};

constexpr uint32_t NOBODY = UINT32_MAX;
constexpr uint32_t SPINS_BEFORE_YIELD = 128;
constexpr uint32_t YIELDS_BEFORE_HELP = 2000;

void fiber_main();

class Worker {
public:
    void run_block(Launch& of, uint64_t number);

    // The barrier of the block; `truth` is counted by the forms that count.
    uint32_t barrier(Place place, bool truth) {
        if constexpr (is_scheduled) orders(place);
        Thread& me = threads[current];
        if (arrived == 0) barrier_place = place;
        if (place.line != barrier_place.line || place.site != barrier_place.site) is_mixed = true;
        me.state = State::at_barrier;
        me.place = place;
        arrived++;
        truths += truth;
        leave();
        return released_truths;
    }

    // The thread comes to the end of the kernel: at a barrier where others wait after that, it is missed. One that returns before
    // is not, as in CUDA.
    void come_to_end() {
        threads[current].at_end = true;
        at_end++;
    }

    // The barrier of the grid: when all threads of this block are there, it waits for the other blocks.
    void grid_barrier(Place place) {
        Thread& me = threads[current];
        if constexpr (is_scheduled) orders(place);
        if (!launch->barrier) refuse("a barrier of the grid in a kernel that is not launched cooperatively");
        me.state = State::at_grid;
        me.place = place;
        at_grid++;
        leave();
    }

    // The halves of the barrier of the cluster. Who arrives is told the phase.
    uint64_t arrive_at_cluster() {
        if constexpr (is_scheduled) orders({});
        uint64_t phase = own_cluster().arrive();
        threads[current].cluster_arrivals = phase + 1;
        return phase;
    }
    void wait_for_cluster(uint64_t phase, Place place) {
        // Those that still wait for the phase before.
        release_cluster();
        while (!own_cluster().is_over(phase)) {
            Thread& me = threads[current];
            me.state = State::at_cluster;
            me.place = place;
            at_cluster++;
            cluster_phase = phase;
            leave();
        }
    }
    // The cluster that the block lies in; one of a single block is made when it is asked for.
    Cluster& own_cluster();
    uint32_t cluster_rank() const { return launch->rank_of(blockIdx); }
    // What lies in the shared memory of the block of that rank where this one has `own`.
    void* counterpart(const void* own, uint32_t rank);

    // Lets others run, if the thread has been reading the same thing for long.
    void yield() {
        if constexpr (is_scheduled) return spun();
        here.spins = 0;
        if (++idle_yields >= YIELDS_BEFORE_HELP) {
            idle_yields = 0;
            release_gathered();
            release_cluster();
            start_company(*launch);
            sched_yield();
        }
        if (live == 1) return;
        make_ready(current);
        leave();
    }

    // Waits until no thread of the block can go on without those that gather; gives the lanes of the warp that gather
    // for the same reason. That is the most that lock-step hardware would bring together.
    uint32_t gather(Place place) {
        Thread& me = threads[current];
        me.state = State::gathering;
        me.place = place;
        gathering++;
        leave();
        return threads[current].gathered;
    }

    // Waits until somebody wakes up who waits at an object of the block.
    void wait_at(const void* object, Place place) {
        Thread& me = threads[current];
        me.state = State::at_object;
        me.object = object;
        me.place = place;
        leave();
    }
    void wake(const void* object) {
        idle_yields = 0;
        something_changes();
        for (uint32_t thread = 0; thread < size; thread++) {
            if (threads[thread].state == State::at_object && threads[thread].object == object) make_ready(thread);
        }
    }

    // Halves of a barrier of the block (groups.hpp).
    Halves halves;
    bool all_have_arrived() const { return halves.arrived > 0 && halves.arrived >= live; }
    void next_half() {
        halves.arrived = 0;
        halves.phase++;
        wake(&halves);
    }

    // What this OS thread has reached (coverage.hpp).
    Coverage coverage;

    // Copies under way, of all threads of the block; told to the log once more when they are waited for (copies.hpp).
    std::vector<Copy> copies;
    void (*finish_copies)(uint32_t thread) = nullptr;

    Rendezvous* arrive(uint32_t mask, uint8_t kind, const void* value, size_t bytes, bool truth, Place place);
    void take(Rendezvous* met);

    // A shuffle reads from a lane that its mask does not name, or that has returned. Looked up once for each line.
    void tell_absent(Place place) {
        if (place.line == absent_line) return;
        absent_line = place.line;
        Report::the().tell("mask", std::string("absent") + launch->kernel + std::to_string(place.line), launch->kernel, place,
                           "a shuffle reads from a thread that does not take part in it; the value is undefined");
    }
    // The same for tiles of several warps.
    TileMeeting* arrive_tile(uint32_t first, uint32_t size, bool is_sync, const void* value, size_t bytes, Place place);
    void take(TileMeeting* met);

    // Of a scheduled run (change_points.hpp): an event at which something is to be done; something by which the running thread
    // orders what it has stored; it has run for long, and lets others run.
    void change_point(Kind kind, const volatile void* place, uint32_t bytes);
    void orders(Place place, bool is_fence = false);
    void settle(const volatile void* place, uint32_t bytes);
    void let_others();
    void write_held_now() {
        if (here.holds) write_held(true);
    }
    // What turns.hpp asks of the block.
    uint64_t first_delay() const { return delays.empty() ? UINT64_MAX : delays.front().number; }
    bool may_look_again() const;
    bool may_spin() const;
    void tell_stuck();
    void wait_outside();

    // Ends the running thread without going back to it.
    [[noreturn]] void abandon();

    uint32_t lane() const { return current % 32; }
    uint32_t linear() const { return current; }
    uint64_t block() const { return block_number; }
    Warp& warp() { return warps[current / 32]; }
    Thread& running() { return threads[current]; }
    Launch& now() { return *launch; }

    bool is_shared(uintptr_t address, Found& found) const {
        for (const SharedArray& array : shared_arrays) {
            if (address - array.base < array.bytes) {
                found = {array.base, array.bytes, array.id};
                return true;
            }
        }
        return false;
    }
    // Whether an address is in memory that no other block reaches.
    bool is_only_own(uintptr_t address) const {
        Found found;
        return is_shared(address, found) && launch->cluster_blocks() == 1;
    }
    void add_shared(const char* name, const void* base, size_t bytes);
    void add_dynamic(const void* base, size_t bytes);
    void* dynamic_memory(size_t bytes);

    // Whether the log wants to hear what orders threads.
    bool is_told() const { return program_hands_over && here.log; }
    // The running thread did this.
    void synchronised(Synchronisation what) {
        what.ticket = launch->ticket();
        what.thread = current;
        threads[current].epochs.synchronised++;
        here.is_announced = false;
        here.log->synchronised(what);
    }
    // The same of an atomic, of which it is known what version of its cell it found. What is read once more is not told
    // once more: threads that wait would fill the log.
    void touched_cell(Synchronisation what, uint64_t version) {
        Thread& me = threads[current];
        if (what.event == Event::load) {
            const Synchronisation& last = me.last_load;
            bool is_same = me.last_version == version && last.cell == what.cell && last.order == what.order &&
                           last.scope == what.scope && last.is_of_block == what.is_of_block;
            if (is_same && last.event == Event::load) return;
            me.last_load = what;
            me.last_version = version;
        }
        synchronised(what);
    }

    // Tells the log which thread runs.
    void announce() {
        here.is_announced = true;
        here.log->segment(current, threads[current].epochs);
    }
    void prepare_sites();

private:
    friend void fiber_main();
    void begin_thread();
    void end_thread();
    void become(uint32_t thread);
    void leave();
    uint32_t pick();
    uint32_t pick_scheduled();
    uint32_t take_spinner(bool is_changed);
    uint32_t take_delayed();
    __attribute__((noinline)) void spun();
    void park_spinning(uint64_t seen);
    void delay();
    void take_changes();
    void find_next_change();
    void write_held(bool is_fence);
    std::string name_of(uint32_t thread) const { return text_of(threads[thread].index) + '\t' + text_of(launch->place_of(block_number)); }
    uint32_t take_ready();
    void make_ready(uint32_t thread) {
        threads[thread].state = State::ready;
        ready[(ready_first + ready_count++) % size] = thread;
    }
    void shuffle_order();
    void barrier_passed() {
        if (!is_told()) return;
        Synchronisation what;
        what.event = Event::barrier;
        what.ticket = launch->ticket();
        here.log->synchronised(what);
    }
    void release_barrier();
    void release_grid();
    bool release_cluster();
    bool cluster_opens();
    bool release_gathered();
    void complete(Warp& warp, uint32_t first, Rendezvous& met);
    void complete_if_all(TileMeeting& met);
    void lane_is_done(uint32_t thread);
    void deadlock();
    void cover_round();
    void tell_mixed();
    void tell_missing();
    static void count_sync(Thread& thread, uint32_t lane, uint32_t together);

    Launch* launch = nullptr;
    uint64_t block_number = 0;
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::vector<Rendezvous*> spare;
    std::vector<TileMeeting*> open_tiles;
    std::vector<uint32_t> order, ready;
    struct Delay {
        uint32_t thread;
        uint64_t number;   // of all delays
    };
    std::vector<Plan::Change> changes;   // of the block, that are still to come
    std::vector<Delay> delays;        // of threads that are delayed, in their order
    std::vector<uint32_t> spinning;   // threads that spin, in their order
    std::vector<Held> held;
    bool is_outside = false;          // it waits for other blocks
    uint64_t outside_seen = 0;
    uint32_t size = 0, started = 0, live = 0, current = 0, starting = NOBODY;
    uint32_t ready_first = 0, ready_count = 0;
    uint32_t arrived = 0, truths = 0, released_truths = 0, at_grid = 0, at_cluster = 0, gathering = 0, idle_yields = 0,
             at_end = 0;
    std::shared_ptr<Cluster> cluster;
    uint64_t cluster_phase = 0;   // for whose end threads wait
    Place barrier_place;
    int absent_line = 0;
    bool is_mixed = false;
    bool is_random = false;
    Random random{0};
    FiberPool pool;
    Fiber* on = nullptr;   // the fiber that runs
    Context home;          // the OS thread's own stack
    std::vector<SharedArray> shared_arrays;
    uint64_t shared_of = 0;   // the launch that declared them
    std::vector<Found> found_by_site;
    uint64_t found_generation = 0;
    char* dynamic = nullptr;
    size_t dynamic_capacity = 0;
};

inline thread_local Worker* worker = nullptr;

}  // namespace raceproof
