// What products share: a group of 512 threads has 16 rows of W and N rows of x, and a thread one row of W and
// one segment, the blocks b ≡ segment mod 32 of 64 columns, ascending. y is the tree of the segments,
// neighbours first. Grid (rows of x / N, heads · rows of W / 16): those that read the same weights follow one
// another. Heads, which may be several, have their own of everything: W behind W, x and y so far apart.
//
// Of experts (ExpertProduct) a group has the slots of an expert, N at a time, and the expert's W: grid
// (groups of slots, rows of W / 16).
//
// Whoever includes this says where LISTS is bound, which constant EXPERTS is, and in its parameters: lists_at,
// slots_at (words), sharers, the first of the experts whose W are bound and how many they are.

layout(local_size_x = 512) in;
layout(constant_id = 0) const uint N = 1u;  // no bit depends on it
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

/// What a group multiplies: W of an expert of those that are bound, and rows of x, `step` at a time from
/// `first` on.
struct Task {
  uint expert, first, step, n;
  uint slots;  // where those of the expert begin
};

Task task_of_group() {
  if (!of_experts) return Task(0u, gl_WorkGroupID.x * N, call.n, call.n, 0u);
  const uint at = call.lists_at + 3u * gl_WorkGroupID.x, expert = lists[at] - call.first_expert;
  return Task(expert, 0u, N, expert < call.experts ? lists[at + 2u] : 0u, call.slots_at + lists[at + 1u]);
}

/// The row of y that is the task's i-th.
uint row_of_y(Task task, uint i) {
  return of_experts ? lists[task.slots + i] : i;
}
/// And of x; behind the last one it is the last.
uint row_of_x(Task task, uint i) {
  const uint r = row_of_y(task, min(i, task.n - 1u));
  return of_experts ? r / call.sharers : r;
}

/// Adds up and stores what the segments have in `sums`. Row r of y begins at y_at + r · y_stride.
void finish_product(Task task, uint row, uint segment, uint first) {
  barrier();
  for (uint h = 1u; h < segments; h *= 2u) {
    if (segment % (2u * h) == 0u) {
      [[unroll]] for (uint i = 0u; i < N; ++i)
        sums[i][segment][row] = add(sums[i][segment][row], sums[i][segment + h][row]);
    }
    barrier();
  }
  const uint column = panel_of_group() * 16u + row, at = call.y_at + head_of_group() * call.y_apart;
  for (uint i = segment; i < N; i += segments) {
    // −0 becomes 0.
    if (first + i < task.n && column < call.rows)
      y[at + row_of_y(task, first + i) * call.y_stride + column] = add(sums[i][0][row], 0.0);
  }
  if (of_experts) barrier();  // who still reads the sums
}
