// The kernels of products of one format, SPECTR_FORMAT, whose names begin with SPECTR_PRODUCT; or of all
// formats where none is given. See kernel_list.cuh.

// By tiles of x, and whether no segment has more than one block.
#define SPECTR_SHAPE(name, Format, warps, ...) \
  SPECTR_KERNEL(name, Product, 32 * warps, ProductKernel<Format, __VA_ARGS__>(p).run())
#define SPECTR_SHAPES(name, Format)                                    \
  SPECTR_SHAPE(name##_1_short, Format, 4, Shaped<1, 1, 4, 32, true>)   \
  SPECTR_SHAPE(name##_2_short, Format, 8, Shaped<2, 1, 8, 32, true>)   \
  SPECTR_SHAPE(name##_4_short, Format, 8, Shaped<2, 2, 8, 32, true>)   \
  SPECTR_SHAPE(name##_8_short, Format, 16, Shaped<2, 4, 16, 32, true>) \
  SPECTR_SHAPE(name##_1_long, Format, 4, Shaped<1, 1, 4, 32, false>)   \
  SPECTR_SHAPE(name##_2_long, Format, 8, Shaped<2, 1, 8, 32, false>)   \
  SPECTR_SHAPE(name##_4_long, Format, 8, Shaped<2, 2, 8, 32, false>)
#define SPECTR_PRODUCTS(name, Format) SPECTR_SHAPES(name, Format)
#if defined(SPECTR_FORMAT)
SPECTR_PRODUCTS(SPECTR_PRODUCT, SPECTR_FORMAT)
#else
SPECTR_PRODUCTS(product_q8_0, Q8_0)
SPECTR_PRODUCTS(product_q4_0, Q4_0)
SPECTR_PRODUCTS(product_q5_0, Q5_0)
SPECTR_PRODUCTS(product_q4_1, Q4_1)
SPECTR_PRODUCTS(product_q5_1, Q5_1)
SPECTR_PRODUCTS(product_q2_k, Q2_K)
SPECTR_PRODUCTS(product_q3_k, Q3_K)
SPECTR_PRODUCTS(product_q4_k, Q4_K)
SPECTR_PRODUCTS(product_q5_k, Q5_K)
SPECTR_PRODUCTS(product_q6_k, Q6_K)
SPECTR_PRODUCTS(product_iq3_xxs, IQ3_XXS)
SPECTR_PRODUCTS(product_iq4_nl, IQ4_NL)
SPECTR_PRODUCTS(product_tq1_0, TQ1_0)
SPECTR_PRODUCTS(product_mxfp4, MXFP4)
#endif
#undef SPECTR_PRODUCTS
#undef SPECTR_SHAPES
#undef SPECTR_SHAPE
