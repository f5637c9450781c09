// Plays a list of calls into the log: a word and numbers a line.
#include "log.hpp"

#include <fstream>
#include <iostream>

using namespace raceproof;

int main(int, char** argv) {
  Log& log = Log::start(argv[1]);
  std::ifstream calls(argv[2]);
  std::unique_ptr<BlockLog> block;
  std::string word;
  while (calls >> word) {
    if (word == "sites") {
      log.sites("0\tread\ta.cu\t1\t1\t1\t2\ta\tk\t\n1\twrite\ta.cu\t2\t1\t2\t2\tb\tk\t\n2\tatomic\ta.cu\t3\t1\t3\t2\tc\tk\t\n");
    } else if (word == "allocation") {
      std::uint64_t bytes;
      unsigned space;
      calls >> bytes >> space;
      log.allocation(0x1000, bytes, static_cast<Space>(space), "memory");
    } else if (word == "launch") {
      std::uint32_t grid[3] = {1, 1, 1}, threads[3] = {1, 1, 1};
      calls >> grid[0] >> threads[0];
      log.launch("k", grid, threads, 0, "n=3\n");
    } else if (word == "block") {
      std::uint32_t launch;
      std::uint64_t number;
      calls >> launch >> number;
      block.reset();
      block = std::make_unique<BlockLog>(log, launch, number);
    } else if (word == "segment") {
      std::uint32_t thread;
      Epochs epochs;
      calls >> thread >> epochs.grid >> epochs.block;
      for (auto& tile : epochs.tile) calls >> tile;
      calls >> epochs.shared_only >> epochs.synchronised;
      block->segment(thread, epochs);
    } else if (word == "access") {
      std::uint32_t site, allocation, bytes;
      unsigned kind;
      std::uint64_t offset;
      calls >> site >> kind >> allocation >> offset >> bytes;
      block->access(site, static_cast<Kind>(kind), allocation, offset, bytes);
    } else if (word == "end") {
      block.reset();
    } else if (word == "finished") {
      std::uint32_t launch;
      calls >> launch;
      block.reset();
      log.finished(launch);
    } else if (word == "close") {
      int status;
      calls >> status;
      block.reset();
      log.close(status);
    } else {
      std::cerr << "unknown call " << word << "\n";
      return 1;
    }
  }
}
