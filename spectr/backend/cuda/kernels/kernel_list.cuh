// Every kernel by its name: SPECTR_KERNEL(name, parameters, threads, code…). Whoever includes this says what
// that is, more than once if need be: kernels.cu makes them a GPU's, tests run them on the processor.

SPECTR_KERNEL(copy, Copy, 128, CopyKernel::run(p))
SPECTR_KERNEL(add, Add, 128, AddKernel::run(p))
SPECTR_KERNEL(scale, Scale, 128, ScaleKernel::run(p))
SPECTR_KERNEL(cap, Cap, 128, CapKernel::run(p))
SPECTR_KERNEL(gate, Gate, 128, GateKernel::run(p))
SPECTR_KERNEL(quantize, Quantize, 128, QuantizeKernel::run(p))
SPECTR_KERNEL(activate, Activate, 128, ActivateKernel::run(p))
SPECTR_KERNEL(move, Move, 128, MoveKernel::run(p))
SPECTR_KERNEL(norm, Norm, NormKernel::threads, NormKernel::run(p))
SPECTR_KERNEL(float_product, FloatProduct, FloatProductKernel::threads, FloatProductKernel::run(p))
SPECTR_KERNEL(any_product, AnyProduct, AnyProductKernel::threads, AnyProductKernel::run(p))
SPECTR_KERNEL(rotate, Rotate, RotateKernel::threads, RotateKernel::run(p))
SPECTR_KERNEL(spread, Spread, 128, SpreadKernel::run(p))
SPECTR_KERNEL(word_logits, WordLogits, WordLogitsKernel::threads, WordLogitsKernel::run(p))
SPECTR_KERNEL(top, Top, TopKernel::threads, TopKernel::run(p))
SPECTR_KERNEL(sum_exp, SumExp, SumExpKernel::threads, SumExpKernel::run(p))

#define SPECTR_HEADS(dim)                                                    \
  SPECTR_KERNEL(attend_##dim, Attention, (AttendKernel<dim, 4, 2>::threads), \
                AttendKernel<dim, 4, 2>::run(p))                             \
  SPECTR_KERNEL(merge_##dim, Merge, MergeKernel<dim>::threads, MergeKernel<dim>::run(p))
SPECTR_HEADS(16)
SPECTR_HEADS(32)
SPECTR_HEADS(48)
SPECTR_HEADS(64)
SPECTR_HEADS(80)
SPECTR_HEADS(96)
SPECTR_HEADS(128)
SPECTR_HEADS(256)
#undef SPECTR_HEADS

// By format, tiles of x, and whether no segment has more than one block.
#define SPECTR_PRODUCT(name, Format, warps, ...) \
  SPECTR_KERNEL(name, Product, 32 * warps, ProductKernel<Format, __VA_ARGS__>(p).run())
#define SPECTR_PRODUCTS(name, Format)                                    \
  SPECTR_PRODUCT(name##_1_short, Format, 4, Shaped<1, 1, 4, 32, true>)   \
  SPECTR_PRODUCT(name##_2_short, Format, 8, Shaped<2, 1, 8, 32, true>)   \
  SPECTR_PRODUCT(name##_4_short, Format, 8, Shaped<2, 2, 8, 32, true>)   \
  SPECTR_PRODUCT(name##_8_short, Format, 16, Shaped<2, 4, 16, 32, true>) \
  SPECTR_PRODUCT(name##_1_long, Format, 4, Shaped<1, 1, 4, 32, false>)   \
  SPECTR_PRODUCT(name##_2_long, Format, 8, Shaped<2, 1, 8, 32, false>)   \
  SPECTR_PRODUCT(name##_4_long, Format, 8, Shaped<2, 2, 8, 32, false>)
SPECTR_PRODUCTS(product_q8_0, Q8_0)
SPECTR_PRODUCTS(product_q4_0, Q4_0)
SPECTR_PRODUCTS(product_q5_0, Q5_0)
SPECTR_PRODUCTS(product_q4_k, Q4_K)
SPECTR_PRODUCTS(product_q5_k, Q5_K)
SPECTR_PRODUCTS(product_q6_k, Q6_K)
#undef SPECTR_PRODUCTS
#undef SPECTR_PRODUCT
