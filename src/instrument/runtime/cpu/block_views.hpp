// What atomics of a block know of other blocks, in a mutant whose atomics have a narrower scope than the program's.
//
// On a GPU an atomic in the scope of the block may be done on what its multiprocessor holds of the cell. Here it misses what other blocks have done
// to the cell by such atomics, for as long as the launch lasts and nothing else changes the cell: as if all blocks ran at once, each on a
// multiprocessor of its own. What else is stored there is seen by all, and what an atomic leaves is seen by whoever reads the cell otherwise.
//
// Nothing of this happens unless a mutant asks for it: the scope of the program's own atomics is what it says, and makes no difference here.
#pragma once

#include <unordered_map>

#include "warp_intrinsics.hpp"

namespace raceproof {

inline bool blocks_have_views = false;

constexpr size_t MOST_BYTES_OF_A_CELL = 8;

struct CellValue {
    unsigned char bytes[MOST_BYTES_OF_A_CELL] = {};
    bool operator==(const CellValue& other) const { return memcmp(bytes, other.bytes, sizeof bytes) == 0; }
};

// A cell that atomics of blocks have changed: what it was before, who was the last, what he left, and what each block has left.
struct ViewedCell {
    CellValue before, left;
    uint64_t last = 0;
    std::unordered_map<uint64_t, CellValue> known;
};

struct BlockViews {
    Lock lock;
    uint64_t launch = 0;
    std::unordered_map<uintptr_t, ViewedCell> cells;

    static BlockViews& the() {
        static BlockViews* views = new BlockViews;
        return *views;
    }
};

// Lives while an atomic is done; nothing may wait in between.
class BlockView {
public:
    BlockView(const volatile void* of, size_t size, Scope scope) {
        Allocation allocation;
        place = const_cast<void*>(of);
        bytes = size;
        bool is_of_block = scope == Scope::block || scope == Scope::warp;
        is_viewed = here.in_kernel && is_of_block && bytes <= MOST_BYTES_OF_A_CELL && Memory::the().find(place, allocation) &&
                    allocation.space != Space::distributed;
        if (!is_viewed) return;
        BlockViews& views = BlockViews::the();
        views.lock.lock();
        if (views.launch != worker->now().number) {
            views.cells.clear();
            views.launch = worker->now().number;
        }
        found = seen = read();
        auto cell = views.cells.find(reinterpret_cast<uintptr_t>(place));
        if (cell == views.cells.end()) return;
        ViewedCell& of_others = cell->second;
        if (!(of_others.left == found)) {
            // Something else has been stored there, which all see.
            views.cells.erase(cell);
        } else if (of_others.last != worker->block()) {
            auto own = of_others.known.find(worker->block());
            seen = own == of_others.known.end() ? of_others.before : own->second;
            write(seen);
        }
    }
    ~BlockView() {
        if (!is_viewed) return;
        BlockViews& views = BlockViews::the();
        CellValue left = read();
        if (left == seen) {
            write(found);
        } else {
            auto [cell, is_new] = views.cells.try_emplace(reinterpret_cast<uintptr_t>(place));
            if (is_new) cell->second.before = found;
            cell->second.left = left;
            cell->second.last = worker->block();
            cell->second.known[worker->block()] = left;
        }
        views.lock.unlock();
    }
    BlockView(const BlockView&) = delete;
    BlockView& operator=(const BlockView&) = delete;

private:
    CellValue read() const {
        CellValue value;
        memcpy(value.bytes, place, bytes);
        return value;
    }
    void write(const CellValue& value) const { memcpy(place, value.bytes, bytes); }

    void* place;
    size_t bytes;
    bool is_viewed;
    CellValue found, seen;
};

}  // namespace raceproof
