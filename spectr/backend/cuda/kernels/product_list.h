#pragma once

// The kernels of products: one for each format and shape, named
// product_FORMAT_TILES_SHARERS_WARPS_SEGMENTS_RUN.

/// SHAPE(tiles, sharers, warps, segments, length, …) for every ProductShape that there are kernels of: of up
/// to 8 rows of x, 16, 32 and 64, `short_run` for matrices of at most 2048 columns, `long_run` for others.
#define SPECTR_SHAPES(SHAPE, ...)             \
  SHAPE(1, 1, 4, 8, short_run, __VA_ARGS__)   \
  SHAPE(1, 1, 4, 16, short_run, __VA_ARGS__)  \
  SHAPE(1, 1, 4, 32, short_run, __VA_ARGS__)  \
  SHAPE(1, 1, 8, 16, short_run, __VA_ARGS__)  \
  SHAPE(1, 1, 8, 32, short_run, __VA_ARGS__)  \
  SHAPE(2, 1, 8, 8, short_run, __VA_ARGS__)   \
  SHAPE(2, 1, 8, 32, short_run, __VA_ARGS__)  \
  SHAPE(1, 2, 8, 8, short_run, __VA_ARGS__)   \
  SHAPE(2, 2, 8, 8, short_run, __VA_ARGS__)   \
  SHAPE(2, 2, 8, 32, short_run, __VA_ARGS__)  \
  SHAPE(2, 4, 16, 8, short_run, __VA_ARGS__)  \
  SHAPE(2, 4, 16, 32, short_run, __VA_ARGS__) \
  SHAPE(1, 1, 4, 8, long_run, __VA_ARGS__)    \
  SHAPE(1, 1, 4, 16, long_run, __VA_ARGS__)   \
  SHAPE(1, 1, 4, 32, long_run, __VA_ARGS__)   \
  SHAPE(1, 1, 8, 8, long_run, __VA_ARGS__)    \
  SHAPE(1, 1, 8, 16, long_run, __VA_ARGS__)   \
  SHAPE(1, 1, 8, 32, long_run, __VA_ARGS__)   \
  SHAPE(2, 1, 8, 8, long_run, __VA_ARGS__)    \
  SHAPE(2, 1, 8, 32, long_run, __VA_ARGS__)   \
  SHAPE(1, 2, 8, 8, long_run, __VA_ARGS__)    \
  SHAPE(2, 2, 8, 8, long_run, __VA_ARGS__)    \
  SHAPE(2, 2, 8, 32, long_run, __VA_ARGS__)   \
  SHAPE(2, 4, 16, 8, long_run, __VA_ARGS__)

/// FORMAT(name, type) for every format that there are kernels of (formats.cuh).
#define SPECTR_PRODUCT_FORMATS(FORMAT) \
  FORMAT(q8_0, Q8_0)                   \
  FORMAT(q4_0, Q4_0)                   \
  FORMAT(q5_0, Q5_0)                   \
  FORMAT(q4_k, Q4_K)                   \
  FORMAT(q5_k, Q5_K)                   \
  FORMAT(q6_k, Q6_K)

namespace spectr::cuda {
inline constexpr bool short_run = true, long_run = false;
}

/// SPECTR_KERNEL (kernel_list.cuh) for every shape of a format.
#define SPECTR_PRODUCTS(name, Format) SPECTR_SHAPES(SPECTR_PRODUCT, name, Format)
#define SPECTR_PRODUCT(tiles, sharers, warps, segments, length, name, Format)                                \
  SPECTR_KERNEL(product_##name##_##tiles##_##sharers##_##warps##_##segments##_##length, Product, 32 * warps, \
                ProductKernel<Format, Shaped<tiles, sharers, warps, segments, length>>(p).run())
