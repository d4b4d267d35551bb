#version 460
// The delta rule. S is a head's matrix in the state that row t starts from, a are the tokens since then, and
// G_a is the sum of their decays up to a:
//
//     u = β (v − e^{G_t} Sᵀk − Σ_a e^{G_t − G_a} (k_a · k) u_a)
//     o = e^{G_t} Sᵀq + Σ_a e^{G_t − G_a} (k_a · q) u_a + (k · q) u
//
// The next state is e^{G} S + Σ_a e^{G − G_a} k_a u_aᵀ over the 16 tokens before it. Sᵀk and Sᵀq are pairwise
// sums of eight sums, each over every eighth dimension of the key. Columns (value dimensions) are
// independent: a work group has 32 of them, for a head and a sequence, and iterates over its rows. Each of
// four teams of 32 threads has two of the eight sums. Grid: (value heads · columns / 32, sequences).
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"
#include "states.glsl"

const uint teams = 4u;
layout(local_size_x = 128) in;
layout(binding = 0) coherent buffer Pool {
  float pool[];
};
layout(binding = 1) readonly buffer Rows {
  int rows[];
};
layout(binding = 2) readonly buffer Steps {
  int steps[];
};
layout(binding = 3) readonly buffer Texts {
  uvec4 texts[];  // first row, number of rows, first state, number of states
};
layout(binding = 4) readonly buffer Products {
  float products[];  // the output of multiply_keys.comp
};
layout(binding = 5) readonly buffer X {
  float x[];
};
layout(binding = 6) readonly buffer Beta {
  float betas[];
};
layout(binding = 7) writeonly buffer Out {
  float result[];
};
layout(push_constant) uniform Parameters {
  uint pool_at, keys, values, decays, frame_state;
  uint rows_at, steps_at, texts_at, products_at;  // texts_at: in vectors
  uint x_at, x_stride, beta_at, beta_stride, out_at, out_stride;
  uint key_heads, dim;
} call;

shared float sums_of_key[teams][32];    // partial sums of Sᵀk, by team
shared float sums_of_query[teams][32];  // partial sums of Sᵀq, by team
shared float of_key[grid_tokens];       // factors of u_a
shared float of_query[grid_tokens];
shared float whole;  // e^{G_t}
shared float beta;

uint head, key_head, column, team, lane;

/// Returns the offset of the column in a head's matrix.
uint matrix(int place, bool in_frame) {
  return call.pool_at + number_of(place) + (in_frame ? call.frame_state : 0u) + head * call.dim * call.dim + column;
}
uint key(int token) {
  return call.pool_at + number_of(token) + call.keys + key_head * call.dim;
}
/// Returns the offset of the column's update by a token.
uint value(int token) {
  return call.pool_at + number_of(token) + call.values + head * call.dim + column;
}
float decay(int token) {
  return pool[call.pool_at + number_of(token) + call.decays + head];
}

void advance(uint step) {
  if (steps[step + step_is_new] == 0) return;
  const uint tokens = step + step_tokens, thread = gl_LocalInvocationID.x;
  if (thread < grid_tokens) {
    float mine = 0.0, total = 0.0;
    for (uint i = 0u; i < grid_tokens; ++i) {
      const float own = decay(steps[tokens + i]);
      total = i == 0u ? own : add(total, own);
      if (i == thread) mine = total;
    }
    of_key[thread] = exp_of_negative(sub(total, mine));
    if (thread == 0u) whole = exp_of_negative(total);
  }
  barrier();
  if (column < call.dim) {
    float u[grid_tokens];
    for (uint a = 0u; a < grid_tokens; ++a) u[a] = mul(of_key[a], pool[value(steps[tokens + a])]);
    const int before = steps[step + step_before];
    uint from = 0u;
    if (before >= 0) from = matrix(before, steps[step + step_before + 1u] != 0);
    const uint to = matrix(steps[step + step_at], steps[step + step_at + 1u] != 0);
    for (uint i = 2u * team; i < call.dim; i += (i % 2u == 0u ? 1u : 2u * teams - 1u)) {
      float s = 0.0;
      if (before >= 0) s = mul(whole, pool[from + i * call.dim]);
      for (uint a = 0u; a < grid_tokens; ++a) s = add(s, mul(u[a], pool[key(steps[tokens + a]) + i]));
      pool[to + i * call.dim] = s;
    }
  }
  memoryBarrierBuffer();
  barrier();  // the factors may still be read
}

/// Prepares the factors of the row's preceding tokens and of its state.
void prepare(uint row, uint r) {
  const uint a = gl_LocalInvocationID.x, since = uint(rows[row + row_since]);
  if (a > since) return;
  const uint of = call.products_at + (r * call.key_heads + key_head) * 2u * grid_tokens + a;
  float mine = 0.0, total = 0.0;
  for (uint i = 0u; i <= since; ++i) {
    const float own = decay(rows[row + row_path + grid_tokens + i]);
    total = i == 0u ? own : add(total, own);
    if (i == a) mine = total;
  }
  if (a < since) {
    const float factor = exp_of_negative(sub(total, mine));
    of_key[a] = mul(factor, products[of]);
    of_query[a] = mul(factor, products[of + grid_tokens]);
  } else {
    whole = exp_of_negative(total);
    beta = sigmoid_of(betas[call.beta_at + r * call.beta_stride + head], 1.0);
    of_query[a] = products[of + grid_tokens];
  }
}

float sum_of_teams(float a, float b, float c, float d) {
  return add(add(a, b), add(c, d));
}

void compute(uint row, uint r) {
  const uint since = uint(rows[row + row_since]), tokens = row + row_path + grid_tokens;
  const int state = rows[row + row_state];
  const uint in_row = call.x_at + r * call.x_stride;
  prepare(row, r);
  if (state >= 0 && column < call.dim) {
    const uint s = matrix(state, rows[row + row_state + 1u] != 0), k = key(rows[tokens + since]);
    const uint q = in_row + key_head * call.dim;
    float with_key[2] = float[2](0.0, 0.0), with_query[2] = float[2](0.0, 0.0);
    for (uint first = 2u * team; first < call.dim; first += 2u * teams) {
      [[unroll]] for (uint j = 0u; j < 2u; ++j) {
        const uint i = first + j;
        if (i >= call.dim) continue;
        const float number = pool[s + i * call.dim];
        with_key[j] = add(with_key[j], mul(number, pool[k + i]));
        with_query[j] = add(with_query[j], mul(number, x[q + i]));
      }
    }
    sums_of_key[team][lane] = add(with_key[0], with_key[1]);
    sums_of_query[team][lane] = add(with_query[0], with_query[1]);
  }
  barrier();
  if (team == 0u && column < call.dim) {
    float u = x[in_row + (2u * call.key_heads + head) * call.dim + column], o = 0.0;
    if (state >= 0) {
      u = sub(u, mul(whole, sum_of_teams(sums_of_key[0][lane], sums_of_key[1][lane], sums_of_key[2][lane],
                                         sums_of_key[3][lane])));
      o = mul(whole, sum_of_teams(sums_of_query[0][lane], sums_of_query[1][lane], sums_of_query[2][lane],
                                  sums_of_query[3][lane]));
    }
    for (uint a = 0u; a < since; ++a) {
      const float added = pool[value(rows[tokens + a])];
      u = sub(u, mul(of_key[a], added));
      o = add(o, mul(of_query[a], added));
    }
    u = mul(u, beta);
    pool[value(rows[tokens + since])] = u;
    result[call.out_at + r * call.out_stride + head * call.dim + column] = add(o, mul(of_query[since], u));
  }
  memoryBarrierBuffer();
  barrier();  // the sums may still be read, and the update must be visible
}

void main() {
  const uint slices = (call.dim + 31u) / 32u;
  team = gl_LocalInvocationID.x / 32u;
  lane = gl_LocalInvocationID.x % 32u;
  head = gl_WorkGroupID.x / slices;
  key_head = head % call.key_heads;
  column = gl_WorkGroupID.x % slices * 32u + lane;
  const uvec4 text = texts[call.texts_at + gl_WorkGroupID.y];
  uint next = text.z;
  for (uint r = text.x; r < text.x + text.y; ++r) {
    const uint row = call.rows_at + r * row_words;
    for (; next <= uint(rows[row + row_step]); ++next) advance(call.steps_at + next * step_words);
    compute(row, r);
  }
  for (; next < text.z + text.w; ++next) advance(call.steps_at + next * step_words);
}
