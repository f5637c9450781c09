// A cluster of blocks that run at once: where they wait for each other, and where the shared memory of each lies.
//
// Every block of a cluster runs on an OS thread of its own. The first ones wait until all have begun, and the first that are
// done until all have ended: as long as one of them runs, the shared memory of all is theirs. A phase of the barrier is over
// when every thread that has not returned has arrived, as `barrier.cluster` of PTX has it.
//
// A kernel that is launched without clusters has clusters of one block, which are made when it asks for them.
#pragma once

#if defined(__linux__)
#include <link.h>
#endif

#include "memory.hpp"
#include "plan.hpp"

namespace raceproof {

// Where the thread-local variables of the program lie, around one of them: alike in every OS thread. Nothing is known of
// it where there are no bytes.
struct Variables {
    uintptr_t below = 0, bytes = 0;

    static Variables around(uintptr_t anchor) {
        Variables found;
#if defined(__linux__)
        struct Asked { uintptr_t anchor; Variables& found; } asked{anchor, found};
        dl_iterate_phdr(
            [](dl_phdr_info* object, size_t, void* data) {
                auto asked = static_cast<Asked*>(data);
                auto first = reinterpret_cast<uintptr_t>(object->dlpi_tls_data);
                for (int i = 0; first != 0 && i < object->dlpi_phnum; i++) {
                    const auto& part = object->dlpi_phdr[i];
                    if (part.p_type != PT_TLS || asked->anchor - first >= part.p_memsz) continue;
                    asked->found.below = asked->anchor - first;
                    asked->found.bytes = part.p_memsz;
                }
                return int(asked->found.bytes != 0);
            },
            &asked);
#else
        (void)anchor;
#endif
        return found;
    }
};

class Cluster {
public:
    // `anchor` is where a thread-local variable of the caller lies.
    Cluster(uint64_t number, uint32_t blocks, uint32_t threads, uintptr_t anchor)
        : number(number), variables(Variables::around(anchor)), members(blocks), live(uint64_t(blocks) * threads) {}

    const uint64_t number;       // of the clusters of the launch
    const Variables variables;   // around the anchor of each block

    uint32_t blocks() const { return uint32_t(members.size()); }

    // A block begins. Its shared variables lie around `anchor`, its dynamic memory at `dynamic`.
    void begin(uint32_t rank, uintptr_t anchor, uintptr_t dynamic) {
        Guard guard(lock);
        members[rank] = {anchor, dynamic};
        begun++;
        something_changes();
        if (begun == blocks()) pthread_cond_broadcast(&changed);
        while (begun < blocks()) wait_outside(changed, lock);
    }

    // A block ends; all of its threads have returned. The last one gives the memory of all back.
    void end() {
        Guard guard(lock);
        ended++;
        something_changes();
        if (ended == blocks()) {
            for (const Array& array : arrays) Memory::the().forget_distributed(array.base);
            pthread_cond_broadcast(&changed);
        }
        while (ended < blocks()) wait_outside(changed, lock);
    }

    // The number of the running phase. While a thread has not arrived in it, it lasts.
    uint64_t phase() const { return __atomic_load_n(&phases, __ATOMIC_ACQUIRE); }
    // A thread arrives in it.
    uint64_t arrive() {
        Guard guard(lock);
        uint64_t phase = phases;
        arrived++;
        open_if_all();
        return phase;
    }
    bool is_over(uint64_t of) const { return phase() != of; }
    void wait(uint64_t phase) {
        Guard guard(lock);
        while (phases == phase) wait_outside(changed, lock);
    }
    // A thread returns, which has arrived last in the phase before `next`: it is waited for no more.
    void returned(uint64_t next) {
        Guard guard(lock);
        live--;
        if (next == phases + 1) arrived--;
        open_if_all();
    }

    // An array in the shared memory of one of the blocks.
    struct Array {
        uintptr_t base;
        size_t bytes;
        uint32_t id;   // as the log knows it
        const char* name;
    };
    // Gives the array its id. Who reaches one of another block declares it, too: that block may not have come to it yet.
    uint32_t declare(Array of) {
        Guard guard(lock);
        for (const Array& array : arrays) {
            if (array.base == of.base && array.bytes == of.bytes) return array.id;
        }
        of.id = Memory::the().add_distributed(of.base, of.bytes, of.name);
        arrays.push_back(of);
        return of.id;
    }
    // The array that holds an address.
    bool find(uintptr_t address, Array& out) {
        Guard guard(lock);
        for (const Array& array : arrays) {
            if (address - array.base < array.bytes) return out = array, true;
        }
        return false;
    }
    // The block whose shared memory holds an address, and whether it is in the dynamic part. Shared variables are those
    // of an OS thread, which lie together around its anchor.
    struct Owner {
        uint32_t rank;
        bool is_dynamic;
    };
    Owner owner(uintptr_t address, size_t dynamic_bytes) const {
        Owner found{0, false};
        uintptr_t least = UINTPTR_MAX;
        for (uint32_t rank = 0; rank < blocks(); rank++) {
            const Member& member = members[rank];
            if (address - member.dynamic < dynamic_bytes) return {rank, true};
            if (address - (member.anchor - variables.below) < variables.bytes) return {rank, false};
            uintptr_t distance = address > member.anchor ? address - member.anchor : member.anchor - address;
            if (distance < least) least = distance, found.rank = rank;
        }
        return found;
    }
    // Where the block of that rank has what its owner has at `address`.
    uintptr_t counterpart(Owner of, uint32_t to, uintptr_t address) const {
        const Member &one = members[of.rank], &other = members[to];
        return of.is_dynamic ? address - one.dynamic + other.dynamic : address - one.anchor + other.anchor;
    }

private:
    struct Member {
        uintptr_t anchor = 0, dynamic = 0;
    };

    void open_if_all() {
        if (arrived == 0 || arrived < live) return;
        arrived = 0;
        something_changes();
        __atomic_store_n(&phases, phases + 1, __ATOMIC_RELEASE);
        pthread_cond_broadcast(&changed);
    }

    Lock lock;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    std::vector<Member> members;
    std::vector<Array> arrays;
    uint64_t live, arrived = 0, phases = 0;
    uint32_t begun = 0, ended = 0;
};

// The clusters of a launch that run, by their numbers.
class Clusters {
public:
    std::shared_ptr<Cluster> of(uint64_t number, uint32_t blocks, uint32_t threads, uintptr_t anchor) {
        Guard guard(lock);
        auto& known = running[number];
        if (!known) known = std::make_shared<Cluster>(number, blocks, threads, anchor);
        return known;
    }
    void ended(uint64_t number) {
        Guard guard(lock);
        running.erase(number);
    }

private:
    Lock lock;
    std::map<uint64_t, std::shared_ptr<Cluster>> running;
};

}  // namespace raceproof
