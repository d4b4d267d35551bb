#version 460
// Groups slots by expert (ExpertLists) in a single work group. A thread has consecutive experts.
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer Chosen {
  uint chosen[];
};
layout(binding = 1) writeonly buffer Lists {
  uint lists[];
};
layout(push_constant) uniform Parameters {
  uint chosen_at, slots, first, blocks;
  uint lists_at, groups;
} call;

const uint threads = 256u, at_once = 512u;  // slots staged at a time
shared uint staged[at_once];
shared uvec2 totals[threads];  // inclusive prefix sums of slots and groups

#define thread gl_LocalInvocationID.x

/// Returns how many slots have chosen `block`; if `lists_them`, also lists them from `at` on.
uint slots_of(uint block, bool lists_them, uint at) {
  uint count = 0u;
  for (uint from = 0u; from < call.slots; from += at_once) {
    const uint size = min(call.slots - from, at_once);
    barrier();
    for (uint i = thread; i < size; i += threads) staged[i] = chosen[call.chosen_at + from + i] - call.first;
    barrier();
    for (uint i = 0u; i < size; ++i) {
      if (staged[i] != block || block >= call.blocks) continue;
      if (lists_them) lists[at + count] = from + i;
      ++count;
    }
  }
  return count;
}

void main() {
  const uint each = (call.blocks + threads - 1u) / threads, slots_at = call.lists_at + 3u * call.groups;
  uvec2 mine = uvec2(0u);
  for (uint k = 0u; k < each; ++k) {
    const uint count = slots_of(thread * each + k, false, 0u);
    mine += uvec2(count, min(count, 1u));
  }
  totals[thread] = mine;
  for (uint h = 1u; h < threads; h *= 2u) {
    barrier();
    const uvec2 more = thread >= h ? totals[thread - h] : uvec2(0u);
    barrier();
    totals[thread] += more;
  }
  barrier();
  uint begin = totals[thread].x - mine.x, group = totals[thread].y - mine.y;
  for (uint k = 0u; k < each; ++k) {
    const uint block = thread * each + k, count = slots_of(block, true, slots_at + begin);
    if (count > 0u) {
      const uint at = call.lists_at + 3u * group;
      lists[at] = block;
      lists[at + 1u] = begin;
      lists[at + 2u] = count;
      begin += count;
      ++group;
    }
  }
  for (uint g = totals[threads - 1u].y + thread; g < call.groups; g += threads) {
    [[unroll]] for (uint i = 0u; i < 3u; ++i) lists[call.lists_at + 3u * g + i] = 0u;
  }
}
