// Shared code of products. A group of 512 threads has 16 rows of W and N rows of x, and a thread has a row of
// W and a segment: the blocks b ≡ segment mod 32 of 64 columns, ascending. y is the pairwise sum of the
// segments. Grid: (rows of x / N, heads · rows of W / 16), so that groups with the same weights are adjacent.
// Several heads have separate operands: W is contiguous, x and y have head strides.
//
// For experts (ExpertProduct), a group has the slots of one expert, N at a time, and that expert's W. Grid:
// (groups of slots, rows of W / 16).
//
// The includer defines LISTS, the binding of the lists, and EXPERTS, the id of a constant. Its parameters
// include lists_at, slots_at (in words), sharers, and the first and number of the experts with bound W.

layout(local_size_x = 512) in;
layout(constant_id = 0) const uint N = 1u;  // results are bitwise independent of it
layout(constant_id = EXPERTS) const bool of_experts = false;

layout(binding = LISTS) readonly buffer Lists {
  uint lists[];  // see ExpertLists
};

const uint segments = 32u;
shared float sums[N][segments][16];

uint head_of_group() {
  return gl_WorkGroupID.y / call.panels;
}
uint panel_of_group() {
  return gl_WorkGroupID.y % call.panels;
}

/// The work of a group: W of one of the bound experts, and rows of x, `step` at a time, from `first`
/// on.
struct Task {
  uint expert, first, step, n;
  uint slots;  // offset of the expert's slots
};

Task task_of_group() {
  if (!of_experts) return Task(0u, gl_WorkGroupID.x * N, call.n, call.n, 0u);
  const uint at = call.lists_at + 3u * gl_WorkGroupID.x, expert = lists[at] - call.first_expert;
  return Task(expert, 0u, N, expert < call.experts ? lists[at + 2u] : 0u, call.slots_at + lists[at + 1u]);
}

/// Returns the row of y of the task's i-th row.
uint row_of_y(Task task, uint i) {
  return of_experts ? lists[task.slots + i] : i;
}
/// Returns the row of x of the task's i-th row; past the end, that of the last row.
uint row_of_x(Task task, uint i) {
  const uint r = row_of_y(task, min(i, task.n - 1u));
  return of_experts ? r / call.sharers : r;
}

/// Sums the segments in `sums` and stores the results. Row r of y begins at y_at + r · y_stride.
void finish_product(Task task, uint row, uint segment, uint first) {
  barrier();
  for (uint h = 1u; h < segments; h *= 2u) {
    if (segment % (2u * h) == 0u) {
      [[unroll]] for (uint i = 0u; i < N; ++i)
        sums[i][segment][row] = add(sums[i][segment][row], sums[i][segment + h][row]);
    }
    barrier();
  }
  const uint column = panel_of_group() * 16u + row, at = call.y_at + head_of_group() * call.y_head_stride;
  for (uint i = segment; i < N; i += segments) {
    // −0 becomes 0.
    if (first + i < task.n && column < call.rows)
      y[at + row_of_y(task, first + i) * call.y_stride + column] = add(sums[i][0][row], 0.0);
  }
  if (of_experts) barrier();  // the sums may still be read
}
