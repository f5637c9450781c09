// What stands before the text of OpenCL kernels that count what a test reaches of them, in a buffer of the device.
//
// The buffer consists of 32-bit words:
//   0         groups so far whose work-items part before a barrier
//   1, 2      how many of them there is room for, and how many words each takes
//   4 …       what is not wanted goes there
//   8 …       four words for each point, by its number:
//               run      executions
//               branch   false, true
//               loop     executions; those that come to a first turn, to a second one; further turns
//               barrier  rounds of whole groups; nothing; work-items that come; work-items of whole groups
//   then      two words for each agreement before a barrier: groups that part there; their work-items that would go to the barrier
//             where the first one does not
//   then      for each group that parts: number of the agreement, group, a bit for each work-item that does not go to the barrier
// A count stays where it is when it is near its end.
//
// It needs no more than raceproof.cl does, and has no branches at barriers, for the same reason.

#define RACEPROOF_HEAD 8
#define RACEPROOF_AGREED (RACEPROOF_HEAD + 4 * RACEPROOF_POINTS)
#define RACEPROOF_PARTED (RACEPROOF_AGREED + 2 * RACEPROOF_AGREEMENTS)

typedef struct {
  volatile __global uint *counts;
  volatile __local uint *arrived;   // work-items that have come to barriers of even and of odd number
  volatile __local long *votes;     // a value; then, as 32-bit words: who differs from it, and two places of its group
  uint group, item, items;
  uint counts_here;                 // 1 while what the work-item does is the program's
  uint parted;                      // 1 when the group has parted before a barrier
  uint round, agreements;
} raceproof_item;

void raceproof_add(__private raceproof_item *self, uint word, uint more) {
  volatile __global uint *count = self->counts + word;
  uint known = *count;
  atomic_add(count, known < 0xf0000000u ? more * self->counts_here : 0u);
}

void raceproof_begin(__private raceproof_item *self, __global uint *counts, __local uint *arrived, __local long *votes) {
  self->counts = counts;
  self->arrived = arrived;
  self->votes = votes;
  self->item = (uint)(get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)));
  self->items = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
  self->group = (uint)(get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2)));
  self->counts_here = 1;
  self->parted = self->round = self->agreements = 0;
}

// The beginning of a kernel with barriers.
void raceproof_meet(__private raceproof_item *self) {
  if (self->item == 0) self->arrived[0] = self->arrived[1] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
}

void raceproof_reached(__private raceproof_item *self, uint point) { raceproof_add(self, RACEPROOF_HEAD + 4 * point, 1); }

int raceproof_branch(__private raceproof_item *self, uint point, int holds) {
  raceproof_add(self, RACEPROOF_HEAD + 4 * point + holds, 1);
  return holds;
}

void raceproof_loop(__private raceproof_item *self, uint point) { raceproof_add(self, RACEPROOF_HEAD + 4 * point, 1); }

// A turn of a loop, behind so many others.
void raceproof_turn(__private raceproof_item *self, uint point, uint others) {
  raceproof_add(self, RACEPROOF_HEAD + 4 * point + 1 + min(others, 2u), 1);
}

// Before a barrier, and behind it. Work-items that have passed it may have come to the next one, and to none after that.
void raceproof_arrive(__private raceproof_item *self, uint point) {
  raceproof_add(self, RACEPROOF_HEAD + 4 * point + 2, 1);
  // Without the others it waits here for ever.
  self->counts_here &= !self->parted;
  atomic_inc(self->arrived + self->round % 2);
}

void raceproof_pass(__private raceproof_item *self, uint point) {
  uint all = self->items * (self->round / 2 + 1);
  uint is_whole = (self->item == 0) & (self->arrived[self->round % 2] == all);
  raceproof_add(self, RACEPROOF_HEAD + 4 * point, is_whole);
  raceproof_add(self, RACEPROOF_HEAD + 4 * point + 3, is_whole * self->items);
  self->round++;
}

// A barrier of fewer work-items than those of a group, of which nothing more is known.
void raceproof_arrive_alone(__private raceproof_item *self, uint point) {
  raceproof_add(self, RACEPROOF_HEAD + 4 * point + 2, 1);
  raceproof_add(self, RACEPROOF_HEAD + 4 * point + 3, 1);
}

// What the condition of a branch is, where all work-items of the group come and the value decides which of them come to a
// barrier. `leads` is the value that leads there: 0 zero, 1 any other, 2 each to its own. If they part, that is kept with
// those that do not come. All go the first one's way, as the driver would have them; those whose way it is count until they
// come to a barrier, and the others no more.
long raceproof_agree(__private raceproof_item *self, uint number, uint leads, long value) {
  volatile __local uint *other = (volatile __local uint *)(self->votes + 1);
  // Whoever is slow may read the place of the agreement before.
  volatile __local uint *place = other + 1 + self->agreements % 2;
  if (self->item == 0) {
    self->votes[0] = value;
    *other = 0xffffffffu;
    *place = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_min(other, value != self->votes[0] ? self->item : 0xffffffffu);
  barrier(CLK_LOCAL_MEM_FENCE);
  long common = self->votes[0];
  uint parts = (*other != 0xffffffffu) & !self->parted, follows = value == common;
  uint is_told = parts & (leads != 2) & (self->item == 0);
  uint taken = atomic_add(self->counts, is_told);
  atomic_add(place, is_told * (taken + 1));
  barrier(CLK_LOCAL_MEM_FENCE);
  uint comes = (value != 0) == (leads == 1), own = *place;
  uint has_room = (own != 0) & (own - 1 < self->counts[1]);
  volatile __global uint *kept = self->counts + (has_room ? RACEPROOF_PARTED + (own - 1) * self->counts[2] : 4);
  atomic_or(kept, has_room * number);
  atomic_or(kept + 1, has_room * self->group);
  atomic_or(kept + 2 + has_room * (self->item / 32), (has_room & !comes) << self->item % 32);
  raceproof_add(self, RACEPROOF_AGREED + 2 * number, parts & (self->item == 0));
  raceproof_add(self, RACEPROOF_AGREED + 2 * number + 1, parts & (leads != 2) & comes & !follows);
  self->counts_here &= !parts | follows;
  self->parted |= parts;
  self->agreements++;
  return common;
}
