#version 460
// Copies slots, one move after the other (see call::Move). A thread has one line: a word of each slot. Grid:
// (lines / 128).
layout(local_size_x = 128) in;
layout(binding = 0) buffer Pool {
  uint pool[];
};
layout(binding = 1) readonly buffer Lines {
  uvec2 lines[];  // see MoveLine
};
layout(binding = 2) readonly buffer Moves {
  uint moves[];
};
layout(push_constant) uniform Parameters {
  uint pool_at, block_words, lines_at, line_count, count_at, moves_at;
} call;

/// Returns the offset of a slot's word.
uint place(uvec2 line, uint slot) {
  return call.pool_at + slot / 64u * call.block_words + line.x + slot % 64u * line.y;
}

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= call.line_count) return;
  const uvec2 line = lines[call.lines_at + i];
  const uint count = moves[call.count_at];
  for (uint m = 0u; m < count; ++m) {
    pool[place(line, moves[call.moves_at + 2u * m + 1u])] = pool[place(line, moves[call.moves_at + 2u * m])];
  }
}
