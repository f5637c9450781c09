// From the records of warps to the log of blocks.
//
// The words of one ring come in order and in pieces. Records wait by block and warp until the block has ended or has
// become large; then what each thread did between two barriers is written as one segment. Barriers are counted here:
// which of the threads a sync of a warp names decides for which groups of threads it counts.
#pragma once

#include <memory>
#include <unordered_map>

#include "places.hpp"
#include "records.hpp"

namespace raceproof_cuda {

// What a launch is, for those who read its records.
struct Running {
    raceproof::Log& log;
    std::uint32_t launch;
    std::uint32_t threads;                                 // of a block
    Places& places;
    const std::vector<std::vector<std::string>>& shared;   // names of shared arrays, by unit
};

// An access record that is ready to be read lane by lane.
struct Touch {
    std::uint64_t base = 0;
    const u64* differences = nullptr;   // of a list
    const Extent* extent = nullptr;     // of the lowest lane
    std::uint32_t site = 0, kind = 0, bytes = 0, lanes = 0, lowest = 0;
    std::int32_t stride = 0;
    bool is_shared = false;

    std::uint64_t address(std::uint32_t lane) const {
        if (!differences) return base + std::uint64_t(std::int64_t(stride) * std::int64_t(lane - lowest));
        std::uint32_t rank = std::uint32_t(__builtin_popcount(lanes & ((1u << lane) - 1)));
        return base + std::uint64_t(std::int64_t(std::int32_t(differences[rank / 2] >> (rank % 2 * 32))));
    }
};

// One block that runs.
class Block {
public:
    Block(Running& launch, std::uint64_t of) : running(launch), number(of), warps((launch.threads + 31) / 32) {
        epochs.resize(launch.threads);
    }

    // Takes a record. Whether the block has ended with it.
    bool add(const u64* record, std::uint32_t count) {
        std::uint32_t warp = std::uint32_t(record[0] >> 8 & 0xff);
        if (warp >= warps.size()) return false;
        switch (std::uint32_t(record[0] & 15)) {
            case shared_extent: add_shared(record); return false;
            case refused: refuse("sync of a tile of several warps that is not the whole block");
            case thread_end:
                ended += std::uint32_t(__builtin_popcount(std::uint32_t(record[2])));
                return ended >= running.threads;
            default:
                warps[warp].insert(warps[warp].end(), record, record + count);
                words += count;
                if (words >= MOST_WORDS) write();
                return false;
        }
    }

    // Writes what has come so far.
    void write() {
        if (!out) out.reset(new raceproof::BlockLog(running.log, running.launch, number));
        for (std::uint32_t warp = 0; warp < warps.size(); warp++) {
            write_warp(warp);
            warps[warp].clear();
        }
        words = 0;
    }

private:
    static constexpr std::size_t MOST_WORDS = 1 << 16;

    void add_shared(const u64* record) {
        std::uint32_t id = std::uint32_t(record[0] >> 32), unit = id >> 16, array = id & 0xffff;
        bool is_known = unit < running.shared.size() && array < running.shared[unit].size();
        running.places.add_shared(is_known ? running.shared[unit][array] : "shared memory", std::uint32_t(record[3]),
                                  record[3] >> 32);
    }

    void write_warp(std::uint32_t warp) {
        const std::vector<u64>& from = warps[warp];
        touches.clear();
        for (std::size_t at = 0; at < from.size();) {
            const u64* record = &from[at];
            at += words_of(record[0], record[2]);
            if (std::uint32_t(record[0] & 15) <= wide) {
                touches.push_back(read_touch(record));
            } else {
                write_segments(warp);
                count_sync(warp, record);
            }
        }
        write_segments(warp);
    }

    Touch read_touch(const u64* record) const {
        Touch touch;
        std::uint32_t type = std::uint32_t(record[0] & 15), kind = std::uint32_t(record[0] >> 4 & 15);
        touch.kind = kind & 7;
        touch.is_shared = (kind & in_shared) != 0;
        touch.bytes = std::uint32_t(record[0] >> 16 & 0xffff);
        touch.site = std::uint32_t(record[0] >> 32);
        touch.lanes = std::uint32_t(record[2]);
        touch.lowest = std::uint32_t(__builtin_ctz(touch.lanes));
        touch.stride = type == line ? std::int32_t(record[2] >> 32) : 0;
        touch.base = record[3];
        if (type == list) touch.differences = record + 4;
        if (type == wide) touch.bytes = record[4] > 0xffffffffu ? 0xffffffffu : std::uint32_t(record[4]);
        touch.extent = find(touch, touch.base);
        return touch;
    }

    const Extent* find(const Touch& touch, std::uint64_t address) const {
        return touch.is_shared ? running.places.shared(address) : running.places.global(address);
    }

    void write_segments(std::uint32_t warp) {
        std::uint32_t all = 0;
        for (const Touch& touch : touches) all |= touch.lanes;
        for (; all; all &= all - 1) {
            std::uint32_t lane = std::uint32_t(__builtin_ctz(all)), thread = warp * 32 + lane;
            if (thread >= running.threads) break;
            out->segment(thread, epochs[thread]);
            for (const Touch& touch : touches) {
                if (touch.lanes >> lane & 1) write_access(touch, lane, thread);
            }
        }
        touches.clear();
    }

    void write_access(const Touch& touch, std::uint32_t lane, std::uint32_t thread) {
        std::uint64_t address = touch.address(lane);
        const Extent* extent = touch.extent && touch.extent->holds(address) ? touch.extent : find(touch, address);
        if (!extent) {
            return running.places.tell_wild(touch.site, touch.kind != reads, touch.bytes, address, number, thread);
        }
        std::uint64_t offset = address - extent->base;
        auto log = [&](raceproof::Kind kind) { out->access(touch.site, kind, extent->id, offset, touch.bytes); };
        if (touch.kind != reads_and_writes) return log(static_cast<raceproof::Kind>(touch.kind));
        log(raceproof::Kind::read);
        log(raceproof::Kind::write);
    }

    void count_sync(std::uint32_t warp, const u64* record) {
        std::uint32_t type = std::uint32_t(record[0] & 15);
        std::uint32_t named = std::uint32_t(record[2] >> 32) | lanes_that_are_not(warp);
        for (std::uint32_t lanes = std::uint32_t(record[2]); lanes; lanes &= lanes - 1) {
            std::uint32_t lane = std::uint32_t(__builtin_ctz(lanes)), thread = warp * 32 + lane;
            if (thread >= running.threads) break;
            raceproof::Epochs& mine = epochs[thread];
            if (type == sync_warp) {
                for (std::uint32_t level = 1; level <= 5; level++) {
                    std::uint32_t width = 1u << level;
                    std::uint32_t group = width == 32 ? ~0u : ((1u << width) - 1) << (lane & ~(width - 1));
                    if ((group & ~named) == 0) mine.tile[level - 1]++;
                }
            } else {
                mine.block++;
                if (type == sync_grid) mine.grid++;
            }
        }
    }

    // Lanes of the last warp beyond the block: nobody waits for them.
    std::uint32_t lanes_that_are_not(std::uint32_t warp) const {
        std::uint32_t left = running.threads - warp * 32;
        return left >= 32 ? 0 : ~((1u << left) - 1);
    }

    Running& running;
    const std::uint64_t number;
    std::vector<std::vector<u64>> warps;
    std::vector<raceproof::Epochs> epochs;
    std::vector<Touch> touches;
    std::unique_ptr<raceproof::BlockLog> out;
    std::size_t words = 0;
    std::uint32_t ended = 0;
};

// Reads the words of one ring of one launch.
class RingReader {
public:
    explicit RingReader(Running& launch) : running(launch) {}

    void feed(const u64* words, std::size_t count) {
        pending.insert(pending.end(), words, words + count);
        std::size_t at = 0;
        while (pending.size() - at >= 3) {
            std::uint32_t length = words_of(pending[at], pending[at + 2]);
            if (pending.size() - at < length) break;
            take(&pending[at], length);
            at += length;
        }
        pending.erase(pending.begin(), pending.begin() + std::ptrdiff_t(at));
    }

    // The launch is over, well or not.
    void finish() {
        for (auto& block : blocks) block.second->write();
        blocks.clear();
    }

private:
    void take(const u64* record, std::uint32_t length) {
        std::uint64_t number = record[1];
        auto found = blocks.find(number);
        if (found == blocks.end()) {
            found = blocks.emplace(number, std::unique_ptr<Block>(new Block(running, number))).first;
        }
        if (!found->second->add(record, length)) return;
        found->second->write();
        blocks.erase(found);
    }

    Running& running;
    std::vector<u64> pending;
    std::unordered_map<std::uint64_t, std::unique_ptr<Block>> blocks;
};

}  // namespace raceproof_cuda
