// What a test reaches: counts of the points that the instrumenter put into device code.
//
// Each OS thread counts for itself, four numbers for each point, and appends what it has counted to the file that RACEPROOF_COVER
// names when its part of a launch is over, a line for each point that was met: number, counts. A barrier that some threads of
// a block miss is told beside that, once for each OS thread, with the block and the threads.
//
//   run      executions
//   branch   false, true, warps whose threads differ, warps whose threads do not
//   loop     executions of no turn, of one, of more; turns
//   barrier  rounds to which all threads of the block come, rounds to which some do; arrivals
//
// A comparison, where the text looks for inputs, has lines `near`: number, outcome, and the operands that came nearest to each other with it.
//
// The threads of a warp differ at a branch if one of them finds its condition to be something else than another one at the
// same execution of it, or executes it more often. Threads that never come to it do not count.
#pragma once

#include <map>

#include "launch.hpp"

namespace raceproof {

constexpr size_t NO_POINT = SIZE_MAX;
inline size_t covered_points = 0;   // of all units; 0: nothing is counted

// A number that is compared.
struct Operand {
    bool is_real;
    long long whole;
    double value;

    double real() const { return is_real ? value : double(whole); }
    std::string text() const {
        if (!is_real) return std::to_string(whole);
        char digits[40];
        snprintf(digits, sizeof digits, "%.17g", value);
        // A number without a point is a whole one to who reads it.
        return strpbrk(digits, ".eni") ? digits : std::string(digits) + ".0";
    }
};

class Coverage {
public:
    void begin_block(uint32_t threads) {
        block_threads = threads;
        if (counts.size() < covered_points) {
            counts.resize(covered_points);
            trails.resize(covered_points);
        }
    }

    void reached(size_t point) { counts[point].of[0]++; }

    void branch(size_t point, uint32_t thread, bool holds) {
        counts[point].of[holds]++;
        std::vector<uint64_t>& trail = trails[point];
        if (trail.empty()) {
            trail.assign(block_threads, 0);
            touched.push_back(point);
        }
        // Never 0, which is a thread that has not come.
        trail[thread] = (trail[thread] + 1 + holds) * 0x9e3779b97f4a7c15u | 1;
    }

    void loop(size_t point, uint64_t turns) {
        counts[point].of[turns > 1 ? 2 : turns]++;
        counts[point].of[3] += turns;
    }

    void arrival(size_t point) { counts[point].of[2]++; }

    // A comparison that came out as `holds`: of the operands that were seen, the nearest to each other are kept.
    void compare(size_t point, bool holds, Operand a, Operand b) {
        double apart = fabs(a.real() - b.real());
        if (apart != apart) return;
        auto found = nearest.find({point, holds});
        if (found != nearest.end() && found->second.apart <= apart) return;
        nearest[{point, holds}] = {apart, a, b};
    }

    // A barrier opens, or will never: `points` has for each thread the barrier that it is at, or NO_POINT.
    void round(const Launch& launch, uint64_t block, const std::vector<size_t>& points) {
        std::map<size_t, uint32_t> arrived;
        for (uint32_t thread = 0; thread < block_threads; thread++) {
            if (points[thread] != NO_POINT) arrived[points[thread]]++;
        }
        for (auto& [point, threads] : arrived) {
            bool is_whole = threads == block_threads;
            counts[point].of[is_whole ? 0 : 1]++;
            if (!is_whole && !missing.count(point)) missing[point] = text_of_missing(launch, block, points, point);
        }
    }

    void end_block() {
        for (size_t point : touched) {
            std::vector<uint64_t>& trail = trails[point];
            for (uint32_t first = 0; first < block_threads; first += 32) {
                uint64_t known = 0;
                bool differ = false;
                for (uint32_t thread = first; thread < block_threads && thread < first + 32; thread++) {
                    if (trail[thread] == 0) continue;
                    differ |= known != 0 && known != trail[thread];
                    known = trail[thread];
                }
                if (known != 0) counts[point].of[differ ? 2 : 3]++;
            }
            trail.clear();
        }
        touched.clear();
    }

    // Appends what was counted since the last time.
    void flush() {
        static Lock lock;
        static const char* path = getenv("RACEPROOF_COVER");
        std::string text;
        for (size_t point = 0; point < counts.size(); point++) {
            Counts& these = counts[point];
            if (!(these.of[0] | these.of[1] | these.of[2] | these.of[3])) continue;
            text += std::to_string(point);
            for (uint64_t count : these.of) text += '\t' + std::to_string(count);
            text += '\n';
            these = Counts{};
        }
        for (auto& [point, who] : missing) text += "missing\t" + std::to_string(point) + '\t' + who + '\n';
        missing.clear();
        for (auto& [which, pair] : nearest) {
            text += "near\t" + std::to_string(which.first) + (which.second ? "\t1\t" : "\t0\t") + pair.a.text() + '\t' + pair.b.text() + '\n';
        }
        nearest.clear();
        if (text.empty() || !path) return;
        Guard guard(lock);
        if (FILE* file = fopen(path, "a")) {
            fwrite(text.data(), 1, text.size(), file);
            fclose(file);
        }
    }

private:
    struct Counts {
        uint64_t of[4] = {0, 0, 0, 0};
    };

    // Kernel, block and its extents, and the threads that do not come, by number: `5-31,40`.
    std::string text_of_missing(const Launch& launch, uint64_t block, const std::vector<size_t>& points, size_t point) {
        uint3 place = launch.place_of(block);
        std::string text = launch.kernel;
        for (uint64_t number : {uint64_t(launch.number), uint64_t(place.x), uint64_t(place.y), uint64_t(place.z),
                                uint64_t(launch.block.x), uint64_t(launch.block.y)}) {
            text += '\t' + std::to_string(number);
        }
        text += '\t';
        const char* separator = "";
        for (uint32_t thread = 0; thread < block_threads; thread++) {
            if (points[thread] == point) continue;
            uint32_t first = thread;
            while (thread + 1 < block_threads && points[thread + 1] != point) thread++;
            text += separator + std::to_string(first) + '-' + std::to_string(thread);
            separator = ",";
        }
        return text;
    }

    uint32_t block_threads = 0;
    std::vector<Counts> counts;
    std::vector<std::vector<uint64_t>> trails;   // of each branch, by thread: what its conditions were so far
    std::vector<size_t> touched;
    std::map<size_t, std::string> missing;
    struct Pair {
        double apart;
        Operand a, b;
    };
    std::map<std::pair<size_t, bool>, Pair> nearest;   // of comparisons, by outcome
};

}  // namespace raceproof
