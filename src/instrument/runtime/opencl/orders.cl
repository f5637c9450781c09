// What stands before the text of OpenCL kernels whose work-groups and work-items take the ids that they are given, in the place of
// the driver's.
//
// The buffer consists of 32-bit words:
//   0         work-groups that have begun, counted atomically
//   1         how many of them there are if they come in an order of their own; 0: their ids are the driver's
//   2         the same of the work-items of each
//   4, 5, 6   extents of a work-group
//   8 …       which work-group begins first, which one next, and so on; then which work-item each of the driver's is: linear numbers
//
// A work-group draws its place in the order when it begins, so that the order is the one that is wanted whatever the order that the
// driver takes, and nobody waits for anybody: as many are launched as there are places, and each takes one.
//
// It needs what compilers based on clang have in all versions of OpenCL C. The user's text calls the functions of OpenCL by names that
// are macros here; what it knows as `raceproof_self` is the work-item, in kernels and in all functions that they call.

#define RACEPROOF_HEAD 8

typedef struct {
  // Ids: of the work-group, of the work-item in it, and of the work-item among all.
  size_t of_group[3], of_item[3], of_all[3];
} raceproof_item;

size_t raceproof_of_axis(const __private size_t *values, uint axis) { return axis < 3 ? values[axis] : 0; }

void raceproof_begin(__private raceproof_item *self, __global uint *orders, __local uint *drawn) {
  size_t item = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2));
  if (item == 0) *drawn = atomic_inc((volatile __global uint *)orders);
  barrier(CLK_LOCAL_MEM_FENCE);
  uint groups = orders[1], items = orders[2];
  size_t group = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
  if (groups) group = orders[RACEPROOF_HEAD + min(*drawn, groups - 1)];
  if (items) item = orders[RACEPROOF_HEAD + groups + item];
  self->of_group[0] = group % get_num_groups(0);
  self->of_group[1] = group / get_num_groups(0) % get_num_groups(1);
  self->of_group[2] = group / get_num_groups(0) / get_num_groups(1);
  self->of_item[0] = item % get_local_size(0);
  self->of_item[1] = item / get_local_size(0) % get_local_size(1);
  self->of_item[2] = item / get_local_size(0) / get_local_size(1);
  // The last work-groups of a launch may be smaller than the others, behind which they stand.
  for (uint axis = 0; axis < 3; axis++)
    self->of_all[axis] = get_global_offset(axis) + self->of_group[axis] * orders[4 + axis] + self->of_item[axis];
}

size_t raceproof_global_linear_id(__private raceproof_item *self) {
  size_t x = self->of_all[0] - get_global_offset(0), y = self->of_all[1] - get_global_offset(1);
  size_t z = self->of_all[2] - get_global_offset(2);
  return x + get_global_size(0) * (y + get_global_size(1) * z);
}

size_t raceproof_local_linear_id(__private raceproof_item *self) {
  return self->of_item[0] + get_local_size(0) * (self->of_item[1] + get_local_size(1) * self->of_item[2]);
}

#define get_group_id(axis) raceproof_of_axis(raceproof_self->of_group, axis)
#define get_local_id(axis) raceproof_of_axis(raceproof_self->of_item, axis)
#define get_global_id(axis) raceproof_of_axis(raceproof_self->of_all, axis)
#define get_global_linear_id() raceproof_global_linear_id(raceproof_self)
#define get_local_linear_id() raceproof_local_linear_id(raceproof_self)
