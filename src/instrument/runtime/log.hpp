// The log of a run: every access of every thread of every launch, written while the program runs.
//
// What it guarantees
//   - The file consists of chunks that can each be read alone and carry a checksum. Only `close` writes the end
//     marker: whatever stops the process or the disk before leaves a log that its reader calls cut off.
//   - All accesses of one block of one launch are in one stream, in consecutive parts, in the order in which
//     they were given here.
//   - A failed write is told once on standard error; nothing is written after it.
//
// The format is described byte by byte in `src/trace/format/mod.rs`, which also has its version.
//
// How it becomes small: threads of a block mostly do what the thread before did, a fixed distance further on.
// So what a thread does between two syncs (a segment) is compared with the segment before. If all addresses
// continue as they did, a counter is increased; if they jump, the jumps are written; only if the sequence of
// sites differs the segment is written access by access, against what usually follows at each site.
//
// What it deliberately does not do: know CUDA, find out to which allocation an address belongs, judge anything.
#ifndef RACEPROOF_LOG_HPP
#define RACEPROOF_LOG_HPP

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace raceproof {

// What an access does; for atomics, among which threads it is one step, and whether it only reads.
enum class Kind : std::uint8_t {
  read,
  write,
  atomic_block,
  atomic_device,
  atomic_system,
  load_block,
  load_device,
  load_system
};

// Where an allocation lies. An allocation of shared memory stands for one in every block, unless the blocks of a cluster
// reach it (distributed).
enum class Space : std::uint8_t { global, constant, shared, managed, distributed };

// What the log does not have of what the program did. Single places leave the rest as it is; more makes it incomplete.
enum class Lack : std::uint8_t { places, more };

// How many syncs a thread has passed: of the whole grid, of its whole block, and of aligned groups of at least
// 2, 4, 8, 16, 32 threads of its block. A sync of the block need not be counted in `tile`.
struct Epochs {
  std::uint32_t grid = 0;
  std::uint32_t block = 0;
  std::uint32_t tile[5] = {0, 0, 0, 0, 0};
  // How many of `block` order shared memory only (an OpenCL barrier without the global flag).
  std::uint32_t shared_only = 0;
  // Fences, atomics and meetings of the thread that the log was told of (`BlockLog::synchronised`).
  std::uint32_t synchronised = 0;
};

// What orders threads beside the syncs that accesses count.
enum class Event : std::uint8_t { fence, load, store, update, barrier, meeting };
enum class MemoryOrder : std::uint8_t { relaxed, acquire, release, acquire_release, sequentially_consistent };
enum class Scope : std::uint8_t { warp, block, cluster, device, system };

// One of them. Tickets are unique in a launch; those of one thread, and those that touch one cell, are in order.
struct Synchronisation {
  std::uint64_t ticket = 0;
  std::uint32_t thread = 0;  // linear in its block; for a meeting the one that bit 0 of `lanes` stands for
  Event event = Event::fence;
  MemoryOrder order = MemoryOrder::relaxed;
  Scope scope = Scope::warp;
  bool is_of_block = false;  // the cell is another one in each block
  std::uint64_t cell = 0;
  std::uint32_t lanes = 0;
};

inline bool operator==(const Epochs& one, const Epochs& other) {
  return std::memcmp(&one, &other, sizeof(Epochs)) == 0;
}

namespace log_detail {

constexpr std::uint32_t format_version = 5;
constexpr std::uint32_t chunk_magic = 0x4b435052;  // "RPCK"

enum class Chunk : std::uint32_t {
  sites = 1,
  launch,
  allocation,
  release,
  accesses,
  finished,
  end,
  synchronisations,
  left_out = 10
};

// What a step of the stream of a chunk of accesses is; the low three bits of its number.
enum Op : std::uint64_t { op_next, op_known_jump, op_jump, op_stride, op_literal, op_thread, op_epochs, op_block };

// A chunk is written when it holds so many accesses or bytes.
constexpr std::uint64_t chunk_accesses = 1u << 20;
constexpr std::size_t chunk_bytes = 1u << 20;
// A longer segment is written in pieces.
constexpr std::size_t segment_accesses = 4096;
// Offsets are smaller, so that differences of differences and two bits more fit a word.
constexpr unsigned offset_bits = 60;
constexpr std::size_t known_jumps = 4;
// More synchronisations of one launch are counted and not written.
constexpr std::uint64_t most_synchronisations = 1u << 22;

using Bytes = std::vector<std::uint8_t>;

inline void put_fixed(Bytes& out, std::uint64_t value, unsigned bytes) {
  for (unsigned at = 0; at < bytes; ++at) out.push_back(static_cast<std::uint8_t>(value >> (8 * at)));
}

inline void put(Bytes& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(value));
}

inline std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}

inline void put_text(Bytes& out, const char* text) {
  const std::size_t length = text ? std::strlen(text) : 0;
  put(out, length);
  out.insert(out.end(), text, text + length);
}

// Any change of one word changes the sum, since every step is a bijection of the state.
inline std::uint64_t checksum(std::uint64_t state, const std::uint8_t* bytes, std::size_t length) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
  const auto mix = [&state](std::uint64_t word) {
    state = (state ^ word) * factor;
    state ^= state >> 32;
  };
  mix(length);
  std::size_t at = 0;
  for (; at + 8 <= length; at += 8) {
    std::uint64_t word = 0;
    for (unsigned byte = 0; byte < 8; ++byte) word |= static_cast<std::uint64_t>(bytes[at + byte]) << (8 * byte);
    mix(word);
  }
  std::uint64_t rest = 0;
  for (unsigned byte = 0; at + byte < length; ++byte) rest |= static_cast<std::uint64_t>(bytes[at + byte]) << (8 * byte);
  mix(rest);
  return state;
}

// The file: whole chunks, one after the other, from any thread.
class File {
 public:
  ~File() {
    if (file_) std::fclose(file_);
  }

  void open(const char* path) {
    file_ = std::fopen(path, "wb");
    path_ = path;
    if (!file_) return fail();
    is_open_ = true;
    std::setvbuf(file_, nullptr, _IONBF, 0);
    Bytes head = {0x89, 'R', 'P', 'T', 'R', 'A', 'C', 'E'};
    put_fixed(head, format_version, 4);
    put_fixed(head, 0, 4);
    store(head);
  }

  bool is_open() const { return is_open_.load(std::memory_order_relaxed); }

  void write(Chunk kind, const Bytes& payload) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!file_) return;
    Bytes framed;
    framed.reserve(32 + payload.size());
    put_fixed(framed, chunk_magic, 4);
    put_fixed(framed, static_cast<std::uint32_t>(kind), 4);
    put_fixed(framed, ordinal_, 8);
    put_fixed(framed, payload.size(), 8);
    const std::uint64_t state = checksum(0, framed.data(), framed.size());
    put_fixed(framed, checksum(state, payload.data(), payload.size()), 8);
    framed.insert(framed.end(), payload.begin(), payload.end());
    store(framed);
    ++ordinal_;
  }

  // Ends the log without an end marker.
  void give_up(const char* reason) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!file_) return;
    std::fprintf(stderr, "raceproof: cannot write the log %s: %s\n", path_.c_str(), reason);
    std::fclose(file_);
    file_ = nullptr;
    is_open_ = false;
  }

  // Ends the log without an end marker, and without a word.
  void abandon() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!file_) return;
    std::fclose(file_);
    file_ = nullptr;
    is_open_ = false;
  }

  // The end marker; what comes later is not written.
  void end(int exit_status, std::uint64_t accesses) {
    Bytes payload;
    put(payload, zigzag(static_cast<std::uint64_t>(static_cast<std::int64_t>(exit_status))));
    put(payload, accesses);
    write(Chunk::end, payload);
    std::lock_guard<std::mutex> lock(mutex_);
    if (!file_) return;
    if (std::fclose(file_) != 0) fail();
    file_ = nullptr;
    is_open_ = false;
  }

 private:
  void store(const Bytes& bytes) {
    if (file_ && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
      fail();
      std::fclose(file_);
      file_ = nullptr;
      is_open_ = false;
    }
  }

  void fail() {
    std::fprintf(stderr, "raceproof: cannot write the log %s: %s\n", path_.c_str(), std::strerror(errno));
  }

  std::FILE* file_ = nullptr;
  std::atomic<bool> is_open_{false};
  std::string path_;
  std::mutex mutex_;
  std::uint64_t ordinal_ = 0;
};

// The columns of a segment: two words that say what and where in the source, and the offset.
struct Columns {
  std::vector<std::uint64_t> place;   // site | allocation << 32
  std::vector<std::uint64_t> manner;  // bytes | kind << 32
  std::vector<std::uint64_t> offset;

  Columns() : place(segment_accesses), manner(segment_accesses), offset(segment_accesses) {}
};

// What is usual in the literal segments of a chunk: for each place and manner (a shape) what follows, and how
// far the next offset lies from the last.
class Habits {
 public:
  static constexpr std::uint32_t none = 0;  // the shape before the first access

  void clear() {
    shapes_.assign(1, Shape{});
    table_.assign(table_.empty() ? 64 : table_.size(), none);
    before_ = none;
    defined_.clear();
  }

  std::size_t count() const { return shapes_.size() - 1; }
  const Bytes& defined() const { return defined_; }
  void begin() { before_ = none; }

  // Writes accesses: runs of usual ones as their number, others with what is unusual about them.
  void write(Bytes& out, const Columns& from, std::size_t count) {
    std::uint64_t usual = 0;
    for (std::size_t at = 0; at < count; ++at) {
      const std::uint64_t place = from.place[at], manner = from.manner[at];
      const std::uint32_t expected = shapes_[before_].next;
      const bool is_expected =
          expected != none && shapes_[expected].place == place && shapes_[expected].manner == manner;
      const std::uint32_t id = is_expected ? expected : find(place, manner);
      Shape& shape = shapes_[id];
      const std::uint64_t difference = from.offset[at] - (shape.last + shape.stride);
      if (is_expected && difference == 0) {
        ++usual;
      } else {
        if (usual) put(out, usual << 2);
        usual = 0;
        if (is_expected) {
          put(out, zigzag(difference) << 2 | 1);
        } else {
          put(out, static_cast<std::uint64_t>(id) << 2 | 2);
          put(out, zigzag(difference));
          shapes_[before_].next = id;
        }
        shape.stride += difference;
      }
      shape.last = from.offset[at];
      before_ = id;
    }
    if (usual) put(out, usual << 2);
  }

 private:
  struct Shape {
    std::uint64_t place = 0, manner = 0, last = 0, stride = 0;
    std::uint32_t next = none;
  };

  static std::size_t hash(std::uint64_t place, std::uint64_t manner) {
    return static_cast<std::size_t>(((place ^ (manner << 17)) * 0x9e3779b97f4a7c15u) >> 32);
  }

  std::uint32_t find(std::uint64_t place, std::uint64_t manner) {
    const std::size_t mask = table_.size() - 1;
    for (std::size_t at = hash(place, manner) & mask;; at = (at + 1) & mask) {
      const std::uint32_t id = table_[at];
      if (id == none) break;
      if (shapes_[id].place == place && shapes_[id].manner == manner) return id;
    }
    return define(place, manner);
  }

  std::uint32_t define(std::uint64_t place, std::uint64_t manner) {
    Shape shape;
    shape.place = place;
    shape.manner = manner;
    shapes_.push_back(shape);
    put(defined_, place & 0xffffffffu);
    put(defined_, place >> 32);
    put(defined_, manner & 0xffffffffu);
    put(defined_, manner >> 32);
    if (2 * shapes_.size() > table_.size()) table_.assign(2 * table_.size(), none), rehash();
    else enter(static_cast<std::uint32_t>(shapes_.size() - 1));
    return static_cast<std::uint32_t>(shapes_.size() - 1);
  }

  void rehash() {
    for (std::uint32_t id = 1; id < shapes_.size(); ++id) enter(id);
  }

  void enter(std::uint32_t id) {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = hash(shapes_[id].place, shapes_[id].manner) & mask;
    while (table_[at] != none) at = (at + 1) & mask;
    table_[at] = id;
  }

  std::vector<Shape> shapes_;
  std::vector<std::uint32_t> table_;
  std::uint32_t before_ = none;
  Bytes defined_;
};

// Turns the segments of one block after the other into chunks. Used by one thread at a time.
class Encoder {
 public:
  Encoder(File& file, std::uint64_t stream) : file_(file), stream_(stream) { reset(); }

  std::uint32_t launch() const { return launch_; }
  std::uint64_t all_accesses() const { return all_accesses_; }
  std::uint64_t all_blocks() const { return all_blocks_; }
  std::uint64_t all_synchronisations() const { return all_synchronisations_; }
  void forget_counts() { all_accesses_ = all_blocks_ = all_synchronisations_ = 0; }

  void synchronised(const Synchronisation& what) {
    ++all_synchronisations_;
    if (what.ticket >= most_synchronisations) return;
    put(events_, static_cast<std::uint64_t>(what.event) | static_cast<std::uint64_t>(what.order) << 3 |
                     static_cast<std::uint64_t>(what.scope) << 6 | (what.is_of_block ? 1u << 9 : 0u));
    put(events_, zigzag(what.ticket - last_ticket_));
    put(events_, zigzag(block_ - event_block_));
    put(events_, what.thread);
    last_ticket_ = what.ticket;
    event_block_ = block_;
    if (what.event == Event::load || what.event == Event::store || what.event == Event::update) {
      put(events_, zigzag(what.cell - last_cell_));
      last_cell_ = what.cell;
    }
    if (what.event == Event::meeting) put(events_, what.lanes);
    if (events_.size() >= chunk_bytes) flush_events();
  }

  void begin_block(std::uint32_t launch, std::uint64_t block) {
    launch_ = launch;
    block_ = block;
    begins_block_ = in_block_ = true;
    ++all_blocks_;
    segment(0, Epochs{});
  }

  void end_block() {
    commit();
    if (begins_block_) move();  // a block without accesses is a block all the same
    in_block_ = false;
    if (!has_block_) continued_ = false;  // nothing came after the chunk before
    if (ops_.size() >= chunk_bytes) flush();
  }

  void segment(std::uint32_t thread, const Epochs& epochs) {
    if (count_) commit();
    thread_ = thread;
    epochs_ = epochs;
  }

  void access(std::uint32_t site, Kind kind, std::uint32_t allocation, std::uint64_t offset, std::uint32_t bytes) {
    const std::size_t at = count_;
    if (offset >> offset_bits) return file_.give_up("an offset is too large");
    now_.place[at] = site | static_cast<std::uint64_t>(allocation) << 32;
    now_.manner[at] = bytes | static_cast<std::uint64_t>(kind) << 32;
    now_.offset[at] = offset;
    count_ = at + 1;
    if (count_ == segment_accesses) commit();
  }

  // Writes what there is, so that the next chunk begins afresh.
  void flush() {
    commit();
    put_pending();
    if (!events_.empty()) flush_events();
    if (!ops_.empty()) {
      Bytes payload;
      put(payload, launch_);
      put(payload, stream_);
      put(payload, part_++);
      put(payload, continued_ ? 1 : 0);
      put(payload, accesses_);
      put(payload, continued_ ? least_grid_ : 0);
      put(payload, continued_ ? least_block_ : 0);
      put(payload, habits_.count());
      payload.insert(payload.end(), habits_.defined().begin(), habits_.defined().end());
      payload.insert(payload.end(), ops_.begin(), ops_.end());
      file_.write(Chunk::accesses, payload);
    }
    reset();
    continued_ = in_block_ && !begins_block_;
    least_grid_ = least_block_ = ~std::uint32_t{0};
    counts_least_ = continued_;
  }

 private:
  void flush_events() {
    Bytes payload;
    put(payload, launch_);
    payload.insert(payload.end(), events_.begin(), events_.end());
    file_.write(Chunk::synchronisations, payload);
    events_.clear();
    last_ticket_ = event_block_ = last_cell_ = 0;
  }

  void reset() {
    ops_.clear();
    habits_.clear();
    known_ = 0;
    accesses_ = pending_ = 0;
    last_count_ = 0;
    has_block_ = false;
    continued_ = counts_least_ = false;
    told_thread_ = 0;
    step_ = 1;
    expected_thread_ = 0;
    told_epochs_ = Epochs{};
  }

  // The segment ends here.
  void commit() {
    if (count_ == 0) return;
    move();
    if (!repeats()) {
      put_pending();
      put(ops_, static_cast<std::uint64_t>(count_) << 3 | op_literal);
      habits_.begin();
      habits_.write(ops_, now_, count_);
      std::swap(now_, last_);
      last_count_ = count_;
      stride_.assign(count_, 0);
      confirmed_ = 0;
    }
    accesses_ += count_;
    all_accesses_ += count_;
    count_ = 0;
    if (accesses_ >= chunk_accesses || ops_.size() >= chunk_bytes) flush();
  }

  // Tells block, syncs and thread where they are not what is expected.
  void move() {
    if (begins_block_ || !has_block_) {
      put_pending();
      put(ops_, zigzag(block_ - told_block_ * (has_block_ ? 1 : 0)) << 3 | op_block);
      if (begins_block_) counts_least_ = false;
      told_block_ = block_;
      begins_block_ = false;
      has_block_ = true;
      told_epochs_ = Epochs{};
      expected_thread_ = 0;
      told_thread_ = 0;
      step_ = 1;
    }
    if (!(epochs_ == told_epochs_)) put_epochs();
    if (counts_least_) count_least();
    if (thread_ != expected_thread_) {
      put_pending();
      put(ops_, static_cast<std::uint64_t>(thread_) << 3 | op_thread);
      if (thread_ > told_thread_) step_ = thread_ - told_thread_;
    }
    told_thread_ = thread_;
    expected_thread_ = thread_ + step_;
  }

  void put_epochs() {
    put_pending();
    const std::uint32_t now[9] = {epochs_.grid,    epochs_.block,   epochs_.tile[0],     epochs_.tile[1],    epochs_.tile[2],
                                  epochs_.tile[3], epochs_.tile[4], epochs_.shared_only, epochs_.synchronised};
    const std::uint32_t told[9] = {told_epochs_.grid,        told_epochs_.block,   told_epochs_.tile[0],
                                   told_epochs_.tile[1],     told_epochs_.tile[2], told_epochs_.tile[3],
                                   told_epochs_.tile[4],     told_epochs_.shared_only,
                                   told_epochs_.synchronised};
    std::uint64_t changed = 0;
    for (unsigned at = 0; at < 9; ++at) changed |= static_cast<std::uint64_t>(now[at] != told[at]) << at;
    put(ops_, changed << 3 | op_epochs);
    for (unsigned at = 0; at < 9; ++at) {
      if (now[at] != told[at]) put(ops_, zigzag(static_cast<std::uint64_t>(now[at]) - told[at]));
    }
    told_epochs_ = epochs_;
  }

  // The least interval of the block that was begun in an earlier chunk tells which intervals are over by then.
  void count_least() {
    const std::uint32_t block = epochs_.block - epochs_.shared_only;
    if (epochs_.grid < least_grid_ || (epochs_.grid == least_grid_ && block < least_block_)) {
      least_grid_ = epochs_.grid;
      least_block_ = block;
    }
  }

  // Whether the segment does what the last one did, a little further on; then it has been written.
  bool repeats() {
    if (count_ != last_count_ || std::memcmp(now_.place.data(), last_.place.data(), 8 * count_) != 0 ||
        std::memcmp(now_.manner.data(), last_.manner.data(), 8 * count_) != 0) {
      return false;
    }
    const std::uint64_t* now = now_.offset.data();
    std::uint64_t* last = last_.offset.data();
    const std::uint64_t* stride = stride_.data();
    std::uint64_t unusual = 0;
    for (std::size_t at = 0; at < count_; ++at) unusual |= now[at] - last[at] - stride[at];
    if (unusual == 0) {
      ++pending_;
      ++confirmed_;
    } else {
      put_pending();
      jump();
    }
    std::swap(now_.offset, last_.offset);
    return true;
  }

  void jump() {
    jumps_.resize(count_);
    for (std::size_t at = 0; at < count_; ++at) jumps_[at] = now_.offset[at] - last_.offset[at] - stride_[at];
    for (std::size_t slot = 0; slot < known_jumps && slot < known_; ++slot) {
      if (jump_[slot] == jumps_) return put(ops_, static_cast<std::uint64_t>(slot) << 3 | op_known_jump);
    }
    put(ops_, confirmed_ ? op_jump : op_stride);
    put_jumps();
    if (confirmed_) {
      jump_[known_ % known_jumps] = jumps_;
      ++known_;
    } else {
      for (std::size_t at = 0; at < count_; ++at) stride_[at] += jumps_[at];
    }
    confirmed_ = 0;
  }

  // Equal neighbours are written once, with their number.
  void put_jumps() {
    for (std::size_t at = 0; at < count_;) {
      std::size_t end = at + 1;
      while (end < count_ && jumps_[end] == jumps_[at]) ++end;
      put(ops_, zigzag(jumps_[at]) << 1 | (end - at > 1 ? 1u : 0u));
      if (end - at > 1) put(ops_, end - at - 2);
      at = end;
    }
  }

  void put_pending() {
    if (pending_) put(ops_, pending_ << 3 | op_next);
    pending_ = 0;
  }

  File& file_;
  const std::uint64_t stream_;
  std::uint64_t part_ = 0;
  std::uint32_t launch_ = 0;
  std::uint64_t block_ = 0, told_block_ = 0;
  bool begins_block_ = false, in_block_ = false, has_block_ = false;
  bool continued_ = false, counts_least_ = false;
  std::uint32_t least_grid_ = 0, least_block_ = 0;
  std::uint32_t thread_ = 0, told_thread_ = 0, expected_thread_ = 0, step_ = 1;
  Epochs epochs_, told_epochs_;
  Columns now_, last_;
  std::size_t count_ = 0, last_count_ = 0;
  std::vector<std::uint64_t> stride_, jumps_;
  std::vector<std::uint64_t> jump_[known_jumps];
  std::size_t known_ = 0;
  std::uint64_t pending_ = 0, confirmed_ = 0;
  std::uint64_t accesses_ = 0, all_accesses_ = 0, all_blocks_ = 0, all_synchronisations_ = 0;
  Bytes events_;
  std::uint64_t last_ticket_ = 0, event_block_ = 0, last_cell_ = 0;
  Bytes ops_;
  Habits habits_;
};

}  // namespace log_detail

// The log of this process. Every function may be called by any thread at any time.
class Log {
 public:
  // Opens the log; with an empty path nothing is written. The second call with a path gives the log of the first.
  static Log& start(const char* path) {
    static Log log;
    if (path && *path && !log.has_started_) {
      log.has_started_ = true;
      log.file_.open(path);
    }
    return log;
  }

  // Whether something is written, so that callers can spare themselves the work.
  bool is_open() const { return file_.is_open(); }

  // The table of sites as the instrumented source has it. Several units may each hand in theirs.
  void sites(const char* table) {
    log_detail::Bytes payload;
    log_detail::put_text(payload, table);
    file_.write(log_detail::Chunk::sites, payload);
  }

  // Something is not logged: one line, with its place.
  void left_out(Lack how, const char* what) {
    log_detail::Bytes payload;
    log_detail::put(payload, static_cast<std::uint64_t>(how));
    log_detail::put_text(payload, what);
    file_.write(log_detail::Chunk::left_out, payload);
  }

  // A launch begins. `arguments` has one line `name=value` for each argument whose value is known.
  std::uint32_t launch(const char* kernel, const std::uint32_t grid[3], const std::uint32_t block[3],
                       std::uint64_t dynamic_shared, const char* arguments) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto id = static_cast<std::uint32_t>(totals_.size());
    totals_.push_back(Totals{});
    log_detail::Bytes payload;
    log_detail::put(payload, id);
    for (unsigned axis = 0; axis < 3; ++axis) log_detail::put(payload, grid[axis]);
    for (unsigned axis = 0; axis < 3; ++axis) log_detail::put(payload, block[axis]);
    log_detail::put(payload, dynamic_shared);
    log_detail::put_text(payload, kernel);
    log_detail::put_text(payload, arguments);
    file_.write(log_detail::Chunk::launch, payload);
    return id;
  }

  // Memory that offsets of accesses count from. Shared memory is told once for all blocks, or once for each.
  std::uint32_t allocation(std::uint64_t base, std::uint64_t bytes, Space space, const char* name) {
    std::lock_guard<std::mutex> lock(mutex_);
    const std::uint32_t id = allocations_++;
    log_detail::Bytes payload;
    log_detail::put(payload, id);
    log_detail::put(payload, base);
    log_detail::put(payload, bytes);
    log_detail::put(payload, static_cast<std::uint64_t>(space));
    log_detail::put_text(payload, name);
    file_.write(log_detail::Chunk::allocation, payload);
    return id;
  }

  void release(std::uint32_t allocation) {
    log_detail::Bytes payload;
    log_detail::put(payload, allocation);
    file_.write(log_detail::Chunk::release, payload);
  }

  // All blocks of the launch are done: no `BlockLog` of it is left.
  void finished(std::uint32_t launch) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (log_detail::Encoder* encoder : idle_) {
      if (encoder->launch() == launch) encoder->flush();
    }
    log_detail::Bytes payload;
    log_detail::put(payload, launch);
    log_detail::put(payload, totals_.at(launch).accesses);
    log_detail::put(payload, totals_.at(launch).blocks);
    log_detail::put(payload, totals_.at(launch).synchronisations);
    file_.write(log_detail::Chunk::finished, payload);
  }

  // What came so far is written, and nothing after it: the log has no end, and its readers call it cut off.
  void cut_off() {
    std::lock_guard<std::mutex> lock(mutex_);
    for (log_detail::Encoder* encoder : idle_) encoder->flush();
    file_.abandon();
  }

  // The program ends here; the log is complete.
  void close(int exit_status) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (log_detail::Encoder* encoder : idle_) encoder->flush();
    std::uint64_t accesses = 0;
    for (const Totals& totals : totals_) accesses += totals.accesses;
    file_.end(exit_status, accesses);
  }

 private:
  friend class BlockLog;

  struct Totals {
    std::uint64_t accesses = 0, blocks = 0, synchronisations = 0;
  };

  Log() = default;

  // An encoder that no block uses, best one that holds accesses of the same launch.
  log_detail::Encoder* acquire(std::uint32_t launch) {
    if (!is_open()) return nullptr;
    std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.empty()) {
      encoders_.push_back(std::make_unique<log_detail::Encoder>(file_, encoders_.size()));
      return encoders_.back().get();
    }
    log_detail::Encoder* encoder = idle_.back();
    idle_.pop_back();
    if (encoder->launch() != launch) encoder->flush();
    return encoder;
  }

  void give_back(log_detail::Encoder* encoder) {
    std::lock_guard<std::mutex> lock(mutex_);
    Totals& totals = totals_.at(encoder->launch());
    totals.accesses += encoder->all_accesses();
    totals.blocks += encoder->all_blocks();
    totals.synchronisations += encoder->all_synchronisations();
    encoder->forget_counts();
    idle_.push_back(encoder);
  }

  log_detail::File file_;
  bool has_started_ = false;
  std::mutex mutex_;
  std::vector<std::unique_ptr<log_detail::Encoder>> encoders_;
  std::vector<log_detail::Encoder*> idle_;
  std::vector<Totals> totals_;
  std::uint32_t allocations_ = 0;
};

// The accesses of one block (linear, x fastest) of one launch. Used by one thread at a time.
class BlockLog {
 public:
  BlockLog(Log& log, std::uint32_t launch, std::uint64_t block) : log_(log), encoder_(log.acquire(launch)) {
    if (encoder_) encoder_->begin_block(launch, block);
  }

  ~BlockLog() {
    if (!encoder_) return;
    encoder_->end_block();
    log_.give_back(encoder_);
  }

  BlockLog(const BlockLog&) = delete;
  BlockLog& operator=(const BlockLog&) = delete;

  // From here on this thread (linear within its block) runs, having passed these syncs: at its start, after
  // every sync, and whenever another thread has run in between.
  void segment(std::uint32_t thread, const Epochs& epochs) {
    if (encoder_) encoder_->segment(thread, epochs);
  }

  void access(std::uint32_t site, Kind kind, std::uint32_t allocation, std::uint64_t offset, std::uint32_t bytes) {
    if (encoder_) encoder_->access(site, kind, allocation, offset, bytes);
  }

  // The running thread, or the block, synchronised like this; its segment ends, and its next one has counted it.
  void synchronised(const Synchronisation& what) {
    if (encoder_) encoder_->synchronised(what);
  }

  // The program dies in this block: what the block did so far is written, and nothing after it.
  void cut_off() {
    if (encoder_) encoder_->flush();
    log_.cut_off();
  }

 private:
  Log& log_;
  log_detail::Encoder* encoder_;
};

}  // namespace raceproof

#endif
