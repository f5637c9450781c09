// A launch as the OS threads that run its blocks share it.
#pragma once

#include "cluster.hpp"

namespace raceproof {

// Where all blocks of a cooperative launch wait for each other. Blocks that are done no longer count.
class GridBarrier {
public:
    explicit GridBarrier(uint64_t blocks) : expected(blocks) {}

    void wait() {
        Guard guard(lock);
        uint64_t round = rounds;
        if (++arrived >= expected) {
            next_round();
        } else {
            while (round == rounds) wait_outside(changed, lock);
        }
    }

    void leave() {
        Guard guard(lock);
        expected--;
        if (expected > 0 && arrived >= expected) next_round();
    }

private:
    void next_round() {
        arrived = 0;
        rounds++;
        something_changes();
        pthread_cond_broadcast(&changed);
    }

    Lock lock;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    uint64_t expected, arrived = 0, rounds = 0;
};

struct Launch {
    const char* kernel = "";
    dim3 grid, block;
    size_t dynamic_bytes = 0;
    void (*body)(const void*) = nullptr;   // runs one thread with a copy of what the second pointer points to
    const void* parameters = nullptr;
    uint64_t number = 0;                   // of launches of this process
    uint32_t log_id = 0;
    uint64_t blocks = 0;
    uint32_t threads = 0;                  // of a block
    bool cooperative = false;
    GridBarrier* barrier = nullptr;
    dim3 cluster;                          // blocks of a cluster
    Clusters clusters;                     // of several blocks
    uint64_t next_turn = 0;                // of the blocks, in the order in which they are taken
    uint64_t first = 0, step = 1;          // of that order: which block, or cluster, comes first, and how far it is to the next
    Lock halves_lock;                      // of the halves of a barrier of the grid: threads that have arrived, and
    uint64_t half_arrived = 0, half_phase = 0;   // how often all have
    std::vector<uint32_t> order, thread_order;   // in which blocks and the threads of each begin, if a schedule says so
    uint64_t tickets = 0;                  // of what orders its threads
    int failure = 0;                       // cudaError_t of the first thread that failed

    uint32_t cluster_blocks() const { return cluster.x * cluster.y * cluster.z; }
    // Blocks of a cluster are taken one after the other, so that as many OS threads always suffice for all of them.
    bool take_block(uint64_t& block) {
        uint64_t turn = __atomic_fetch_add(&next_turn, 1, __ATOMIC_RELAXED);
        block = cluster_blocks() > 1 ? block_of_turn(turn) : taken_at(turn, blocks);
        return turn < blocks;
    }
    uint64_t taken_at(uint64_t turn, uint64_t count) const {
        if (turn < order.size()) return order[turn];
        return (first + turn * step) % count;
    }
    // A step that has no factor in common with the number of blocks leads to each of them once.
    void shuffle_blocks(uint64_t seed, uint64_t count) {
        auto share_factor = [](uint64_t a, uint64_t b) {
            while (b != 0) { uint64_t rest = a % b; a = b; b = rest; }
            return a != 1;
        };
        uint64_t mixed = seed * 0x9e3779b97f4a7c15u ^ number * 0xbf58476d1ce4e5b9u;
        first = (mixed >> 17) % count;
        step = 1 + (mixed >> 40) % 0xffff;
        while (share_factor(step, count)) step++;
    }
    uint64_t block_of_turn(uint64_t turn) const {
        uint64_t number = taken_at(turn / cluster_blocks(), blocks / cluster_blocks()), rank = turn % cluster_blocks();
        uint64_t wide = grid.x / cluster.x, high = grid.y / cluster.y;
        uint64_t x = number % wide * cluster.x + rank % cluster.x;
        uint64_t y = number / wide % high * cluster.y + rank / cluster.x % cluster.y;
        uint64_t z = number / wide / high * cluster.z + rank / cluster.x / cluster.y;
        return x + grid.x * (y + uint64_t(grid.y) * z);
    }
    // Of the clusters of the grid, and of the blocks of its cluster, x fastest.
    uint64_t cluster_of(uint3 block) const {
        uint64_t wide = grid.x / cluster.x, high = grid.y / cluster.y;
        return block.x / cluster.x + wide * (block.y / cluster.y + high * (block.z / cluster.z));
    }
    uint32_t rank_of(uint3 block) const {
        return block.x % cluster.x + cluster.x * (block.y % cluster.y + cluster.y * (block.z % cluster.z));
    }
    uint64_t ticket() { return __atomic_fetch_add(&tickets, 1, __ATOMIC_SEQ_CST); }
    bool has_more() { return __atomic_load_n(&next_turn, __ATOMIC_RELAXED) < blocks; }
    void fail(int error) {
        int none = 0;
        __atomic_compare_exchange_n(&failure, &none, error, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
    uint3 place_of(uint64_t number) const {
        return {unsigned(number % grid.x), unsigned(number / grid.x % grid.y), unsigned(number / grid.x / grid.y)};
    }
};

// RACEPROOF_SEED: 0 runs threads in order.
inline uint64_t schedule_seed() {
    static const uint64_t seed = [] {
        const char* asked = getenv("RACEPROOF_SEED");
        return asked ? strtoull(asked, nullptr, 10) : 0;
    }();
    return seed;
}

// A block that only spins asks for another OS thread, which may run the block that it waits for.
void start_company(Launch& launch);

}  // namespace raceproof
