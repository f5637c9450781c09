// What stands before the text of instrumented OpenCL kernels: it logs accesses into a buffer of the device.
//
// The buffer begins with a head of 64-bit words:
//   0         records so far (its low half, counted atomically)
//   1         records that there is room for
//   2, 3      first work-group that logs, and the first one behind it
//   4 … 7     where records go that are not wanted
//   8 + 2 j   of the pointer parameter j of the kernel: bytes from the buffer's start to what the kernel is given
//   9 + 2 j   and the bytes that the buffer has
//   200 + j   written here: the bytes of variable j: local ones of the kernel from 0, those of the program from 28
//   256 …     where accesses go that lie outside of all memory of the kernel
//   512 …     the records, of four words each:
//             site (32 bits), kind (8), slot (8); offset; bytes (32), work-item in its group (32); group
// Kinds: 0 read, 1 write, 2 both, 3 atomic of the work-group, 4 of the device, 5 of all devices, 6 barrier (the bytes are
// its flags), 7 work-items that part at a branch before that barrier: the low half of the offset is one that comes to it, the
// high half one that does not; 8 the same where none was seen to come to one. Slots: number of the range, plus 128 for local
// memory; 255 for an access outside of all ranges, whose offset is its address.
//
// It needs what compilers based on clang have in all versions of OpenCL C: overloadable functions, statement expressions,
// __auto_type and __typeof__.

typedef struct {
  __global ulong *log;
  uint group, item, logs, is_wanted;
  uint parted;   // the work-item that went another way than the first one, plus 1
  ulong global_base[RACEPROOF_GLOBALS], global_bytes[RACEPROOF_GLOBALS];
  ulong local_base[RACEPROOF_LOCALS], local_bytes[RACEPROOF_LOCALS];
  __local void *local_sink;
  volatile __local long *votes;
} raceproof_item;

// Writes a record if it is wanted. There is no branch in it, as there is none in what stands at barriers: PoCL 3.1 gives up
// loops in which branches of work-items lie between several barriers.
void raceproof_record(__private raceproof_item *self, uint wanted, uint site, uint kind, uint slot, ulong offset,
                      ulong bytes) {
  volatile __global uint *cursor = (volatile __global uint *)self->log;
  uint capacity = (uint)self->log[1];
  uint more = wanted && *cursor < capacity;
  uint at = atomic_add(cursor, more);
  __global ulong *record = self->log + (more && at < capacity ? 512 + 4 * (ulong)at : 4);
  record[0] = (ulong)site | (ulong)kind << 32 | (ulong)slot << 40;
  record[1] = offset;
  record[2] = (ulong)(uint)bytes | (ulong)self->item << 32;
  record[3] = (ulong)self->group;
}

void raceproof_append(__private raceproof_item *self, uint site, uint kind, uint slot, ulong offset, ulong bytes) {
  if (self->logs) raceproof_record(self, 1, site, kind, slot, offset, bytes);
}

// Logs an access of `bytes` bytes, `skipped` behind `at`, and gives `at` back; or, if that is outside of all memory, a
// place where the access does no harm.
__attribute__((overloadable)) __global void *raceproof_access(__private raceproof_item *self, uint site, uint kind,
                                                              const volatile __global void *at, ulong skipped,
                                                              ulong bytes) {
  ulong address = (ulong)at + skipped;
  if (bytes == 0) return (__global void *)at;
  for (uint range = 0; range < RACEPROOF_GLOBALS; range++) {
    ulong offset = address - self->global_base[range], extent = self->global_bytes[range];
    if (offset < extent && bytes <= extent - offset) {
      raceproof_append(self, site, kind, range, offset, bytes);
      return (__global void *)at;
    }
  }
  __global ulong *sink = self->log + 256;
  if (at == (const volatile __global void *)sink) return (__global void *)at;
  raceproof_append(self, site, kind, 255, address, bytes);
  return skipped + bytes <= 2048 ? (__global void *)sink : (__global void *)at;
}

__attribute__((overloadable)) __local void *raceproof_access(__private raceproof_item *self, uint site, uint kind,
                                                             const volatile __local void *at, ulong skipped,
                                                             ulong bytes) {
  ulong address = (ulong)at + skipped;
  if (bytes == 0) return (__local void *)at;
  for (uint range = 0; range < RACEPROOF_LOCALS; range++) {
    ulong offset = address - self->local_base[range], extent = self->local_bytes[range];
    if (offset < extent && bytes <= extent - offset) {
      raceproof_append(self, site, kind, 128 + range, offset, bytes);
      return (__local void *)at;
    }
  }
  if (at == (const volatile __local void *)self->local_sink) return (__local void *)at;
  raceproof_append(self, site, kind, 255, address, bytes);
  return skipped + bytes <= 128 ? self->local_sink : (__local void *)at;
}

// Constant memory of the program itself is in no range, and nothing can write it.
__attribute__((overloadable)) __constant void *raceproof_access(__private raceproof_item *self, uint site, uint kind,
                                                                const volatile __constant void *at, ulong skipped,
                                                                ulong bytes) {
  ulong address = (ulong)at + skipped;
  for (uint range = 0; range < RACEPROOF_GLOBALS; range++) {
    ulong offset = address - self->global_base[range], extent = self->global_bytes[range];
    if (offset < extent && bytes <= extent - offset) raceproof_append(self, site, kind, range, offset, bytes);
  }
  return (__constant void *)at;
}

// Variables of the work-item itself are its own.
__attribute__((overloadable)) __private void *raceproof_access(__private raceproof_item *self, uint site, uint kind,
                                                               const volatile __private void *at, ulong skipped,
                                                               ulong bytes) {
  return (__private void *)at;
}

#if (__OPENCL_C_VERSION__ >= 200 && __OPENCL_C_VERSION__ < 300) || defined(__opencl_c_generic_address_space)
__attribute__((overloadable)) __generic void *raceproof_access(__private raceproof_item *self, uint site, uint kind,
                                                               const volatile __generic void *at, ulong skipped,
                                                               ulong bytes) {
  __generic void *plain = (__generic void *)at;
  if (to_global(plain)) return (__generic void *)raceproof_access(self, site, kind, to_global(plain), skipped, bytes);
  if (to_local(plain)) return (__generic void *)raceproof_access(self, site, kind, to_local(plain), skipped, bytes);
  return plain;
}
#endif

void raceproof_begin(__private raceproof_item *self, __global ulong *log, __local void *local_sink, __local long *votes) {
  self->log = log;
  self->local_sink = local_sink;
  self->votes = votes;
  self->parted = 0;
  self->item = (uint)(get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)));
  self->group = (uint)(get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2)));
  self->logs = self->is_wanted = self->group >= log[2] && self->group < log[3];
  for (uint range = 0; range < RACEPROOF_GLOBALS; range++) self->global_bytes[range] = 0;
  for (uint range = 0; range < RACEPROOF_LOCALS; range++) self->local_bytes[range] = 0;
}

// A pointer parameter: the memory that belongs to it, and what the kernel is to see.
__attribute__((overloadable)) __global void *raceproof_parameter(__private raceproof_item *self, uint number,
                                                                 uint range, const volatile __global void *at) {
  self->global_base[range] = (ulong)at;
  self->global_bytes[range] = self->log[9 + 2 * number];
  return (__global void *)((const volatile __global char *)at + self->log[8 + 2 * number]);
}

__attribute__((overloadable)) __constant void *raceproof_parameter(__private raceproof_item *self, uint number,
                                                                   uint range, const volatile __constant void *at) {
  self->global_base[range] = (ulong)at;
  self->global_bytes[range] = self->log[9 + 2 * number];
  return (__constant void *)((const volatile __constant char *)at + self->log[8 + 2 * number]);
}

__attribute__((overloadable)) __local void *raceproof_parameter(__private raceproof_item *self, uint number,
                                                                uint range, const volatile __local void *at) {
  self->local_base[range] = (ulong)at;
  self->local_bytes[range] = self->log[9 + 2 * number];
  return (__local void *)at;
}

// A variable in memory that work-items share.
__attribute__((overloadable)) void raceproof_variable(__private raceproof_item *self, uint number, uint range,
                                                      const volatile __local void *at, ulong bytes) {
  self->local_base[range] = (ulong)at;
  self->local_bytes[range] = bytes;
  self->log[200 + number] = bytes;
}

__attribute__((overloadable)) void raceproof_variable(__private raceproof_item *self, uint number, uint range,
                                                      const volatile __global void *at, ulong bytes) {
  self->global_base[range] = (ulong)at;
  self->global_bytes[range] = bytes;
  self->log[200 + number] = bytes;
}

// A barrier, or what is taken for one.
void raceproof_barrier(__private raceproof_item *self, uint site, uint flags) {
  raceproof_record(self, self->logs, site, 6, 0, 0, flags);
  uint is_first = self->parted && self->is_wanted && self->item == 0;
  raceproof_record(self, is_first, site, 7, 0, (ulong)(self->parted - 1) << 32, 0);
  self->is_wanted = self->is_wanted && !self->parted;
}

// What the condition of a branch is, where all work-items of the group come and the value decides which of them come to a
// barrier. `leads` is the value that leads there: 0 zero, 1 any other, 2 each to its own. If they part, that is told with this
// barrier, or with the one that the first work-item comes to; all go the first one's way, as the driver would have them, and
// what they do from there on is not the program's.
long raceproof_agree(__private raceproof_item *self, uint barrier_number, uint leads, long value) {
  volatile __local uint *other = (volatile __local uint *)(self->votes + 1);
  if (self->item == 0) {
    self->votes[0] = value;
    *other = 0xffffffffu;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_min(other, value != self->votes[0] ? self->item : 0xffffffffu);
  barrier(CLK_LOCAL_MEM_FENCE);
  long common = self->votes[0];
  uint parts = *other;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint part_now = parts != 0xffffffffu && !self->parted;
  uint first_comes = leads == 2 || (common != 0) == (leads == 1);
  raceproof_record(self, part_now && self->item == 0 && self->is_wanted, barrier_number, first_comes ? 8 : 7, 0,
                   first_comes ? (ulong)parts << 32 : (ulong)parts, 0);
  self->parted = part_now ? parts + 1 : self->parted;
  self->logs = self->logs && !part_now;
  self->is_wanted = self->is_wanted && (!part_now || first_comes);
  return common;
}

// What edits put around objects, pointers, and parts of vectors. Each argument is evaluated once.
#define RACEPROOF_OBJECT(site, kind, object)                                                                        \
  (*({                                                                                                              \
    __auto_type raceproof_at = &object;                                                                             \
    (__typeof__(raceproof_at))raceproof_access(raceproof_self, site, kind, raceproof_at, 0, sizeof *raceproof_at);  \
  }))
#define RACEPROOF_POINTER(site, kind, pointer)                                                                      \
  ({                                                                                                                \
    __auto_type raceproof_at = pointer;                                                                             \
    (__typeof__(raceproof_at))raceproof_access(raceproof_self, site, kind, raceproof_at, 0, sizeof *raceproof_at);  \
  })
#define RACEPROOF_LANES(site, kind, first, count)                                                                   \
  raceproof_at = (__typeof__(raceproof_at))raceproof_access(raceproof_self, site, kind, raceproof_at,               \
                                                            first * sizeof((*raceproof_at).s0),                     \
                                                            count * sizeof((*raceproof_at).s0))

// The step between elements on the side of a strided copy that the stride is for: global memory.
__attribute__((overloadable)) ulong raceproof_step(const volatile __global void *at, ulong stride) { return stride; }
__attribute__((overloadable)) ulong raceproof_step(const volatile __local void *at, ulong stride) { return 1; }

// An asynchronous copy of the work-group is logged once, for its first work-item.
#define RACEPROOF_COPY(write_site, read_site)                                                                         \
  if (raceproof_self->item == 0) {                                                                                    \
    raceproof_access(raceproof_self, write_site, 1, raceproof_to, 0, raceproof_count * sizeof *raceproof_to);         \
    raceproof_access(raceproof_self, read_site, 0, raceproof_from, 0, raceproof_count * sizeof *raceproof_from);      \
  }
#define RACEPROOF_STRIDED_COPY(write_site, read_site)                                                                 \
  if (raceproof_self->item == 0)                                                                                      \
    for (ulong raceproof_i = 0; raceproof_i < raceproof_count; raceproof_i++) {                                       \
      raceproof_access(raceproof_self, write_site, 1, raceproof_to,                                                   \
                       raceproof_i * raceproof_step(raceproof_to, raceproof_stride) * sizeof *raceproof_to,           \
                       sizeof *raceproof_to);                                                                         \
      raceproof_access(raceproof_self, read_site, 0, raceproof_from,                                                  \
                       raceproof_i * raceproof_step(raceproof_from, raceproof_stride) * sizeof *raceproof_from,       \
                       sizeof *raceproof_from);                                                                       \
    }
