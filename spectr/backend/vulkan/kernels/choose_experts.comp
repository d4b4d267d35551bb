#version 460
// Chooses the best experts of a row and computes their weights (ChooseExperts). Grid: (rows). A thread has
// the experts e ≡ thread mod 32. Scores are compared as order-preserving integer keys, larger first; ties go
// to the lower index. NaN has key 1, below all numbers; key 0 marks excluded experts.
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"

layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer Z {
  float z[];
};
layout(binding = 1) readonly buffer Bias {
  float bias[];
};
layout(binding = 2) readonly buffer Scales {
  float scales[];
};
layout(binding = 3) writeonly buffer Chosen {
  uint chosen[];
};
layout(binding = 4) writeonly buffer Weights {
  float weights[];
};
layout(push_constant) uniform Parameters {
  uint z_at, z_stride, bias_at, scales_at, chosen_at, weights_at;
  uint gating, normalized;
  float weights_scale;
  uint experts, used, groups, groups_used;
} call;

const uint threads = 32u, max_experts = 4096u;
const uint softmax = 0u, sigmoid_of_each = 1u, softmax_of_chosen = 2u;
const uint taken = 0xfffff000u;  // greater than the key of any number

shared uint keys[max_experts];
shared float numbers[threads];
shared uvec2 places[threads];  // key, index

#define thread gl_LocalInvocationID.x
#define first_z (call.z_at + gl_WorkGroupID.x * call.z_stride)

uint key_of(float score) {
  if (is_nan(score)) return 1u;
  const uint bits = floatBitsToUint(add(score, 0.0));  // −0 becomes 0
  return bits >> 31 == 0u ? bits | 0x80000000u : ~bits;
}
float score_of(uint key) {
  return uintBitsToFloat(key >> 31 == 0u ? ~key : key & 0x7fffffffu);
}

bool is_before(uvec2 a, uvec2 b) {
  return a.x > b.x || a.x == b.x && a.y < b.y;
}
/// Returns the best over all threads, in each of them.
uvec2 best_of_threads(uvec2 best) {
  barrier();
  places[thread] = best;
  barrier();
  for (uint i = 0u; i < threads; ++i) {
    if (is_before(places[i], best)) best = places[i];
  }
  return best;
}

/// Returns the pairwise sum over threads.
float sum_of_threads(float sum) {
  barrier();
  numbers[thread] = sum;
  barrier();
  for (uint h = 1u; h < threads; h *= 2u) {
    if (thread % (2u * h) == 0u) numbers[thread] = add(numbers[thread], numbers[thread + h]);
    barrier();
  }
  return numbers[0];
}
float largest_of_threads(float most) {
  barrier();
  numbers[thread] = most;
  barrier();
  for (uint i = 0u; i < threads; ++i) most = larger(most, numbers[i]);
  return most;
}

/// Returns true if the softmax includes expert e: all experts, or the chosen ones.
bool is_of(bool all, uint e) {
  return all || keys[e] >= taken;
}

/// Returns the maximum z and Σ e^(z − maximum).
vec2 softmax_over(bool all) {
  float most = -infinity, sum = 0.0;
  for (uint e = thread; e < call.experts; e += threads) {
    if (is_of(all, e)) most = larger(most, z[first_z + e]);
  }
  most = largest_of_threads(most);
  for (uint e = thread; e < call.experts; e += threads) {
    if (is_of(all, e)) sum = add(sum, exp_of_negative(sub(z[first_z + e], most)));
  }
  return vec2(most, sum_of_threads(sum));
}
float of_softmax(vec2 over, uint e) {
  return divide(exp_of_negative(sub(z[first_z + e], over.x)), over.y);
}

/// Returns the score of expert e; for a softmax, `over` is its maximum and sum.
float score(vec2 over, bool is_softmax, uint e) {
  if (is_softmax) return of_softmax(over, e);
  const float x = z[first_z + e];
  return call.gating == sigmoid_of_each ? sigmoid_of(x, 1.0) : x;
}

/// Returns the key of the sum of a group's two best scores.
uint key_of_group(uint group, uint size) {
  uint best = 0u, second = 0u;
  for (uint e = group * size; e < (group + 1u) * size; ++e) {
    const uint key = keys[e];
    if (key > best) {
      second = best;
      best = key;
    } else if (key > second) {
      second = key;
    }
  }
  return size > 1u ? key_of(add(score_of(best), score_of(second))) : best;
}

/// Zeroes the keys of experts outside the best groups. A thread has the groups g ≡ thread mod 32.
void keep_best_groups() {
  const uint size = call.experts / call.groups;
  uvec2 last = uvec2(none, 0u);
  for (uint i = 0u; i < call.groups_used; ++i) {
    uvec2 best = uvec2(0u, max_experts);
    for (uint g = thread; g < call.groups; g += threads) {
      const uvec2 one = uvec2(key_of_group(g, size), g);
      if (is_before(last, one) && is_before(one, best)) best = one;
    }
    last = best_of_threads(best);
  }
  for (uint g = thread; g < call.groups; g += threads) {
    if (!is_before(last, uvec2(key_of_group(g, size), g))) continue;
    for (uint e = g * size; e < (g + 1u) * size; ++e) keys[e] = 0u;
  }
  barrier();
}

void main() {
  const bool is_softmax = call.gating == softmax;
  vec2 over = vec2(0.0);
  if (is_softmax) over = softmax_over(true);
  // Gating preserves the order of z up to rounding: without a bias and groups, z itself is compared.
  const bool by_outputs = call.bias_at == none && call.groups == 1u;
  for (uint e = thread; e < call.experts; e += threads) {
    float s = by_outputs ? z[first_z + e] : score(over, is_softmax, e);
    if (call.bias_at != none) s = add(s, bias[call.bias_at + e]);
    keys[e] = key_of(s);
  }
  barrier();
  if (call.groups > 1u) keep_best_groups();
  const uint slot = gl_WorkGroupID.x * call.used;
  for (uint i = 0u; i < call.used; ++i) {
    uvec2 best = uvec2(0u, max_experts);
    for (uint e = thread; e < call.experts; e += threads) {
      if (keys[e] < taken && is_before(uvec2(keys[e], e), best)) best = uvec2(keys[e], e);
    }
    best = best_of_threads(best);
    if (best.y % threads == thread) {
      keys[best.y] = ~i;  // its rank
      chosen[call.chosen_at + slot + i] = best.y;
    }
  }
  const bool of_chosen = call.gating == softmax_of_chosen;
  if (of_chosen) over = softmax_over(false);
  float factor = call.weights_scale;
  if (call.normalized != 0u) {
    float sum = 0.0;
    for (uint e = thread; e < call.experts; e += threads) {
      if (keys[e] >= taken) sum = add(sum, score(over, is_softmax || of_chosen, e));
    }
    factor = divide(factor, larger(sum_of_threads(sum), uintBitsToFloat(0x00800000u)));
  }
  for (uint e = thread; e < call.experts; e += threads) {
    if (keys[e] < taken) continue;
    float w = mul(score(over, is_softmax || of_chosen, e), factor);
    if (call.scales_at != none) w = mul(w, scales[call.scales_at + e]);
    weights[call.weights_at + slot + ~keys[e]] = w;
  }
}
