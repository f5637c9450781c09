// Whose turn it is: in a scheduled run one OS thread at a time runs, with the block that it has.
//
// A block runs until nothing in it can go on: all its threads are delayed, spin, or wait. Then a block begins that has not
// begun yet, on another OS thread; if there is none, those that spin look again at what has changed; then the thread goes on
// that was delayed first; then those that spin, although nothing has changed. Blocks that wait for others thus never keep these from beginning,
// up to as many as there may be OS threads.
//
// When nobody can go on it is a deadlock: every thread waits, or spins and has come back to a state in which it was before, with
// its stack, its registers and all memory alike (change_points.hpp). That is not guessed from the time: a slow kernel is
// never told to be in deadlock, and a loop that counts while it spins is not, either. Code that is not instrumented may
// change memory unseen; so all spin once more, and allocations have to hold the same as before.
#pragma once

#include "worker.hpp"

namespace raceproof {

// Brings another OS thread to the launch; false: there are as many as there may be.
bool invite(Launch& launch);

class Turns {
public:
    static Turns& the() {
        static Turns* turns = new Turns;
        return *turns;
    }

    // An OS thread comes to a launch: the host's has the turn, others are given theirs.
    void enter(Worker& who) {
        Guard guard(lock);
        Seat* seat = new Seat{&who};
        seat->has_turn = seats.empty() || is_awaited;
        is_awaited = false;
        seats.push_back(seat);
        most = std::max(most, seats.size());
        wait(*seat);
    }

    // It has no more blocks. The host's comes back when all others have left, too.
    void leave(Worker& who) {
        Guard guard(lock);
        size_t at = place_of(who);
        Seat* seat = seats[at];
        seats.erase(seats.begin() + at);
        delete seat;
        if (!seats.empty()) hand_on(nullptr, at == 0 ? 0 : at - 1, nullptr);
    }

    // Nothing in the block can go on. Comes back with what may be done in it.
    Grant pass(Worker& who, Launch& launch) {
        Guard guard(lock);
        size_t at = place_of(who);
        Seat* seat = seats[at];
        hand_on(seat, at, &launch);
        wait(*seat);
        return seat->grant;
    }

    void begin() {
        starved = 0;
        most = 0;
        is_suspected = false;
    }

    uint64_t next_delay = 0;
    size_t most = 0;        // blocks that were at work at once
    uint32_t starved = 0;   // how often somebody went on since a delayed thread did

private:
    struct Seat {
        Worker* worker;
        pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
        bool has_turn = false;
        Grant grant = Grant::look_again;
    };

    void wait(Seat& seat) {
        while (!seat.has_turn) pthread_cond_wait(&seat.turn, &lock.mutex);
    }
    size_t place_of(Worker& who) const {
        size_t at = 0;
        while (seats[at]->worker != &who) at++;
        return at;
    }

    void hand_on(Seat* from, size_t at, Launch* launch) {
        if (from) from->has_turn = false;
        if (launch && launch->has_more() && invite(*launch)) {
            is_awaited = true;
            return;
        }
        auto give = [](Seat& to, Grant grant) {
            to.grant = grant;
            to.has_turn = true;
            pthread_cond_signal(&to.turn);
        };
        Seat* delayed = nullptr;
        for (Seat* seat : seats) {
            if (seat->worker->first_delay() < (delayed ? delayed->worker->first_delay() : UINT64_MAX)) delayed = seat;
        }
        bool is_patient = starved < MOST_STARVED;
        for (size_t i = 1; i <= seats.size() && (is_patient || !delayed); i++) {
            Seat& seat = *seats[(at + i) % seats.size()];
            if (!seat.worker->may_look_again()) continue;
            if (delayed) starved++;
            return give(seat, Grant::look_again);
        }
        if (delayed) {
            starved = 0;
            return give(*delayed, Grant::delayed);
        }
        for (size_t i = 1; i <= seats.size(); i++) {
            Seat& seat = *seats[(at + i) % seats.size()];
            if (seat.worker->may_spin()) return give(seat, Grant::spinner);
        }
        uint64_t held = contents();
        if (!is_suspected || held != suspected) {
            is_suspected = true;
            suspected = held;
            something_changes();
            return hand_on(from, at, launch);
        }
        deadlock(launch && launch->has_more());
    }

    static uint64_t contents() {
        uint64_t held = 0;
        Memory::the().each([&](const Allocation& of) {
            held = held * 31 + digest(reinterpret_cast<const void*>(of.base), of.bytes);
        });
        return held;
    }

    [[noreturn]] void deadlock(bool has_more) {
        Launch& launch = seats[0]->worker->now();
        if (has_more) {
            Report::the().tell("unhonoured", launch.kernel, launch.kernel, {},
                               std::to_string(seats.size()) + " blocks wait for others that have not begun, and no more can be at work at once");
        } else {
            Report::the().tell("deadlock", launch.kernel, launch.kernel, {}, std::to_string(launch.number));
            for (Seat* seat : seats) seat->worker->tell_stuck();
        }
        fflush(stdout);
        _exit(72);
    }

    static constexpr uint32_t MOST_STARVED = 1000;

    Lock lock;
    std::vector<Seat*> seats;   // in the order in which they came
    bool is_awaited = false;    // an OS thread that was invited
    bool is_suspected = false;  // it may be a deadlock, if memory
    uint64_t suspected = 0;     // stays like this
};

inline void wait_outside(pthread_cond_t& changed, Lock& lock) {
    if constexpr (is_scheduled) {
        lock.unlock();
        worker->wait_outside();
        lock.lock();
    } else {
        pthread_cond_wait(&changed, &lock.mutex);
    }
}

}  // namespace raceproof
