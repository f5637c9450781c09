// Where lanes of a warp meet, and what is told when threads of a block do not.
#pragma once

#include "schedule.hpp"

namespace raceproof {

constexpr uint8_t SYNC = 1;

// Gives the meeting after all lanes of `mask` that live have come; the caller reads from it and then takes leave.
inline Rendezvous* Worker::arrive(uint32_t mask, uint8_t kind, const void* value, size_t bytes, bool truth,
                                  Place place) {
    if (is_scheduled && kind == SYNC) orders(place);
    Warp& mine = warp();
    uint32_t bit = 1u << lane();
    if (!(mask & bit)) {
        Report::the().tell("mask", std::string(launch->kernel) + std::to_string(place.line), launch->kernel, place,
                           "a thread calls a warp intrinsic with a mask that does not name it");
        mask = bit;
    }
    Rendezvous* met = nullptr;
    for (Rendezvous* open : mine.open) {
        if (!open->complete && open->mask == mask && open->kind == kind && !(open->arrived & bit)) met = open;
    }
    if (!met) {
        if (spare.empty()) {
            met = new Rendezvous;
        } else {
            met = spare.back();
            spare.pop_back();
        }
        met->mask = mask;
        met->kind = kind;
        met->arrived = met->taken = met->truths = 0;
        met->complete = false;
        mine.open.push_back(met);
    }
    met->arrived |= bit;
    if (truth) met->truths |= bit;
    if (bytes) memcpy(met->values[lane()], value, bytes);
    if ((mask & mine.live & ~met->arrived) == 0) {
        complete(mine, current / 32 * 32, *met);
        // All that came before are ready; the last one goes on at once.
        threads[current].state = State::ready;
    } else {
        threads[current].state = State::at_warp;
        threads[current].place = place;
        leave();
    }
    return met;
}

// Lanes that have returned count as having come: the hardware no longer waits for them either.
inline void Worker::count_sync(Thread& thread, uint32_t lane, uint32_t together) {
    for (uint32_t level = 1; level <= 5; level++) {
        uint32_t width = 1u << level;
        uint32_t group = width == 32 ? ~0u : ((1u << width) - 1) << (lane & ~(width - 1));
        if ((group & ~together) == 0) thread.epochs.tile[level - 1]++;
    }
}

inline void Worker::complete(Warp& of, uint32_t first, Rendezvous& met) {
    met.complete = true;
    idle_yields = 0;
    uint32_t together = met.arrived | ~of.live;
    bool is_told_of = met.kind == SYNC && is_told();
    if (is_told_of) {
        Synchronisation what;
        what.event = Event::meeting;
        what.ticket = launch->ticket();
        what.thread = first;
        what.lanes = size - first >= 32 ? together : together & ((1u << (size - first)) - 1);
        here.log->synchronised(what);
    }
    for (uint32_t lane = 0; lane < 32 && first + lane < size; lane++) {
        if (is_told_of && together >> lane & 1) threads[first + lane].epochs.synchronised++;
        if (!(met.arrived >> lane & 1)) continue;
        Thread& thread = threads[first + lane];
        if (met.kind == SYNC) {
            count_sync(thread, lane, together);
            if (first + lane == current) here.is_announced = false;
        }
        if (thread.state == State::at_warp) make_ready(first + lane);
    }
}

inline void Worker::take(Rendezvous* met) {
    met->taken |= 1u << lane();
    if (met->taken != met->arrived) return;
    std::vector<Rendezvous*>& open = warp().open;
    for (size_t i = 0; i < open.size(); i++) {
        if (open[i] != met) continue;
        open[i] = open.back();
        open.pop_back();
        break;
    }
    spare.push_back(met);
}

inline TileMeeting* Worker::arrive_tile(uint32_t first, uint32_t threads_of, bool is_sync, const void* value,
                                        size_t bytes, Place place) {
    if (is_scheduled && is_sync) orders(place);
    TileMeeting* met = nullptr;
    for (TileMeeting* open : open_tiles) {
        bool is_same = !open->complete && open->first == first && open->is_sync == is_sync;
        if (is_same && !open->has_come[current - first]) met = open;
    }
    if (!met) {
        met = new TileMeeting;
        met->first = first;
        met->end = first + threads_of < size ? first + threads_of : size;
        met->is_sync = is_sync;
        met->has_come.resize(met->end - first);
        met->values.resize((met->end - first) * 32);
        open_tiles.push_back(met);
    }
    met->has_come[current - first] = 1;
    met->arrived++;
    if (bytes) memcpy(&met->values[(current - first) * 32], value, bytes);
    threads[current].state = State::at_warp;
    threads[current].place = place;
    complete_if_all(*met);
    leave();
    return met;
}

inline void Worker::complete_if_all(TileMeeting& met) {
    if (met.complete) return;
    for (uint32_t thread = met.first; thread < met.end; thread++) {
        if (!met.has_come[thread - met.first] && threads[thread].state != State::done) return;
    }
    met.complete = true;
    idle_yields = 0;
    if (met.is_sync) barrier_passed();
    for (uint32_t thread = met.first; thread < met.end; thread++) {
        if (!met.has_come[thread - met.first]) continue;
        // A tile that is the whole block has passed a barrier of the block; who asks for less is refused (groups.hpp).
        if (met.is_sync) threads[thread].epochs.block++;
        make_ready(thread);
    }
}

inline void Worker::take(TileMeeting* met) {
    if (++met->taken != met->arrived) return;
    for (size_t i = 0; i < open_tiles.size(); i++) {
        if (open_tiles[i] != met) continue;
        open_tiles[i] = open_tiles.back();
        open_tiles.pop_back();
        break;
    }
    delete met;
}

inline void Worker::tell_mixed() {
    auto is_here = [this](const Thread& thread) {
        return thread.place.line == barrier_place.line && thread.place.site == barrier_place.site;
    };
    for (uint32_t thread = 0; thread < size; thread++) {
        const Thread& other = threads[thread];
        if (other.state != State::at_barrier || is_here(other)) continue;
        const Thread* first = nullptr;
        for (uint32_t t = 0; t < size && !first; t++) {
            if (threads[t].state == State::at_barrier && is_here(threads[t])) first = &threads[t];
        }
        std::string text = "threads of block " + text_of(blockIdx) + " wait at different barriers: thread " +
                           text_of(first ? first->index : uint3{}) + " here, thread " + text_of(other.index) +
                           " on line " + std::to_string(other.place.line);
        Report::the().tell("divergence", std::string(launch->kernel) + std::to_string(barrier_place.line), launch->kernel,
                           barrier_place, text);
        return;
    }
}

inline void Worker::tell_missing() {
    const Thread* waiting = nullptr;
    const Thread* missing = nullptr;
    for (uint32_t t = 0; t < size; t++) {
        if (!waiting && threads[t].state == State::at_barrier) waiting = &threads[t];
        if (!missing && threads[t].at_end) missing = &threads[t];
    }
    std::string text = "threads of block " + text_of(blockIdx) + " wait at a barrier that others never reach: thread " +
                       text_of(waiting ? waiting->index : uint3{}) + " here, thread " +
                       text_of(missing ? missing->index : uint3{}) + " at the end of the kernel";
    Report::the().tell("divergence", std::string(launch->kernel) + std::to_string(barrier_place.line), launch->kernel,
                       barrier_place, text);
}

inline const char* waits_for(State state) {
    switch (state) {
        case State::at_barrier: return "the barrier of the block";
        case State::at_warp: return "other threads of its warp or tile";
        case State::at_grid: return "the barrier of the grid";
        case State::at_cluster: return "the barrier of the cluster";
        case State::at_object: return "threads that have not arrived";
        default: return "others";
    }
}

inline void Worker::deadlock() {
    cover_round();
    const Thread* first = nullptr;
    const Thread* second = nullptr;
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < size; i++) {
        Thread& thread = threads[i];
        if (thread.state == State::done || thread.state == State::fresh) continue;
        waiting++;
        if (!first) first = &thread;
        else if (!second && (thread.place.line != first->place.line || thread.state != first->state)) second = &thread;
    }
    std::string text = "deadlock of block " + text_of(blockIdx) + ", in which " + std::to_string(waiting) +
                       " threads wait: thread " + text_of(first->index) + " for " + waits_for(first->state);
    if (second) {
        text += ", thread " + text_of(second->index) + " on line " + std::to_string(second->place.line) + " for " +
                waits_for(second->state);
    }
    Report::the().tell("divergence", std::string(launch->kernel) + std::to_string(first->place.line), launch->kernel,
                       first->place, text);
    launch->fail(702);   // cudaErrorLaunchTimeout: what a hung kernel ends in
    for (uint32_t i = 0; i < size; i++) {
        Thread& thread = threads[i];
        if (thread.state == State::done) continue;
        thread.state = State::done;
        if (cluster) cluster->returned(thread.cluster_arrivals);
        if (i == current) continue;   // who called gives its own fiber back
        Fiber* fiber = thread.fiber;
        fiber->context.prepare(fiber->low, fiber->bytes, fiber->low + fiber->bytes, fiber_main);
        pool.give(fiber);
    }
    for (Warp& of : warps) {
        for (Rendezvous* met : of.open) spare.push_back(met);
        of.open.clear();
    }
    for (TileMeeting* met : open_tiles) delete met;
    open_tiles.clear();
    live = 0;
}

}  // namespace raceproof
