// Groups of threads: which barrier the sync of a group is.
//
// Only units that include CUDA's own header of groups have this: it triples the time that a unit takes to compile.
#pragma once

#include <cooperative_groups.h>

#include "sync.hpp"

namespace raceproof_cuda {

namespace {

namespace cg = cooperative_groups;

__device__ __forceinline__ void passed_by(const cg::thread_block&) { passed(sync_block, 0); }
__device__ __forceinline__ void passed_by(const cg::grid_group&) { passed(sync_grid, 0); }
__device__ __forceinline__ void passed_by(const cg::coalesced_group& group) {
    passed(sync_warp, cg::details::_coalesced_group_data_access::get_mask(group));
}

// A tile of several warps has no place in the log unless it is the whole block.
__device__ __forceinline__ void passed_by_large(u32 threads) {
    if (threads >= blockDim.x * blockDim.y * blockDim.z) return passed(sync_block, 0);
#ifdef RACEPROOF_LOGS
    if (context.enabled) log_mark(context, refused, sync_of_large_tile, 0, 0);
#endif
}

template <unsigned Size, class Parent>
__device__ __forceinline__ void passed_by(const cg::thread_block_tile<Size, Parent>& tile) {
    if constexpr (Size <= 32) {
        u32 lane = linear_thread() % 32, width = Size == 32 ? 0xffffffffu : (1u << Size % 32) - 1;
        // A tile of a block is made of neighbours; one of another group has lanes that its rank does not tell.
        bool is_aligned = (lane - tile.thread_rank()) % Size == 0;
        passed(sync_warp, is_aligned ? width << (lane - tile.thread_rank()) : 0);
    } else {
        passed_by_large(Size);
    }
}

__device__ __forceinline__ void passed_by(const cg::thread_group& group) {
    switch (group.get_type()) {
        case cg::details::coalesced_group_id: return passed_by(static_cast<const cg::coalesced_group&>(group));
        case cg::details::thread_block_id: return passed(sync_block, 0);
        case cg::details::grid_group_id: return passed(sync_grid, 0);
        default: return;
    }
}

#if defined(_CG_HAS_CLUSTER_GROUP)
// What blocks of a cluster do to each other's shared memory is not logged; of its own block it is a barrier.
__device__ __forceinline__ void passed_by(const cg::cluster_group&) { passed(sync_block, 0); }
#endif

}  // namespace

}  // namespace raceproof_cuda
