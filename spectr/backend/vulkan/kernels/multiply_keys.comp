#version 460
// For each row and key head, computes the dot products of the keys of the tokens since its state with its own
// key and with its query. A team of 32 threads has every fourth token, and a thread every 32nd dimension;
// threads are summed pairwise. Grid: (rows, key heads).
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"
#include "states.glsl"

const uint teams = 4u;
layout(local_size_x = 128) in;
layout(binding = 0) readonly buffer Pool {
  float pool[];
};
layout(binding = 1) readonly buffer Rows {
  int rows[];
};
layout(binding = 2) readonly buffer Queries {
  float queries[];
};
layout(binding = 3) writeonly buffer Out {
  float result[];
};
layout(push_constant) uniform Parameters {
  uint pool_at, keys, rows_at, queries_at, queries_stride, out_at;
  uint key_heads, dim;
} call;

shared float with_key[teams][32];
shared float with_query[teams][32];

void main() {
  const uint r = gl_WorkGroupID.x, head = gl_WorkGroupID.y;
  const uint team = gl_LocalInvocationID.x / 32u, lane = gl_LocalInvocationID.x % 32u;
  const uint row = call.rows_at + r * row_words, since = uint(rows[row + row_since]);
  const uint path = row + row_path + grid_tokens, keys = call.pool_at + call.keys + head * call.dim;
  const uint own = keys + number_of(rows[path + since]);
  const uint query = call.queries_at + r * call.queries_stride + head * call.dim;
  const uint to = call.out_at + (r * call.key_heads + head) * 2u * grid_tokens;
  for (uint first = 0u; first <= since; first += teams) {  // all teams run the same number of iterations
    const uint token = first + team;
    float of_key = 0.0, of_query = 0.0;
    if (token <= since) {
      const uint other = keys + number_of(rows[path + token]);
      for (uint i = lane; i < call.dim; i += 32u) {
        const float v = pool[other + i];
        of_key = add(of_key, mul(v, pool[own + i]));
        of_query = add(of_query, mul(v, queries[query + i]));
      }
    }
    with_key[team][lane] = of_key;
    with_query[team][lane] = of_query;
    barrier();
    for (uint h = 1u; h < 32u; h *= 2u) {
      if (lane % (2u * h) == 0u) {
        with_key[team][lane] = add(with_key[team][lane], with_key[team][lane + h]);
        with_query[team][lane] = add(with_query[team][lane], with_query[team][lane + h]);
      }
      barrier();
    }
    if (lane == 0u && token <= since) {
      result[to + token] = with_key[team][0];
      result[to + grid_tokens + token] = with_query[team][0];
    }
    barrier();  // the sums may still be read
  }
}
