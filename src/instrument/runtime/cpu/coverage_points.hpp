// What stands at points of coverage. A program of several units has one table of points: those of a unit begin where those of
// the unit before end. What takes their numbers therefore belongs to its unit (static).
#pragma once

#include "kernel.hpp"

#ifndef RACEPROOF_FIRST_POINT
#define RACEPROOF_FIRST_POINT 0
#endif

namespace raceproof {
namespace {

struct points {
    explicit points(size_t of_unit) {
        size_t end = RACEPROOF_FIRST_POINT + of_unit;
        if (covered_points < end) covered_points = end;
    }
};

inline void reached(size_t point) {
    if (here.in_kernel) worker->coverage.reached(RACEPROOF_FIRST_POINT + point);
}

inline bool branch(size_t point, bool holds) {
    if (here.in_kernel) worker->coverage.branch(RACEPROOF_FIRST_POINT + point, worker->linear(), holds);
    return holds;
}

inline void at_barrier(size_t point) {
    if (!here.in_kernel) return;
    worker->coverage.arrival(RACEPROOF_FIRST_POINT + point);
    worker->running().point = RACEPROOF_FIRST_POINT + point;
}

// Counts its turns until it is left, in whatever way.
class covered_loop {
public:
    explicit covered_loop(size_t number) : point(RACEPROOF_FIRST_POINT + number) {}
    ~covered_loop() {
        if (here.in_kernel) worker->coverage.loop(point, turns);
    }
    void turn() { turns++; }

private:
    size_t point;
    uint64_t turns = 0;
};

}  // namespace
}  // namespace raceproof
