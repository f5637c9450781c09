// Pipelines that the threads of a block share: for each stage a barrier that says "full" and one that says "empty".
//
// A copy is told by the barrier of the stage that its thread commits next. What a thread does at these barriers is no access of
// the program: nothing is logged of them but their phases.
#pragma once

#include "phases.hpp"

namespace cuda {

enum class pipeline_role { producer, consumer };

template <thread_scope Among, uint8_t Stages> class pipeline_shared_state {
    static_assert(Among == thread_scope_block, "raceproof: the cpu back end has pipelines of one thread or one block");

public:
    pipeline_shared_state() = default;
    pipeline_shared_state(const pipeline_shared_state&) = delete;

private:
    friend class pipeline<thread_scope_block>;
    alignas(8) raceproof::Phases full[Stages], empty[Stages];
    uint32_t producers;
};

template <> class pipeline<thread_scope_block> {
public:
    pipeline(const pipeline&) = delete;
    pipeline(pipeline&&) = default;

    void producer_acquire(RACEPROOF_HERE) {
        if (filled >= stages) wait(&empty[filled % stages], filled / stages - 1, {file, line});
    }
    void producer_commit() {
        raceproof::Phases* stage = &full[filled++ % stages];
        raceproof::finish(raceproof::worker->linear(), [=](const raceproof::Copy& copy) { return copy.told_by == stage; });
        raceproof::count_arrival(stage, 1, 0, raceproof::Scope::block);
    }
    void consumer_wait(RACEPROOF_HERE) {
        wait(&full[waited % stages], waited / stages, {file, line});
        waited++;
    }
    void consumer_release() { raceproof::count_arrival(&empty[emptied++ % stages], 1, 0, raceproof::Scope::block); }

    const void* next() const { return &full[filled % stages]; }

    template <class Group, uint8_t Stages>
    static pipeline make(const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state, bool fills, bool empties) {
        uint32_t threads = uint32_t(group.size());
        if (group.thread_rank() == 0) state->producers = 0;
        group.sync();
        state->producers += fills;
        group.sync();
        if (group.thread_rank() == 0) {
            uint32_t producers = state->producers, consumers = empties && fills ? threads : threads - producers;
            for (uint32_t stage = 0; stage < Stages; stage++) {
                state->full[stage] = raceproof::Phases{producers, producers, 0};
                state->empty[stage] = raceproof::Phases{consumers, consumers, 0};
            }
        }
        group.sync();
        return pipeline(state->full, state->empty, Stages);
    }

private:
    pipeline(raceproof::Phases* full, raceproof::Phases* empty, uint32_t stages) : full(full), empty(empty), stages(stages) {}

    static void wait(raceproof::Phases* barrier, uint64_t phase, raceproof::Place place) {
        while (!raceproof::is_over(barrier, phase, raceproof::Scope::block)) raceproof::worker->wait_at(barrier, place);
    }

    raceproof::Phases *full, *empty;
    uint32_t stages, filled = 0, waited = 0, emptied = 0;
};

template <class Group, uint8_t Stages>
inline pipeline<thread_scope_block> make_pipeline(const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state) {
    return pipeline<thread_scope_block>::make(group, state, true, true);
}
template <class Group, uint8_t Stages>
inline pipeline<thread_scope_block>
make_pipeline(const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state, pipeline_role role) {
    bool fills = role == pipeline_role::producer;
    return pipeline<thread_scope_block>::make(group, state, fills, !fills);
}
template <class Group, uint8_t Stages>
inline pipeline<thread_scope_block>
make_pipeline(const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state, size_t producers) {
    bool fills = group.thread_rank() < producers;
    return pipeline<thread_scope_block>::make(group, state, fills, !fills);
}

template <class To, class From, class Size>
inline void memcpy_async(To* to, const From* from, Size bytes, pipeline<thread_scope_block>& pipe) {
    raceproof::begin_copy(to, from, bytes, 0, pipe.next(), 0);
}
template <class Group, class To, class From, class Size>
inline void memcpy_async(const Group& group, To* to, const From* from, Size bytes, pipeline<thread_scope_block>& pipe) {
    if (group.thread_rank() == 0) raceproof::begin_copy(to, from, bytes, 0, pipe.next(), 0);
}

}  // namespace cuda
