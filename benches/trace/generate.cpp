// Writes logs to measure the check with: `generate KIND ACCESSES LOG`.
//   tiles    a matrix product in tiles of shared memory: regular, with barriers
//   scatter  every thread reads anywhere and updates its own part of an array in random order
//   racy     like scatter, and one thread writes where another one does
#include "log.hpp"

#include <cstdlib>
#include <string>

using namespace raceproof;

namespace {

constexpr std::uint32_t threads = 256;

struct Random {
  std::uint64_t state = 88172645463325252u;
  std::uint64_t operator()() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
};

std::uint64_t tiles(BlockLog& log, std::uint64_t block, const std::uint32_t memory[3]) {
  Epochs epochs;
  std::uint64_t made = 0;
  for (std::uint64_t tile = 0; tile < 16; ++tile) {
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      log.segment(thread, epochs);
      log.access(0, Kind::read, memory[0], 4 * (block * threads + thread + 64 * tile), 4);
      log.access(1, Kind::write, memory[2], 4 * thread, 4);
    }
    ++epochs.block;
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      log.segment(thread, epochs);
      for (std::uint32_t turn = 0; turn < 16; ++turn) log.access(2, Kind::read, memory[2], 4 * (thread / 16 * 16 + turn), 4);
      log.access(3, Kind::write, memory[1], 4 * (block * threads + thread), 4);
    }
    ++epochs.block;
    made += threads * 19;
  }
  return made;
}

std::uint64_t scatter(BlockLog& log, std::uint64_t block, const std::uint32_t memory[3], Random& random, bool races) {
  std::uint64_t made = 0;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    log.segment(thread, Epochs{});
    const std::uint64_t own = 16 * (block * threads + thread);
    for (unsigned turn = 0; turn < 16; ++turn, made += 3) {
      const std::uint64_t place = 4 * (own + random() % 16);
      log.access(0, Kind::read, memory[0], 4 * (random() % (1u << 28)), 4);
      log.access(1, Kind::read, memory[1], place, 4);
      log.access(2, Kind::write, memory[1], place, 4);
    }
  }
  for (unsigned other = 0; races && other < 16; ++other, ++made) {
    log.access(3, Kind::write, memory[1], 4 * (16 * (block + 1) * threads + other), 4);
  }
  return made;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const std::string kind = arguments[1];
  const std::uint64_t wanted = std::strtoull(arguments[2], nullptr, 10);
  const std::uint64_t of_block = kind == "tiles" ? threads * 19 * 16 : threads * 48;
  const std::uint64_t blocks = wanted / of_block + 2;
  Log& log = Log::start(arguments[3]);
  log.sites(
      "0\tread\tgenerated.cu\t1\t1\t1\t2\ta\tk\t\n1\tread\tgenerated.cu\t2\t1\t2\t2\tb\tk\t\n"
      "2\twrite\tgenerated.cu\t3\t1\t3\t2\tb\tk\t\n3\twrite\tgenerated.cu\t4\t1\t4\t2\tb\tk\t\n");
  const std::uint32_t memory[3] = {log.allocation(0x1000, std::uint64_t{1} << 40, Space::global, "a"),
                                   log.allocation(0x1000, std::uint64_t{1} << 40, Space::global, "b"),
                                   log.allocation(0, 4096, Space::shared, "tile")};
  const std::uint32_t grid[3] = {static_cast<std::uint32_t>(blocks), 1, 1}, block[3] = {threads, 1, 1};
  const std::uint32_t launch = log.launch("k", grid, block, 0, "");
  Random random;
  for (std::uint64_t number = 0; number < blocks; ++number) {
    BlockLog of(log, launch, number);
    if (kind == "tiles") tiles(of, number, memory);
    else scatter(of, number, memory, random, kind == "racy" && number == blocks / 2);
  }
  log.finished(launch);
  log.close(0);
}
