// What a scheduled run does at its events: threads are delayed, stores are held back, and those that spin are looked at.
//
// A thread that is delayed goes on when nobody else can, in all blocks. A store that is late is seen by its own thread alone until
// that orders it: by a fence or an atomic that releases at once; at a barrier, or at its end, the thread is delayed first,
// since only then is it bound to be seen. That is what the memory model lets a GPU do to a store without a fence.
//
// A thread spins that has read volatile memory or called atomics so many times without changing anything. Its state is its stack and
// the registers that a call preserves: if it comes back to a state while nothing has changed, it will do so for ever.
#pragma once

#include "crash.hpp"
#include "turns.hpp"

namespace raceproof {

constexpr uint32_t MOST_BUSY = 1000;

// The change points of the running launch.
inline std::vector<Plan::Change> changes_of_launch;

// Which events each site has, for those who choose change points: the first, and two at random.
class Sample {
public:
    struct Event {
        uint64_t block, thread, number;
    };
    static Sample& the() {
        static Sample sample;
        return sample;
    }
    void add(uint64_t site, Kind kind, const Event& event) {
        auto& seen = sites[{site, kind}];
        uint64_t count = seen.count++;
        if (count < 3) {
            seen.events[count] = event;
        } else if (uint64_t drawn = random.next() % count; drawn < 2) {
            seen.events[1 + drawn] = event;
        }
    }
    void tell(uint64_t launch) {
        for (const auto& [what, seen] : sites) {
            auto [site, kind] = what;
            const char* does = kind == Kind::write ? "write" : is_writing(kind) ? "update" : "read";
            for (uint64_t i = 0; i < seen.count && i < 3; i++) {
                const Event& event = seen.events[i];
                ToldSchedule::the().tell("point", launch, event.block, event.thread, event.number, site, does);
            }
        }
        sites.clear();
    }

private:
    struct Seen {
        uint64_t count = 0;
        Event events[3];
    };
    std::map<std::pair<uint64_t, Kind>, Seen> sites;
    Random random{1};
};

inline void sample_event(uint32_t site, Kind kind) {
    Sample::the().add(site, kind, {worker->block(), worker->linear(), here.thread->events});
}

inline void begin_schedule(Launch& launch) {
    bool are_sampled = getenv("RACEPROOF_SCHEDULE_POINTS") != nullptr && launch.number <= 32;
    events = Events{};
    events.are_sampled = are_sampled;
    changes_of_launch = Plan::the().changes(launch.number);
    launch.order = Plan::the().blocks(launch.number, launch.blocks / launch.cluster_blocks());
    launch.thread_order = Plan::the().threads(launch.number, launch.threads);
    Turns::the().begin();
}

// Tells of the launch, and what memory holds behind it. After so many bytes no more is looked at.
inline void end_schedule(Launch& launch, const std::string& arguments) {
    ToldSchedule& told = ToldSchedule::the();
    if (!told.is_wanted()) return;
    std::string one_line = arguments;
    std::replace(one_line.begin(), one_line.end(), '\n', ';');
    told.tell("launch", launch.number, launch.kernel, launch.blocks / launch.cluster_blocks(), uint64_t(launch.threads), events.now,
              uint64_t(Turns::the().most), one_line);
    if (events.are_sampled) Sample::the().tell(launch.number);
    static uint64_t left = uint64_t(4) << 30;
    static const char* wanted = getenv("RACEPROOF_SCHEDULE_DUMP");   // launch:allocation:path
    Memory::the().each([&](const Allocation& of) {
        if (of.space == Space::constant) return;
        if (of.bytes <= left) {
            left -= of.bytes;
            told.tell("memory", launch.number, uint64_t(of.id), uint64_t(of.bytes), of.name ? of.name : "",
                      digest(reinterpret_cast<const void*>(of.base), of.bytes));
        }
        std::string prefix = std::to_string(launch.number) + ':' + std::to_string(of.id) + ':';
        if (!wanted || strncmp(wanted, prefix.c_str(), prefix.size()) != 0) return;
        if (FILE* file = fopen(wanted + prefix.size(), "we")) {
            fwrite(reinterpret_cast<const void*>(of.base), 1, of.bytes, file);
            fclose(file);
        }
    });
}

inline void Worker::take_changes() {
    changes.clear();
    for (const Plan::Change& change : changes_of_launch) {
        if (change.block != block_number || change.thread >= size) continue;
        changes.push_back(change);
        Thread& of = threads[change.thread];
        of.next_change = std::min(of.next_change, change.event);
    }
}

// The first change point of the running thread that is still to come.
inline void Worker::find_next_change() {
    uint64_t next = UINT64_MAX;
    for (const Plan::Change& change : changes) {
        if (change.thread == current && change.event > here.thread->events) next = std::min(next, change.event);
    }
    here.thread->next_change = next;
}

inline void Worker::change_point(Kind kind, const volatile void* place, uint32_t bytes) {
    bool is_delayed = false, is_late = false;
    uint64_t event = here.thread->events;
    for (const Plan::Change& change : changes) {
        if (change.thread == current && change.event == event) (change.is_late ? is_late : is_delayed) = true;
    }
    find_next_change();
    is_late &= place && (kind == Kind::write) && bytes <= sizeof Held::before;
    auto tell = [&](const char* what) {
        Place at = threads[current].place;
        bool is_site = here.site != NO_SITE;
        ToldSchedule::the().tell(what, launch->number, block_number, uint64_t(current), event, is_site ? std::to_string(here.site) : "",
                                 !is_site && at.file ? at.file : "", uint64_t(is_site ? 0 : at.line), text_of(threadIdx), text_of(blockIdx));
    };
    if (is_delayed) {
        tell("delayed");
        delay();
    }
    if (is_late) {
        tell("late");
        Held store{current, const_cast<char*>(static_cast<const volatile char*>(place)), bytes, false, {}, {}};
        memcpy(store.before, store.place, bytes);
        held.push_back(store);
        here.holds = true;
    }
}

inline void Worker::delay() {
    threads[current].state = State::delayed;
    delays.push_back({current, Turns::the().next_delay++});
    leave();
    something_changes();
}

// The running thread has executed what is held back of it, or accesses it.
inline void Worker::settle(const volatile void* place, uint32_t bytes) {
    auto at = static_cast<const volatile char*>(place);
    for (size_t i = 0; i < held.size(); i++) {
        Held& store = held[i];
        if (store.thread != current) continue;
        if (!store.is_done) {
            memcpy(store.after, store.place, store.bytes);
            memcpy(store.place, store.before, store.bytes);
            store.is_done = true;
        }
        if (!at || at >= store.place + store.bytes || store.place >= at + bytes) continue;
        memcpy(store.place, store.after, store.bytes);
        held.erase(held.begin() + i--);
    }
    here.holds = !held.empty();
}

inline void Worker::write_held(bool is_fence) {
    settle(nullptr, 0);
    auto is_mine = [this](const Held& store) { return store.thread == current; };
    if (std::none_of(held.begin(), held.end(), is_mine)) return;
    if (!is_fence) delay();
    for (const Held& store : held) {
        if (is_mine(store)) memcpy(store.place, store.after, store.bytes);
    }
    held.erase(std::remove_if(held.begin(), held.end(), is_mine), held.end());
    here.holds = !held.empty();
    something_changes();
}

inline void Worker::orders(Place place, bool is_fence) {
    here.site = NO_SITE;
    threads[current].place = place;
    events.now++;
    here.thread->events++;
    if (here.thread->events == here.thread->next_change) change_point(Kind::read, nullptr, 0);
    if (here.holds) write_held(is_fence);
}

inline void Worker::park_spinning(uint64_t seen) {
    Thread& me = threads[current];
    me.state = State::spinning;
    me.spin.site = here.site;
    me.spin.seen = seen;
    spinning.push_back(current);
    leave();
}

// Many events without a break: a fair turn for the others, and in the end for those that are delayed.
inline void Worker::let_others() {
    here.steps = 0;
    if (Turns::the().starved++ < MOST_BUSY) return park_spinning(UINT64_MAX);
    Turns::the().starved = 0;
    delay();
}

inline void Worker::spun() {
    // Everything that the caller's registers hold is on the stack from here on.
    __builtin_unwind_init();
    auto low = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
#if defined(__x86_64__)
    low -= 5 * sizeof(uint64_t);
#endif
    Spin& spin = threads[current].spin;
    here.spins = 0;
    uint64_t state = digest(reinterpret_cast<const void*>(low), here.stack_low + here.stack_bytes - low) ^ here.site;
    if (spin.since != events.changes) {
        spin.since = events.changes;
        spin.rounds = 0;
        spin.is_cycle = false;
    }
    spin.is_cycle |= spin.rounds > 0 && state == spin.state;
    // The state that is kept is of ever longer ago, so that a cycle of any length is found.
    if ((spin.rounds & (spin.rounds + 1)) == 0) spin.state = state;
    spin.rounds++;
    park_spinning(events.changes);
}

inline uint32_t Worker::take_spinner(bool is_changed) {
    for (size_t i = 0; i < spinning.size(); i++) {
        uint32_t thread = spinning[i];
        const Spin& spin = threads[thread].spin;
        if (is_changed ? spin.seen == events.changes : spin.since == events.changes && spin.is_cycle) continue;
        spinning.erase(spinning.begin() + i);
        threads[thread].state = State::ready;
        return thread;
    }
    return NOBODY;
}

inline uint32_t Worker::take_delayed() {
    uint32_t thread = delays.front().thread;
    delays.erase(delays.begin());
    threads[thread].state = State::ready;
    return thread;
}

inline bool Worker::may_look_again() const {
    if (is_outside) return outside_seen != events.changes;
    if (at_cluster > 0 && cluster->is_over(cluster_phase)) return true;
    for (uint32_t thread : spinning) {
        if (threads[thread].spin.seen != events.changes) return true;
    }
    return false;
}

inline bool Worker::may_spin() const {
    for (uint32_t thread : spinning) {
        const Spin& spin = threads[thread].spin;
        if (spin.since != events.changes || !spin.is_cycle) return true;
    }
    return false;
}

inline void Worker::wait_outside() {
    is_outside = true;
    outside_seen = events.changes;
    Turns::the().pass(*this, *launch);
    is_outside = false;
}

inline uint32_t Worker::pick_scheduled() {
    for (;;) {
        if (ready_count > 0) return take_ready();
        if (started < size) return order[started++];
        if (live == 0) return NOBODY;
        if (uint32_t thread = take_spinner(true); thread != NOBODY) return thread;
        if (gathering > 0 && release_gathered()) continue;
        if (at_cluster > 0 && release_cluster()) continue;
        if (arrived == live) {
            release_barrier();
        } else if (at_grid == live) {
            release_grid();
        } else {
            switch (Turns::the().pass(*this, *launch)) {
            case Grant::look_again: break;
            case Grant::delayed: return take_delayed();
            case Grant::spinner: return take_spinner(false);
            }
        }
    }
}

// Who waits for what in a deadlock: a line for each place, with the first thread there and how many there are.
inline void Worker::tell_stuck() {
    struct Group {
        uint32_t first, count;
    };
    std::map<std::string, Group> groups;
    std::vector<std::string> names;
    for (uint32_t t = 0; t < size; t++) {
        const Thread& thread = threads[t];
        if (thread.state == State::done) continue;
        bool spins = thread.state == State::spinning;
        std::string key = std::to_string(int(thread.state)) + ':' + std::to_string(spins ? int(thread.spin.site) : thread.place.line);
        auto [found, is_new] = groups.insert({key, {t, 0}});
        found->second.count++;
        if (is_new) names.push_back(key);
    }
    for (const std::string& name : names) {
        Group group = groups[name];
        const Thread& thread = threads[group.first];
        bool spins = thread.state == State::spinning;
        std::string text = std::string(spins ? "to see a change" : waits_for(thread.state)) + '\t' +
                           (spins && thread.spin.site != NO_SITE ? std::to_string(thread.spin.site) : "") + '\t' +
                           std::to_string(group.count) + '\t' + name_of(group.first);
        Report::the().tell("stuck", text, launch->kernel, spins ? Place{} : thread.place, text);
    }
}

}  // namespace raceproof
