// How the scheduler of a block does its work; see worker.hpp for what it guarantees.
#pragma once

#include <sched.h>

#include "worker.hpp"

namespace raceproof {

// Every fiber does this for ever: it runs a thread, and the next one, and leaves when others are ready.
inline void fiber_main() {
    for (;;) {
        worker->begin_thread();
        worker->launch->body(worker->launch->parameters);
        worker->end_thread();
    }
}

inline void Worker::become(uint32_t thread) {
    current = thread;
    threadIdx = threads[thread].index;
    on = threads[thread].fiber;
    here.stack_low = reinterpret_cast<uintptr_t>(on->low);
    here.stack_bytes = on->bytes;
    here.is_announced = false;
    here.spins = here.steps = 0;
    here.thread = &threads[thread];
}

inline void Worker::begin_thread() {
    // A fiber that was just switched to stands in `on`.
    threads[starting].fiber = on;
    threads[starting].state = State::ready;
    become(starting);
    starting = NOBODY;
    idle_yields = 0;
}

inline void Worker::end_thread() {
    if (!copies.empty()) finish_copies(current);
    if constexpr (is_scheduled) orders({});
    lane_is_done(current);
    uint32_t next = pick();
    if (next == NOBODY) {
        Fiber* mine = on;
        pool.give(mine);
        mine->context.go(home);
    } else if (threads[next].state == State::fresh) {
        starting = next;
    } else {
        Fiber* mine = on;
        pool.give(mine);
        current = next;
        mine->context.go(threads[next].fiber->context);
    }
}

inline void Worker::leave() {
    uint32_t self = current;
    uint32_t next = pick();
    Fiber* mine = on;
    if (next == NOBODY) {
        // A deadlock: this thread is never gone on with.
        Context nowhere;
        mine->context.prepare(mine->low, mine->bytes, mine->low + mine->bytes, fiber_main);
        pool.give(mine);
        nowhere.go(home);
        __builtin_unreachable();
    }
    if (next != self) {
        if (threads[next].state == State::fresh) {
            starting = next;
            on = pool.take(fiber_main);
            mine->context.go(on->context);
        } else {
            mine->context.go(threads[next].fiber->context);
        }
    }
    become(self);
}

inline void Worker::abandon() {
    if constexpr (is_scheduled) orders({}, true);
    lane_is_done(current);
    uint32_t next = pick();
    Fiber* mine = on;
    Context nowhere;
    mine->context.prepare(mine->low, mine->bytes, mine->low + mine->bytes, fiber_main);
    pool.give(mine);
    if (next == NOBODY) {
        nowhere.go(home);
    } else if (threads[next].state == State::fresh) {
        starting = next;
        on = pool.take(fiber_main);
        nowhere.go(on->context);
    } else {
        nowhere.go(threads[next].fiber->context);
    }
    __builtin_unreachable();
}

inline uint32_t Worker::take_ready() {
    if (is_random && ready_count > 1) {
        uint32_t chosen = (ready_first + random.below(ready_count)) % size;
        std::swap(ready[ready_first], ready[chosen]);
    }
    uint32_t thread = ready[ready_first];
    ready_first = ready_first + 1 == size ? 0 : ready_first + 1;
    ready_count--;
    return thread;
}

inline uint32_t Worker::pick() {
    if constexpr (is_scheduled) return pick_scheduled();
    for (;;) {
        if (started < size) {
            // In order, threads that wait for others of their warp go on first; else either may.
            bool goes_on = ready_count > 0 && (is_random ? random.below(2) == 0 : idle_yields == 0);
            return goes_on ? take_ready() : order[started++];
        }
        if (ready_count > 0) return take_ready();
        if (live == 0) return NOBODY;
        if (gathering > 0 && release_gathered()) continue;
        if (at_cluster > 0 && cluster_opens()) continue;
        if (arrived == live) {
            release_barrier();
        } else if (at_grid == live) {
            release_grid();
        } else {
            deadlock();
            return NOBODY;
        }
    }
}

inline void Worker::shuffle_order() {
    if (!launch->thread_order.empty()) {
        std::copy(launch->thread_order.begin(), launch->thread_order.end(), order.begin());
        return;
    }
    for (uint32_t i = 0; i < size; i++) order[i] = i;
    if (!is_random) return;
    for (uint32_t i = size; i > 1; i--) std::swap(order[i - 1], order[random.below(i)]);
}

// Tells which barriers the threads of the block are at, and forgets it.
inline void Worker::cover_round() {
    if (covered_points == 0) return;
    std::vector<size_t> points(size, NO_POINT);
    for (uint32_t thread = 0; thread < size; thread++) {
        if (threads[thread].state != State::at_barrier) continue;
        std::swap(points[thread], threads[thread].point);
    }
    coverage.round(*launch, block_number, points);
}

inline void Worker::release_barrier() {
    cover_round();
    if (is_mixed) tell_mixed();
    if (at_end > 0 && !is_mixed) tell_missing();
    released_truths = truths;
    arrived = truths = 0;
    is_mixed = false;
    idle_yields = 0;
    barrier_passed();
    something_changes();
    for (uint32_t i = 0; i < size; i++) {
        uint32_t thread = order[i];
        if (threads[thread].state != State::at_barrier) continue;
        threads[thread].epochs.block++;
        make_ready(thread);
    }
}

inline void Worker::release_grid() {
    at_grid = 0;
    idle_yields = 0;
    launch->barrier->wait();
    barrier_passed();
    something_changes();
    for (uint32_t i = 0; i < size; i++) {
        uint32_t thread = order[i];
        if (threads[thread].state != State::at_grid) continue;
        threads[thread].epochs.grid++;
        threads[thread].epochs.block++;
        make_ready(thread);
    }
}

// Lets the threads go on that wait for a phase of the cluster, if it is over.
inline bool Worker::release_cluster() {
    if (at_cluster == 0 || !cluster->is_over(cluster_phase)) return false;
    at_cluster = 0;
    idle_yields = 0;
    for (uint32_t thread = 0; thread < size; thread++) {
        if (threads[thread].state == State::at_cluster) make_ready(thread);
    }
    return true;
}

// Nobody can go on here before the cluster does: if all threads of this block have arrived, the others decide.
inline bool Worker::cluster_opens() {
    for (uint32_t thread = 0; thread < size; thread++) {
        bool is_awaited = threads[thread].state != State::done && threads[thread].cluster_arrivals != cluster_phase + 1;
        if (is_awaited && !cluster->is_over(cluster_phase)) return false;
    }
    cluster->wait(cluster_phase);
    return release_cluster();
}

inline Cluster& Worker::own_cluster() {
    auto anchor = reinterpret_cast<uintptr_t>(&here);
    if (!cluster) cluster = std::make_shared<Cluster>(launch->cluster_of(blockIdx), 1, live, anchor);
    return *cluster;
}

inline bool Worker::release_gathered() {
    bool any = false;
    for (uint32_t first = 0; gathering > 0 && first < size; first++) {
        if (threads[first].state != State::gathering) continue;
        uint32_t end = first / 32 * 32 + 32 < size ? first / 32 * 32 + 32 : size;
        uint32_t lanes = 0;
        int line = threads[first].place.line;
        for (uint32_t t = first; t < end; t++) {
            if (threads[t].state == State::gathering && threads[t].place.line == line) lanes |= 1u << t % 32;
        }
        for (uint32_t t = first; t < end; t++) {
            if (!(lanes >> t % 32 & 1)) continue;
            threads[t].gathered = lanes;
            gathering--;
            make_ready(t);
        }
        any = true;
    }
    return any;
}

inline void Worker::run_block(Launch& of, uint64_t number) {
    launch = &of;
    block_number = number;
    size = live = of.threads;
    blockIdx = of.place_of(number);
    blockDim = of.block;
    gridDim = of.grid;
    if (threads.size() < size) {
        threads.resize(size);
        warps.resize((size + 31) / 32);
        order.resize(size);
        ready.resize(size);
    }
    halves = Halves{};
    delays.clear();
    spinning.clear();
    held.clear();
    here.holds = false;
    copies.clear();
    started = ready_first = ready_count = arrived = truths = at_grid = at_cluster = gathering = idle_yields = at_end = 0;
    is_mixed = false;
    is_random = schedule_seed() != 0;
    random = Random(schedule_seed() * 0x2545f4914f6cdd1du ^ of.number << 32 ^ number);
    shuffle_order();
    for (uint32_t i = 0; i < size; i++) {
        Thread& thread = threads[i];
        thread.state = State::fresh;
        thread.epochs = Epochs{};
        thread.last_load = Synchronisation{};
        thread.last_version = 0;
        thread.cluster_arrivals = 0;
        thread.at_end = false;
        thread.point = NO_POINT;
        thread.spin = Spin{};
        thread.events = 0;
        thread.next_change = UINT64_MAX;
        thread.index = {i % of.block.x, i / of.block.x % of.block.y, i / of.block.x / of.block.y};
    }
    if constexpr (is_scheduled) take_changes();
    for (uint32_t first = 0; first < size; first += 32) {
        warps[first / 32].live = size - first >= 32 ? ~0u : (1u << (size - first)) - 1;
    }
    bool in_cluster = of.cluster_blocks() > 1;
    if (shared_of != of.number || in_cluster) {
        // Another launch has other arrays, and dynamic memory of another size. In a cluster each block has its own.
        shared_of = of.number;
        shared_arrays.clear();
        if (dynamic) found_by_site.assign(found_by_site.size(), Found{});
    }
    if (in_cluster) {
        auto anchor = reinterpret_cast<uintptr_t>(&here);
        cluster = of.clusters.of(of.cluster_of(blockIdx), of.cluster_blocks(), size, anchor);
        auto dynamic_base = of.dynamic_bytes > 0 ? reinterpret_cast<uintptr_t>(dynamic_memory(of.dynamic_bytes)) : 0;
        cluster->begin(of.rank_of(blockIdx), anchor, dynamic_base);
    }
    alignas(BlockLog) char room[sizeof(BlockLog)];
    BlockLog* log = nullptr;
    if (Memory::the().logs()) log = new (room) BlockLog(Memory::the().the_log(), of.log_id, number);
    here.log = log;
    prepare_sites();
    if (covered_points > 0) coverage.begin_block(size);
    here.in_kernel = true;
    starting = pick();
    on = pool.take(fiber_main);
    home.go(on->context);
    here.in_kernel = false;
    here.log = nullptr;
    if (covered_points > 0) coverage.end_block();
    if (log) log->~BlockLog();
    if (in_cluster) {
        cluster->end();
        of.clusters.ended(cluster->number);
    }
    cluster.reset();
}

inline void Worker::lane_is_done(uint32_t thread) {
    threads[thread].state = State::done;
    live--;
    something_changes();
    Warp& of = warps[thread / 32];
    of.live &= ~(1u << thread % 32);
    for (Rendezvous* met : of.open) {
        if (!met->complete && (met->mask & of.live & ~met->arrived) == 0) complete(of, thread / 32 * 32, *met);
    }
    for (TileMeeting* met : open_tiles) complete_if_all(*met);
    if (all_have_arrived()) next_half();
    if (cluster) cluster->returned(threads[thread].cluster_arrivals);
}

}  // namespace raceproof
