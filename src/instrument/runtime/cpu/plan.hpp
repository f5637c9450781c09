// The schedule of a run: which blocks and threads come first, and who is delayed at which event (RACEPROOF_SCHEDULE).
//
//   blocks=reversed, blocks=seed:7, blocks=first:3, blocks=last    the order in which blocks begin; with `@L` of launch L alone
//   threads=…, warps=…                                             the same of the threads of each block
//   front=L@K, lead=L@T                                            in launch L block K, or thread T of each block, comes first
//   delay=L@B.T.E                                                  in launch L thread T of block B, at its event E, goes on when nobody else can
//   late=L@B.T.E                                                   what it stores at that event is seen when something orders it
//
// Parts stand between commas; no part is the baseline, in which all comes in the order of its numbers. Events are accesses
// to memory that is no thread's own, barriers, fences and the end of the thread; each thread counts its own from 1, so that what others do
// does not change which event a number means. As one thread runs at a time (turns.hpp), equal schedules give equal runs.
//
// Programs that are not built to be scheduled (RACEPROOF_SCHEDULED) have none of this.
#pragma once

#include <algorithm>
#include <vector>

#include "report.hpp"

namespace raceproof {

#ifdef RACEPROOF_SCHEDULED
inline constexpr bool is_scheduled = true;
#else
inline constexpr bool is_scheduled = false;
#endif

// A small generator of good quality (splitmix64): schedules depend on nothing but the seed.
class Random {
public:
    explicit Random(uint64_t seed) : state(seed) {}
    uint64_t next() {
        uint64_t z = (state += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    uint32_t below(uint32_t limit) { return uint32_t((next() >> 32) * limit >> 32); }

private:
    uint64_t state;
};

// What has happened in the launch that runs.
struct Events {
    uint64_t now = 0;       // how many there were
    uint64_t changes = 0;   // of memory, and of who waits for whom
    uint64_t clock = 0;     // what kernels are told of time: the same in equal runs
    bool are_sampled = false;
};
inline Events events;

// Something that others may wait for has changed.
inline void something_changes() {
    if constexpr (is_scheduled) events.changes++;
}

class Plan {
public:
    static const Plan& the() {
        static const Plan* plan = new Plan;
        return *plan;
    }

    struct Change {
        uint64_t block, thread, event;
        bool is_late;
    };

    // Orders; empty where it is that of the numbers.
    std::vector<uint32_t> blocks(uint64_t launch, uint64_t count) const {
        return ordered("blocks", "front", launch, uint32_t(count));
    }
    std::vector<uint32_t> threads(uint64_t launch, uint32_t count) const {
        std::vector<uint32_t> warps = ordered("warps", "", launch, (count + 31) / 32), threads;
        for (uint32_t warp : warps) {
            for (uint32_t t = warp * 32; t < warp * 32 + 32 && t < count; t++) threads.push_back(t);
        }
        std::vector<uint32_t> others = ordered("threads", "lead", launch, count);
        return others.empty() ? threads : others;
    }
    std::vector<Change> changes(uint64_t launch) const {
        std::vector<Change> found;
        for (const Part& part : parts) {
            if ((part.name == "delay" || part.name == "late") && part.launch == launch) {
                found.push_back({part.value, part.thread, part.event, part.name == "late"});
            }
        }
        return found;
    }

private:
    struct Part {
        std::string name, how;
        uint64_t value = 0, launch = 0;   // 0: all
        uint64_t thread = 0, event = 0;
    };

    Plan() {
        const char* text = getenv("RACEPROOF_SCHEDULE");
        std::string rest = text ? text : "";
        while (!rest.empty()) {
            size_t end = std::min(rest.find(','), rest.size());
            read(rest.substr(0, end));
            rest.erase(0, end + 1);
        }
    }

    void read(const std::string& text) {
        size_t is = text.find('='), at = text.find('@');
        if (is == std::string::npos) return;
        Part part;
        part.name = text.substr(0, is);
        auto number = [&](size_t from) { return strtoull(text.c_str() + from, nullptr, 10); };
        bool is_general = part.name == "blocks" || part.name == "threads" || part.name == "warps";
        if (is_general) {
            size_t colon = text.find(':');
            part.how = text.substr(is + 1, std::min(colon, std::min(at, text.size())) - is - 1);
            part.value = colon == std::string::npos ? 0 : number(colon + 1);
            part.launch = at == std::string::npos ? 0 : number(at + 1);
        } else if (at != std::string::npos) {
            part.launch = number(is + 1);
            part.value = number(at + 1);
            size_t first = text.find('.', at), second = text.rfind('.');
            if (first != std::string::npos) part.thread = number(first + 1), part.event = number(second + 1);
        }
        parts.push_back(part);
    }

    std::vector<uint32_t> ordered(const char* general, const char* move, uint64_t launch, uint32_t count) const {
        std::vector<uint32_t> order;
        auto begin = [&] {
            if (order.size() == count) return;
            order.resize(count);
            for (uint32_t i = 0; i < count; i++) order[i] = i;
        };
        auto pull = [&](uint64_t number) {
            auto found = std::find(order.begin(), order.end(), number);
            if (found != order.end()) std::rotate(order.begin(), found, found + 1);
        };
        for (const Part& part : parts) {
            if (part.name != general || (part.launch != 0 && part.launch != launch)) continue;
            begin();
            if (part.how == "reversed") {
                std::reverse(order.begin(), order.end());
            } else if (part.how == "seed") {
                Random random(part.value * 0x2545f4914f6cdd1du ^ launch);
                for (uint32_t i = count; i > 1; i--) std::swap(order[i - 1], order[random.below(i)]);
            } else {
                pull(part.how == "last" ? count - 1 : part.value);
            }
        }
        for (auto part = parts.rbegin(); part != parts.rend(); part++) {
            if (part->name != move || part->launch != launch) continue;
            begin();
            pull(part->value);
        }
        return order;
    }

    std::vector<Part> parts;
};

// A number for the contents of memory, for which contents that differ have another one in all likelihood.
inline uint64_t digest(const void* memory, size_t bytes) {
    auto at = static_cast<const char*>(memory);
    uint64_t lanes[4] = {1, 2, 3, 4};
    auto mix = [](uint64_t& lane, uint64_t word) {
        lane = (lane ^ word) * 0x9e3779b97f4a7c15u;
        lane ^= lane >> 29;
    };
    for (; bytes >= 32; at += 32, bytes -= 32) {
        uint64_t words[4];
        memcpy(words, at, 32);
        for (int i = 0; i < 4; i++) mix(lanes[i], words[i]);
    }
    for (; bytes > 0; at++, bytes--) mix(lanes[0], uint8_t(*at));
    for (int i = 1; i < 4; i++) mix(lanes[0], lanes[i]);
    return lanes[0];
}

// What a scheduled run tells: a line for each launch, allocation and change point, in the file RACEPROOF_SCHEDULE_TOLD.
class ToldSchedule {
public:
    static ToldSchedule& the() {
        static ToldSchedule* told = new ToldSchedule;
        return *told;
    }
    template <class... Numbers> void tell(const std::string& kind, Numbers... numbers) {
        if (!file) return;
        std::string line = kind;
        (add(line, numbers), ...);
        line += '\n';
        fwrite(line.data(), 1, line.size(), file);
        fflush(file);
    }
    bool is_wanted() const { return file != nullptr; }

private:
    ToldSchedule() {
        const char* path = getenv("RACEPROOF_SCHEDULE_TOLD");
        if (path && *path) file = fopen(path, "ae");
    }
    static void add(std::string& line, const std::string& text) { line += '\t' + text; }
    static void add(std::string& line, const char* text) { line += '\t', line += text; }
    static void add(std::string& line, uint64_t number) { line += '\t' + std::to_string(number); }

    FILE* file = nullptr;
};

// Whoever waits for other OS threads does so here: as scheduled, it gives its turn to them.
void wait_outside(pthread_cond_t& changed, Lock& lock);

}  // namespace raceproof
