#version 460
// y = W x by cooperative matrices of signed bytes, bitwise equal to panel_product.comp. Used for three or
// more rows of x, if the driver supports it.
//
// A work group has 16 rows of W and N rows of x, and each of its subgroups has 32 / SUBGROUPS segments,
// processed in turn. Blocks of W and x are staged in shared memory as bytes. Products of halves, or of 16
// columns if these have separate scales, are stored back there, where their layout is known.
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#include "arithmetic.glsl"

layout(constant_id = 0) const uint N = 8u;  // rows of x: 8 or 16
layout(constant_id = 9) const uint ROWS = 16u;  // of a matrix: 8 or 16
layout(constant_id = 10) const uint COLUMNS = 8u;  // 8 or 16
layout(constant_id = 11) const uint DEPTH = 32u;  // 8, 16 or 32
layout(constant_id = 12) const uint SUBGROUP = 32u;
layout(constant_id = 13) const uint SUBGROUPS = 8u;  // a power of two, at most 32
layout(local_size_x_id = 14) in;  // SUBGROUP · SUBGROUPS

layout(binding = 0) readonly buffer Codes {
  uvec4 codes[];
};
layout(binding = 1) readonly buffer Scales {
  uint scales[];
};
layout(binding = 2) readonly buffer Factors {
  uint factors[];
};
layout(binding = 3) readonly buffer XCodes {
  uvec4 x_codes[];
};
layout(binding = 4) readonly buffer XNumbers {
  float x_numbers[];  // scales, followed by the sums of q
};
layout(binding = 5) writeonly buffer Y {
  float y[];
};
layout(push_constant) uniform Parameters {
  uint codes_at, scales_at, factors_at;  // in vectors, words, words
  uint x_at, x_scales_at, tiles;
  uint rows, blocks, n;
  uint y_at, y_stride;
  uint panels, x_head_stride, y_head_stride;  // panels per head; head strides in vectors and words
} call;

#include "panels.glsl"

// Products of 16 columns in matrices of depth 32: the rows of W are padded with zeros.
const bool IS_SPREAD = ARE_OF_16 && DEPTH > 16u;
const uint W_STRIDE = IS_SPREAD ? 36u : 20u, X_STRIDE = 20u;  // row strides in words, with padding
const uint X_ROWS = (N + COLUMNS - 1u) / COLUMNS * COLUMNS;
shared uint w_bytes[SUBGROUPS][16u * W_STRIDE];
shared uint x_bytes[SUBGROUPS][X_ROWS * X_STRIDE];
shared int products[SUBGROUPS][X_ROWS * 16u];  // [row of x][row of W]
shared float totals[SUBGROUPS][N * 16u];

// A thread sums rows `lane % WIDTH` + WIDTH i of W times rows `lane / WIDTH` + HEIGHT j of x.
const uint WIDTH = SUBGROUP < 16u ? SUBGROUP : 16u, HEIGHT = SUBGROUP / WIDTH;
const uint W_COUNT = 16u / WIDTH, X_COUNT = N / HEIGHT;
const uint PER_SUBGROUP = 32u / SUBGROUPS;  // segments

#define MATRIX(T, height, width, use) coopmat<T, gl_ScopeSubgroup, height, width, use>

/// Stages a block of W and x in shared memory.
void stage(uint block, uint b, uint first, uint x_behind) {
  const uint lane = gl_SubgroupInvocationID, own = gl_SubgroupID;
  for (uint row = lane; row < 16u; row += SUBGROUP) {
    uvec4 c[4];
    load_codes(block, row, c);
    [[unroll]] for (uint k = 0u; k < 4u; ++k) {
      [[unroll]] for (uint j = 0u; j < 4u; ++j)
        w_bytes[own][row * W_STRIDE + (IS_SPREAD ? 8u : 4u) * k + j] = c[k][j];
    }
  }
  for (uint i = lane; i < 4u * X_ROWS; i += SUBGROUP) {
    const uint r = min(first + i / 4u, call.n - 1u), t = i % 4u;
    const uint at = call.x_at + x_behind + (b * call.tiles + r / 8u) * 32u + 4u * (r % 8u) + t;
    const uvec4 q = x_codes[at];
    [[unroll]] for (uint k = 0u; k < 4u; ++k) x_bytes[own][i / 4u * X_STRIDE + 4u * k + t] = q[k];
  }
}

/// Computes Σ c q for the 32 columns of half i, or for the i-th 16 columns if ARE_OF_16.
void multiply(uint i) {
  const uint own = gl_SubgroupID, width = ARE_OF_16 ? 16u : 32u;
  for (uint x = 0u; x < X_ROWS; x += COLUMNS) {
    for (uint w = 0u; w < 16u; w += ROWS) {
      MATRIX(int, ROWS, COLUMNS, gl_MatrixUseAccumulator) sums =
          MATRIX(int, ROWS, COLUMNS, gl_MatrixUseAccumulator)(0);
      for (uint k = 0u; k < width; k += DEPTH) {
        const uint column = (i * width + k) / 4u;
        MATRIX(int8_t, ROWS, DEPTH, gl_MatrixUseA) a;
        MATRIX(int8_t, DEPTH, COLUMNS, gl_MatrixUseB) b;
        coopMatLoad(a, w_bytes[own], w * W_STRIDE + (IS_SPREAD ? 2u * column : column), W_STRIDE,
                    gl_CooperativeMatrixLayoutRowMajor);
        coopMatLoad(b, x_bytes[own], x * X_STRIDE + column, X_STRIDE,
                    gl_CooperativeMatrixLayoutColumnMajor);
        sums = coopMatMulAdd(a, b, sums);
      }
      coopMatStore(sums, products[own], x * 16u + w, 16u, gl_CooperativeMatrixLayoutColumnMajor);
    }
  }
}

/// Returns Σ q over 16 columns of a row of x.
int sum_of_16(uint r, uint i) {
  int sum = 0;
  [[unroll]] for (uint j = 0u; j < 4u; ++j)
    sum += dot_of_bytes(0x01010101, int(x_bytes[gl_SubgroupID][r * X_STRIDE + 4u * i + j]), 0);
  return sum;
}

void main() {
  const uint lane = gl_SubgroupInvocationID, own = gl_SubgroupID, first = gl_WorkGroupID.x * N;
  const uint head = gl_WorkGroupID.y / call.panels, x_behind = head * call.x_head_stride;
  const uint x_scales = call.x_scales_at + 4u * x_behind, x_sums = x_scales + call.blocks * call.tiles * 16u;
  float mine[W_COUNT][X_COUNT], pending[6][W_COUNT][X_COUNT];
  if (IS_SPREAD) {
    for (uint i = lane; i < 16u * W_STRIDE; i += SUBGROUP) w_bytes[own][i] = 0u;
  }
  for (uint s = 0u; s < PER_SUBGROUP; ++s) {
    for (uint w = 0u; w < W_COUNT; ++w) {
      for (uint x = 0u; x < X_COUNT; ++x) mine[w][x] = 0.0;
    }
    // All subgroups run the same number of iterations: some drivers synchronize them at each barrier.
    for (uint run = 0u; run < call.blocks; run += 32u) {
      const uint b = run + own * PER_SUBGROUP + s, block = gl_WorkGroupID.y * call.blocks + b;
      const bool is_there = b < call.blocks;
      vec4 scale[W_COUNT], minimum[W_COUNT];
      subgroupBarrier();  // the previous block may still be read
      if (is_there) {
        for (uint w = 0u; w < W_COUNT; ++w)
          load_scales(block, lane % WIDTH + WIDTH * w, scale[w], minimum[w]);
        stage(block, b, first, x_behind);
      }
      subgroupBarrier();
      [[unroll]] for (uint h = 0u; h < 2u; ++h) {
        float t[W_COUNT][X_COUNT];
        [[unroll]] for (uint k = 0u; k < 2u; ++k) {
          if (k > 0u && !ARE_OF_16) break;
          const uint i = ARE_OF_16 ? 2u * h + k : h;
          if (is_there) multiply(i);
          subgroupBarrier();
          for (uint w = 0u; w < W_COUNT && is_there; ++w) {
            for (uint x = 0u; x < X_COUNT; ++x) {
              const uint r = lane / WIDTH + HEIGHT * x, tile = b * call.tiles + (first + r) / 8u;
              const uint number = tile * 16u + (first + r) % 8u / 2u * 4u + h * 2u + (first + r) % 2u;
              const float product = float(products[own][r * 16u + lane % WIDTH + WIDTH * w]);
              float part = mul(scale[w][2u * h + k], product);
              if (k > 0u) part = add(t[w][x], part);
              int sum = 0;
              if (HAS_MINIMA) sum = ARE_OF_16 ? sum_of_16(r, i) : int(x_numbers[x_sums + number]);
              t[w][x] = less(part, minimum[w][2u * h + k], sum);
              if (k > 0u || !ARE_OF_16)
                mine[w][x] = add(mine[w][x], mul(x_numbers[x_scales + number], t[w][x]));
            }
          }
          subgroupBarrier();
        }
      }
    }
    // Add complete pairs of the tree.
    uint level = 0u;
    for (; (s >> level & 1u) != 0u; ++level) {
      for (uint w = 0u; w < W_COUNT; ++w) {
        for (uint x = 0u; x < X_COUNT; ++x) mine[w][x] = add(pending[level][w][x], mine[w][x]);
      }
    }
    for (uint w = 0u; w < W_COUNT; ++w) {
      for (uint x = 0u; x < X_COUNT; ++x) pending[level][w][x] = mine[w][x];
    }
  }
  for (uint w = 0u; w < W_COUNT; ++w) {
    for (uint x = 0u; x < X_COUNT; ++x)
      totals[own][(lane / WIDTH + HEIGHT * x) * 16u + lane % WIDTH + WIDTH * w] = mine[w][x];
  }
  barrier();
  for (uint e = gl_LocalInvocationIndex; e < 16u * N; e += SUBGROUP * SUBGROUPS) {
    float sums[SUBGROUPS];
    for (uint i = 0u; i < SUBGROUPS; ++i) sums[i] = totals[i][e];
    for (uint h = 1u; h < SUBGROUPS; h *= 2u) {
      for (uint i = 0u; i < SUBGROUPS; i += 2u * h) sums[i] = add(sums[i], sums[i + h]);
    }
    const uint r = first + e / 16u, column = gl_WorkGroupID.y % call.panels * 16u + e % 16u;
    // −0 becomes 0.
    if (r < call.n && column < call.rows)
      y[call.y_at + head * call.y_head_stride + r * call.y_stride + column] = add(sums[0], 0.0);
  }
}
