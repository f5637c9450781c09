// Cooperative groups: the block, its tiles of up to 32 threads, coalesced threads, the cluster and the grid.
//
// Synchronising a group is what the log counts; collectives of a group exchange values and order nothing. Multi-device
// groups are not there.
#pragma once

#include "cluster_functions.hpp"
#include "intrinsics.hpp"
#include "phases.hpp"

namespace cooperative_groups {

namespace details {
// Lanes of the running warp below the running one.
inline unsigned lanes_below() { return (1u << raceproof::worker->lane()) - 1; }
inline unsigned existing_lanes() {
    unsigned left = raceproof::worker->now().threads - raceproof::worker->linear() / 32 * 32;
    return left >= 32 ? ~0u : (1u << left) - 1;
}
}  // namespace details

// Any group, by the threads that it has: a part of a warp, or the block.
class thread_group {
public:
    enum Kind { block_kind, warp_kind, grid_kind };

    unsigned long long size() const { return num_threads(); }
    unsigned long long num_threads() const {
        if (kind == warp_kind) return unsigned(__popc(lanes));
        unsigned long long threads = raceproof::worker->now().threads;
        return kind == block_kind ? threads : threads * raceproof::worker->now().blocks;
    }
    unsigned long long thread_rank() const {
        if (kind == warp_kind) return unsigned(__popc(lanes & details::lanes_below()));
        unsigned long long rank = raceproof::worker->linear();
        if (kind == block_kind) return rank;
        unsigned long long block = blockIdx.x + gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
        return block * raceproof::worker->now().threads + rank;
    }
    bool is_valid() const { return kind != grid_kind || raceproof::worker->now().cooperative; }
    void sync(RACEPROOF_HERE) const {
        if (kind == block_kind) raceproof::worker->barrier({file, line}, false);
        else if (kind == warp_kind) __syncwarp(lanes, file, line);
        else raceproof::worker->grid_barrier({file, line});
    }
    unsigned mask() const { return lanes; }
    Kind group_kind() const { return kind; }

protected:
    explicit thread_group(Kind kind, unsigned lanes = 0) : kind(kind), lanes(lanes) {}
    Kind kind;
    unsigned lanes;
};

class thread_block : public thread_group {
public:
    using arrival_token = uint32_t;
    template <class T = void> arrival_token barrier_arrive() const {
        (void)&raceproof::HandsOver<T>::noted;
        raceproof::Worker& worker = *raceproof::worker;
        uint32_t phase = worker.halves.phase;
        raceproof::tell_half(raceproof::block_phases, phase, raceproof::Event::update, raceproof::Scope::block);
        worker.halves.arrived++;
        if (worker.all_have_arrived()) worker.next_half();
        return phase;
    }
    void barrier_wait(arrival_token&& phase, RACEPROOF_HERE) const {
        raceproof::Worker& worker = *raceproof::worker;
        while (worker.halves.phase == phase) worker.wait_at(&worker.halves, {file, line});
        raceproof::tell_half(raceproof::block_phases, phase, raceproof::Event::load, raceproof::Scope::block);
    }
    thread_block() : thread_group(block_kind) {}
    unsigned size() const { return num_threads(); }
    unsigned num_threads() const { return raceproof::worker->now().threads; }
    unsigned thread_rank() const { return raceproof::worker->linear(); }
    static dim3 group_index() { return dim3(blockIdx); }
    static dim3 thread_index() { return dim3(threadIdx); }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }
template <class Memory> inline thread_block this_thread_block(Memory&) { return {}; }

class grid_group : public thread_group {
public:
    using arrival_token = uint64_t;
    template <class T = void> arrival_token barrier_arrive() const {
        (void)&raceproof::HandsOver<T>::noted;
        raceproof::Launch& launch = raceproof::worker->now();
        if (!launch.barrier) raceproof::refuse("a barrier of the grid in a kernel that is not launched cooperatively");
        raceproof::Guard guard(launch.halves_lock);
        uint64_t phase = launch.half_phase;
        raceproof::tell_half(raceproof::grid_phases, phase, raceproof::Event::update, raceproof::Scope::device);
        if (++launch.half_arrived == launch.blocks * launch.threads) {
            launch.half_arrived = 0;
            launch.half_phase++;
        }
        return phase;
    }
    void barrier_wait(arrival_token&& phase) const {
        raceproof::Launch& launch = raceproof::worker->now();
        for (;;) {
            {
                raceproof::Guard guard(launch.halves_lock);
                if (launch.half_phase != phase) break;
            }
            raceproof::worker->yield();
        }
        raceproof::tell_half(raceproof::grid_phases, phase, raceproof::Event::load, raceproof::Scope::device);
    }
    grid_group() : thread_group(grid_kind) {}
    unsigned long long num_blocks() const { return raceproof::worker->now().blocks; }
    unsigned long long block_rank() const { return thread_rank() / raceproof::worker->now().threads; }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 block_index() { return dim3(blockIdx); }
};
inline grid_group this_grid() { return {}; }

class cluster_group {
public:
    using arrival_token = uint64_t;
    template <class T = void> static arrival_token barrier_arrive() { return raceproof::cluster_arrive<T>(); }
    static void barrier_wait(arrival_token&& phase, RACEPROOF_HERE) { raceproof::cluster_wait(phase, {file, line}); }
    static void barrier_wait(RACEPROOF_HERE) { raceproof::cluster_wait({file, line}); }
    template <class T = void> static void sync(RACEPROOF_HERE) {
        raceproof::cluster_wait(raceproof::cluster_arrive<T>(), {file, line});
    }
    static unsigned query_shared_rank(const void* address) { return raceproof::rank_of_shared(address); }
    template <class T> static T* map_shared_rank(T* own, int rank) { return raceproof::mapped(own, unsigned(rank)); }
    static dim3 block_index() { return raceproof::place_in_cluster(); }
    static unsigned block_rank() { return raceproof::worker->cluster_rank(); }
    static dim3 dim_blocks() { return raceproof::blocks_of_cluster(); }
    static unsigned num_blocks() { return raceproof::worker->now().cluster_blocks(); }
    static dim3 thread_index() {
        const dim3 block = block_index();
        return {block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y, block.z * blockDim.z + threadIdx.z};
    }
    static unsigned thread_rank() {
        return block_rank() * raceproof::worker->now().threads + raceproof::worker->linear();
    }
    static dim3 dim_threads() {
        const dim3 blocks = dim_blocks();
        return {blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z};
    }
    static unsigned num_threads() { return num_blocks() * raceproof::worker->now().threads; }
    static unsigned size() { return num_threads(); }
};
inline cluster_group this_cluster() { return {}; }

// What parts of a warp have in common: collectives among the lanes of `lanes`, ranked from the lowest.
class warp_part : public thread_group {
public:
    unsigned size() const { return num_threads(); }
    unsigned num_threads() const { return unsigned(__popc(lanes)); }
    unsigned thread_rank() const { return unsigned(__popc(lanes & details::lanes_below())); }

    template <class T> T shfl(T value, int rank, RACEPROOF_HERE) const {
        return exchange(value, unsigned(rank) % num_threads(), {file, line});
    }
    template <class T> T shfl_up(T value, unsigned by, RACEPROOF_HERE) const {
        unsigned rank = thread_rank();
        return exchange(value, rank >= by ? rank - by : rank, {file, line});
    }
    template <class T> T shfl_down(T value, unsigned by, RACEPROOF_HERE) const {
        unsigned rank = thread_rank();
        return exchange(value, rank + by < num_threads() ? rank + by : rank, {file, line});
    }
    template <class T> T shfl_xor(T value, unsigned with, RACEPROOF_HERE) const {
        unsigned rank = thread_rank();
        return exchange(value, (rank ^ with) < num_threads() ? rank ^ with : rank, {file, line});
    }
    unsigned ballot(int predicate, RACEPROOF_HERE) const { return ranks(raceproof::ballot(lanes, predicate != 0, {file, line})); }
    int any(int predicate, RACEPROOF_HERE) const { return raceproof::ballot(lanes, predicate != 0, {file, line}) != 0; }
    int all(int predicate, RACEPROOF_HERE) const { return raceproof::ballot(lanes, predicate == 0, {file, line}) == 0; }
    template <class T> unsigned match_any(T value, RACEPROOF_HERE) const {
        return ranks(__match_any_sync(lanes, value, file, line));
    }
    template <class T> unsigned match_all(T value, int& predicate, RACEPROOF_HERE) const {
        return ranks(__match_all_sync(lanes, value, &predicate, file, line));
    }

protected:
    explicit warp_part(unsigned lanes) : thread_group(warp_kind, lanes) {}

    // Lanes of the warp as ranks of the group.
    unsigned ranks(unsigned of_warp) const {
        unsigned result = 0, rank = 0;
        for (unsigned left = lanes; left; left &= left - 1, rank++) {
            if (of_warp & left & (0u - left)) result |= 1u << rank;
        }
        return result;
    }

    template <class T> T exchange(T value, unsigned rank, raceproof::Place place) const {
        unsigned left = lanes;
        while (rank-- > 0) left &= left - 1;
        uint32_t source = uint32_t(__builtin_ctz(left));
        return raceproof::meet(lanes, raceproof::SHUFFLE, value, false, place,
                               [=](const raceproof::Rendezvous& met, uint32_t lane) {
                                   return raceproof::from_lane<T>(met, lane, source, place);
                               });
    }
};

template <unsigned Size, class Parent = void> class thread_block_tile : public warp_part {
    static_assert(Size <= 32 && (Size & (Size - 1)) == 0, "raceproof: tiles of 1, 2, 4, 8, 16 or 32 threads");

public:
    explicit thread_block_tile(unsigned lanes) : warp_part(lanes) {}
    template <class Other>
    thread_block_tile(const thread_block_tile<Size, Other>& tile) : warp_part(tile.mask()) {}
    // Meta groups number the tiles of the group that was partitioned.
    unsigned meta_group_rank() const { return raceproof::worker->linear() / Size; }
    unsigned meta_group_size() const { return (raceproof::worker->now().threads + Size - 1) / Size; }
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
};

// A tile of several warps: it exchanges values. Its sync is one of the block if the tile is the whole block; a sync of
// less has no place in the log and is refused.
template <unsigned Size, class Parent> class large_tile : public thread_group {
    static_assert((Size & (Size - 1)) == 0, "raceproof: tiles have a power of two of threads");

public:
    large_tile() : thread_group(block_kind) {}
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    unsigned thread_rank() const { return raceproof::worker->linear() % Size; }
    unsigned meta_group_rank() const { return raceproof::worker->linear() / Size; }
    unsigned meta_group_size() const { return (raceproof::worker->now().threads + Size - 1) / Size; }
    void sync(RACEPROOF_HERE) const {
        if (Size < raceproof::worker->now().threads) raceproof::refuse("sync of a tile of several warps that is not the whole block");
        raceproof::worker->take(raceproof::worker->arrive_tile(first(), Size, true, nullptr, 0, {file, line}));
    }
    template <class T> T shfl(T value, unsigned rank, RACEPROOF_HERE) const {
        return meet(value, {file, line}, [=](const raceproof::TileMeeting& met) { return of(met, value, rank % Size); });
    }
    int any(int predicate, RACEPROOF_HERE) const {
        return fold(predicate != 0, [](bool a, bool b) { return a || b; }, {file, line});
    }
    int all(int predicate, RACEPROOF_HERE) const {
        return fold(predicate != 0, [](bool a, bool b) { return a && b; }, {file, line});
    }
    template <class T, class Combine> T fold(T value, Combine combine, raceproof::Place place) const {
        return meet(value, place, [&](const raceproof::TileMeeting& met) {
            T sum = value;
            bool any = false;
            for (unsigned rank = 0; rank < met.has_come.size(); rank++) {
                if (!met.has_come[rank]) continue;
                T next = of(met, value, rank);
                sum = any ? combine(sum, next) : next;
                any = true;
            }
            return sum;
        });
    }

private:
    static unsigned first() { return raceproof::worker->linear() / Size * Size; }
    template <class T> static T of(const raceproof::TileMeeting& met, T value, unsigned rank) {
        static_assert(sizeof(T) <= 32, "collectives take values of up to 32 bytes");
        if (rank < met.has_come.size() && met.has_come[rank]) memcpy(&value, &met.values[rank * 32], sizeof(T));
        return value;
    }
    template <class T, class Read> static T meet(T value, raceproof::Place place, Read read) {
        raceproof::TileMeeting* met = raceproof::worker->arrive_tile(first(), Size, false, &value, sizeof(T), place);
        T answer = read(*met);
        raceproof::worker->take(met);
        return answer;
    }
};
// Memory that CUDA needs to let warps of a tile meet.
template <unsigned MaxBlockSize = 1024> struct block_tile_memory {};

class coalesced_group : public warp_part {
public:
    explicit coalesced_group(unsigned lanes) : warp_part(lanes) {}
    unsigned meta_group_rank() const { return 0; }
    unsigned meta_group_size() const { return 1; }
};
inline coalesced_group coalesced_threads(RACEPROOF_HERE) { return coalesced_group(raceproof::worker->gather({file, line})); }

namespace details {
// The part of `group` of `size` consecutive ranks that has the running thread.
inline unsigned part_of(const thread_group& group, unsigned size) {
    if (group.group_kind() == thread_group::block_kind) {
        if (size > 32) raceproof::refuse("tiles of more than 32 threads");
        unsigned first = raceproof::worker->lane() & ~(size - 1);
        return (size == 32 ? ~0u : ((1u << size) - 1) << first) & existing_lanes();
    }
    unsigned rank = 0, first = unsigned(group.thread_rank()) / size * size, part = 0;
    for (unsigned left = group.mask(); left; left &= left - 1, rank++) {
        if (rank >= first && rank < first + size) part |= left & (0u - left);
    }
    return part;
}
}  // namespace details

template <unsigned Size, class Parent> inline auto tiled_partition(const Parent& group) {
    if constexpr (Size > 32) {
        return large_tile<Size, Parent>();
    } else {
        return thread_block_tile<Size, Parent>(details::part_of(group, Size));
    }
}
inline coalesced_group tiled_partition(const thread_group& group, unsigned size) {
    return coalesced_group(details::part_of(group, size));
}
template <class Group> inline coalesced_group binary_partition(const Group& group, bool predicate, RACEPROOF_HERE) {
    unsigned with = raceproof::ballot(group.mask(), predicate, {file, line});
    return coalesced_group(predicate ? with : group.mask() & ~with);
}
template <class Group, class T> inline coalesced_group labeled_partition(const Group& group, T label, RACEPROOF_HERE) {
    return coalesced_group(__match_any_sync(group.mask(), label, file, line));
}

// Copies of a group: its first thread makes them. Who waits for them meets the others of the group.
template <class Group, class To, class From, class Size>
inline void memcpy_async(const Group& group, To* to, const From* from, Size bytes) {
    if (group.thread_rank() == 0) raceproof::begin_copy(to, from, bytes, 0, nullptr, 0);
    __pipeline_commit();
}
template <class Group> inline void wait(const Group& group, RACEPROOF_HERE) {
    __pipeline_wait_prior(0);
    group.sync(file, line);
}
template <unsigned Newest, class Group> inline void wait_prior(const Group& group, RACEPROOF_HERE) {
    __pipeline_wait_prior(Newest);
    group.sync(file, line);
}

template <class Group> inline void sync(const Group& group, RACEPROOF_HERE) { group.sync(file, line); }
template <class Group> inline auto thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> inline auto group_size(const Group& group) { return group.size(); }

#define RACEPROOF_OPERATOR(name, expression) \
    template <class T = void> struct name {  \
        T operator()(T a, T b) const { return expression; } \
    };                                       \
    template <> struct name<void> {          \
        template <class T> T operator()(T a, T b) const { return expression; } \
    };
RACEPROOF_OPERATOR(plus, T(a + b))
RACEPROOF_OPERATOR(less, b < a ? b : a)
RACEPROOF_OPERATOR(greater, a < b ? b : a)
RACEPROOF_OPERATOR(bit_and, T(a & b))
RACEPROOF_OPERATOR(bit_or, T(a | b))
RACEPROOF_OPERATOR(bit_xor, T(a ^ b))
#undef RACEPROOF_OPERATOR

template <class Group, class T, class Operator>
inline T reduce(const Group& group, T value, Operator combine, RACEPROOF_HERE) {
    return raceproof::fold(group.mask(), value, combine, raceproof::Place{file, line});
}
template <unsigned Size, class Parent, class T, class Operator>
inline T reduce(const large_tile<Size, Parent>& group, T value, Operator combine, RACEPROOF_HERE) {
    return group.fold(value, combine, raceproof::Place{file, line});
}

namespace details {
// Folds what the lanes below gave, the running one included or not.
template <class T, class Operator>
inline T scan(unsigned lanes, T value, Operator combine, bool inclusive, T start, raceproof::Place place) {
    return raceproof::meet(lanes, raceproof::REDUCE, value, false, place, [&](const raceproof::Rendezvous& met, uint32_t lane) {
        T sum = start;
        bool any = false;
        for (unsigned left = met.arrived; left; left &= left - 1) {
            uint32_t source = uint32_t(__builtin_ctz(left));
            if (source > lane || (source == lane && !inclusive)) break;
            T next = raceproof::value_of<T>(met, source);
            sum = any ? combine(sum, next) : next;
            any = true;
        }
        return sum;
    });
}
}  // namespace details

template <class Group, class T, class Operator = plus<T>>
inline T inclusive_scan(const Group& group, T value, Operator combine = {}, RACEPROOF_HERE) {
    return details::scan(group.mask(), value, combine, true, T(), raceproof::Place{file, line});
}
template <class Group, class T, class Operator = plus<T>>
inline T exclusive_scan(const Group& group, T value, Operator combine = {}, RACEPROOF_HERE) {
    return details::scan(group.mask(), value, combine, false, T(), raceproof::Place{file, line});
}

}  // namespace cooperative_groups
