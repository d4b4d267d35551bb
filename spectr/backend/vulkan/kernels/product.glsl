// What products share: a group of 512 threads has 16 rows of W and N rows of x, and a thread one row of W and
// one segment, the blocks b ≡ segment mod 32 of 64 columns, ascending. y is the tree of the segments,
// neighbours first. Grid (rows of x / N, heads · rows of W / 16): those that read the same weights follow one
// another. Heads, which may be several, have their own of everything: W behind W, x and y so far apart.

layout(local_size_x = 512) in;
layout(constant_id = 0) const uint N = 1u;  // no bit depends on it

const uint segments = 32u;
shared float sums[N][segments][16];

uint head_of_group() {
  return gl_WorkGroupID.y / call.panels;
}
uint panel_of_group() {
  return gl_WorkGroupID.y % call.panels;
}

/// Adds up and stores what the segments have in `sums`. Row r of y begins at y_at + r · y_stride.
void finish_product(uint row, uint segment, uint first) {
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
    const uint r = first + i;
    // −0 becomes 0.
    if (r < call.n && column < call.rows) y[at + r * call.y_stride + column] = add(sums[i][0][row], 0.0);
  }
}
