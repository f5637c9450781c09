// What kernels ask of their cluster: positions, halves of its barrier, shared memory of its other blocks.
//
// An arrival that is relaxed publishes nothing.
#pragma once

#include "barriers.hpp"

namespace raceproof {

template <class T = void> inline uint64_t cluster_arrive(MemoryOrder order = MemoryOrder::release) {
    (void)&HandsOver<T>::noted;
    Cluster& cluster = worker->own_cluster();
    // It cannot end before this thread arrives. Clusters have cells of their own; only their threads meet there.
    tell_half(cluster_phases | cluster.number << 40, cluster.phase(), Event::update, Scope::device, order);
    return worker->arrive_at_cluster();
}
inline void cluster_wait(uint64_t phase, Place place) {
    worker->wait_for_cluster(phase, place);
    tell_half(cluster_phases | worker->own_cluster().number << 40, phase, Event::load, Scope::device);
}
// Who does not say for what it waits waits for the phase in which it arrived last.
inline void cluster_wait(Place place) {
    uint64_t arrivals = worker->running().cluster_arrivals;
    if (arrivals > 0) cluster_wait(arrivals - 1, place);
}

inline void* Worker::counterpart(const void* own, uint32_t rank) {
    Launch& of = *launch;
    if (rank >= of.cluster_blocks()) refuse("the shared memory of a block that its cluster does not have");
    auto address = reinterpret_cast<uintptr_t>(own);
    if (of.cluster_blocks() == 1) return reinterpret_cast<void*>(address);
    Cluster::Owner owner = cluster->owner(address, of.dynamic_bytes);
    if (here.log) {
        Cluster::Array array;
        if (!cluster->find(address, array)) refuse("the shared memory of another block for what lies in none");
        cluster->declare({cluster->counterpart(owner, rank, array.base), array.bytes, 0, array.name});
    }
    return reinterpret_cast<void*>(cluster->counterpart(owner, rank, address));
}
template <class T> inline T* mapped(T* own, unsigned rank) {
    return static_cast<T*>(worker->counterpart(const_cast<const std::remove_cv_t<T>*>(own), rank));
}
// The block that has an address in its shared memory.
inline unsigned rank_of_shared(const void* address) {
    return worker->own_cluster().owner(reinterpret_cast<uintptr_t>(address), worker->now().dynamic_bytes).rank;
}

inline dim3 blocks_of_cluster() { return worker->now().cluster; }
inline dim3 place_in_cluster() {
    const dim3 of = blocks_of_cluster();
    return {blockIdx.x % of.x, blockIdx.y % of.y, blockIdx.z % of.z};
}
inline dim3 clusters_of_grid() {
    const dim3 of = blocks_of_cluster();
    return {gridDim.x / of.x, gridDim.y / of.y, gridDim.z / of.z};
}
inline dim3 place_of_cluster() {
    const dim3 of = blocks_of_cluster();
    return {blockIdx.x / of.x, blockIdx.y / of.y, blockIdx.z / of.z};
}

}  // namespace raceproof

template <class T = void> inline void __cluster_barrier_arrive() { raceproof::cluster_arrive<T>(); }
template <class T = void> inline void __cluster_barrier_arrive_relaxed() {
    raceproof::cluster_arrive<T>(raceproof::MemoryOrder::relaxed);
}
inline void __cluster_barrier_wait(RACEPROOF_HERE) { raceproof::cluster_wait({file, line}); }
template <class T> inline T* __cluster_map_shared_rank(T* own, unsigned rank) { return raceproof::mapped(own, rank); }
inline unsigned __cluster_query_shared_rank(const void* address) { return raceproof::rank_of_shared(address); }
inline dim3 __clusterDim() { return raceproof::blocks_of_cluster(); }
inline dim3 __clusterRelativeBlockIdx() { return raceproof::place_in_cluster(); }
inline dim3 __clusterGridDimInClusters() { return raceproof::clusters_of_grid(); }
inline dim3 __clusterIdx() { return raceproof::place_of_cluster(); }
inline unsigned __clusterRelativeBlockRank() { return raceproof::worker->cluster_rank(); }
inline unsigned __clusterSizeInBlocks() { return raceproof::worker->now().cluster_blocks(); }
inline bool __clusterDimIsSpecified() { return raceproof::worker->now().cluster_blocks() > 1; }
