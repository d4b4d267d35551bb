#pragma once

// The shapes of product kernels, for up to 8, 16, 32 and 64 rows of x: SHAPE(tiles, sharers, warps, segments,
// columns, …); see ProductShape.

/// Shapes that stream x, for any number of columns: with bulk copies, or with copies by threads.
#define SPECTR_SHAPES_STREAMED(columns, SHAPE, ...) \
  SHAPE(1, 1, 4, 8, columns, __VA_ARGS__)           \
  SHAPE(1, 1, 4, 32, columns, __VA_ARGS__)          \
  SHAPE(2, 1, 4, 8, columns, __VA_ARGS__)           \
  SHAPE(2, 1, 4, 32, columns, __VA_ARGS__)          \
  SHAPE(2, 2, 8, 8, columns, __VA_ARGS__)           \
  SHAPE(2, 2, 8, 32, columns, __VA_ARGS__)          \
  SHAPE(2, 4, 8, 8, columns, __VA_ARGS__)           \
  SHAPE(2, 4, 8, 32, columns, __VA_ARGS__)          \
  SHAPE(2, 4, 16, 32, columns, __VA_ARGS__)

/// Shapes of every format on GPUs before Hopper.
#define SPECTR_SHAPES_BY_THREADS(SHAPE, ...) SPECTR_SHAPES_STREAMED(streamed_by_threads, SHAPE, __VA_ARGS__)

/// Shapes of every format from Hopper on.
#define SPECTR_SHAPES_SOME(SHAPE, ...)                 \
  SPECTR_SHAPES_STREAMED(streamed, SHAPE, __VA_ARGS__) \
  SHAPE(1, 1, 4, 8, short_run, __VA_ARGS__)            \
  SHAPE(1, 1, 4, 32, short_run, __VA_ARGS__)           \
  SHAPE(2, 1, 8, 32, short_run, __VA_ARGS__)           \
  SHAPE(2, 2, 8, 32, short_run, __VA_ARGS__)           \
  SHAPE(2, 4, 16, 32, short_run, __VA_ARGS__)          \
  SHAPE(1, 1, 4, 8, long_run, __VA_ARGS__)             \
  SHAPE(1, 1, 4, 32, long_run, __VA_ARGS__)            \
  SHAPE(2, 1, 8, 8, long_run, __VA_ARGS__)             \
  SHAPE(2, 1, 8, 32, long_run, __VA_ARGS__)            \
  SHAPE(2, 2, 8, 8, long_run, __VA_ARGS__)             \
  SHAPE(2, 2, 8, 32, long_run, __VA_ARGS__)            \
  SHAPE(2, 4, 16, 8, long_run, __VA_ARGS__)

/// Shapes of the most common formats: includes those for short rows of matrices of few or many rows.
#define SPECTR_SHAPES_ALL(SHAPE, ...)        \
  SPECTR_SHAPES_SOME(SHAPE, __VA_ARGS__)     \
  SHAPE(1, 1, 8, 16, short_run, __VA_ARGS__) \
  SHAPE(1, 1, 8, 32, short_run, __VA_ARGS__) \
  SHAPE(2, 1, 8, 8, short_run, __VA_ARGS__)  \
  SHAPE(2, 2, 8, 8, short_run, __VA_ARGS__)  \
  SHAPE(2, 4, 16, 8, short_run, __VA_ARGS__) \
  SHAPE(1, 1, 8, 16, long_run, __VA_ARGS__)  \
  SHAPE(1, 1, 8, 32, long_run, __VA_ARGS__)

/// Shapes of expert products with several slots per expert: up to 8 or 32 slots at a time.
#define SPECTR_SHAPES_OF_EXPERTS(SHAPE, ...)           \
  SHAPE(1, 1, 4, 32, streamed_by_threads, __VA_ARGS__) \
  SHAPE(2, 2, 8, 32, streamed_by_threads, __VA_ARGS__)

/// Defines the kernel of a format's product for a shape, e.g. product_q8_0_1_1_4_8_short_run.
#define SPECTR_PRODUCT_KERNEL(tiles, sharers, warps, segments, columns, name, Format)       \
  SPECTR_KERNEL(                                                                            \
      name##_##tiles##_##sharers##_##warps##_##segments##_##columns, Product, 32 * (warps), \
      ProductKernelOf<Format, Shaped<tiles, sharers, warps, segments, Columns::columns>>::Kernel(p).run())

/// Defines the kernel of a format's expert product, e.g. product_q8_0_1_1_4_32_of_experts.
#define SPECTR_EXPERTS_KERNEL(tiles, sharers, warps, segments, columns, name, Format)              \
  SPECTR_KERNEL(                                                                                   \
      name##_##tiles##_##sharers##_##warps##_##segments##_of_experts, ExpertProduct, 32 * (warps), \
      StreamedExpertsKernel<Format, Shaped<tiles, sharers, warps, segments, Columns::columns>>::run(p))
