// A list of all kernels except those of product_list.cuh: SPECTR_KERNEL(name, parameters, threads, code…).
// The includer defines SPECTR_KERNEL, and may include this several times: kernels.cu generates the GPU
// kernels, tests run them on the CPU.

SPECTR_KERNEL(copy, Copy, 128, CopyKernel::run(p))
SPECTR_KERNEL(add, Add, 128, AddKernel::run(p))
SPECTR_KERNEL(scale, Scale, 128, ScaleKernel::run(p))
SPECTR_KERNEL(cap, Cap, 128, CapKernel::run(p))
SPECTR_KERNEL(gate, Gate, 128, GateKernel::run(p))
SPECTR_KERNEL(quantize, Quantize, 128, QuantizeKernel::run(p))
SPECTR_KERNEL(activate, Activate, 128, ActivateKernel::run(p))
SPECTR_KERNEL(move, Move, 128, MoveKernel::run(p))
SPECTR_KERNEL(norm_1, Norm, NormKernel<1>::threads, NormKernel<1>::run(p))
SPECTR_KERNEL(norm_2, Norm, NormKernel<2>::threads, NormKernel<2>::run(p))
SPECTR_KERNEL(norm_4, Norm, NormKernel<4>::threads, NormKernel<4>::run(p))
SPECTR_KERNEL(norm_16, Norm, NormKernel<16>::threads, NormKernel<16>::run(p))
SPECTR_KERNEL(head_norm, HeadNorm, HeadNormKernel::threads, HeadNormKernel::run(p))
SPECTR_KERNEL(float_product, FloatProduct, FloatProductKernel::threads, FloatProductKernel::run(p))
SPECTR_KERNEL(any_product_1, AnyProduct, AnyProductKernel<1>::threads, AnyProductKernel<1>::run(p))
SPECTR_KERNEL(any_product_4, AnyProduct, AnyProductKernel<4>::threads, AnyProductKernel<4>::run(p))
SPECTR_KERNEL(quantize_heads, QuantizeHeads, 128, QuantizeHeadsKernel::run(p))
SPECTR_KERNEL(head_products_1, HeadProducts, AnyProductKernel<1>::threads, HeadProductsKernel<1>::run(p))
SPECTR_KERNEL(head_products_4, HeadProducts, AnyProductKernel<4>::threads, HeadProductsKernel<4>::run(p))
SPECTR_KERNEL(float_head_products, FloatHeadProducts, FloatProductKernel::threads,
              FloatHeadProductsKernel::run(p))
SPECTR_KERNEL(choose_experts, ChooseExperts, ChooseExpertsKernel::threads, ChooseExpertsKernel::run(p))
SPECTR_KERNEL(group_experts, GroupExperts, GroupExpertsKernel::threads, GroupExpertsKernel::run(p))
SPECTR_KERNEL(expert_product_1, ExpertProduct, ExpertProductKernel<1>::threads,
              ExpertProductKernel<1>::run(p))
SPECTR_KERNEL(expert_product_4, ExpertProduct, ExpertProductKernel<4>::threads,
              ExpertProductKernel<4>::run(p))
SPECTR_KERNEL(expert_float_product, ExpertFloatProduct, ExpertFloatProductKernel::threads,
              ExpertFloatProductKernel::run(p))
SPECTR_KERNEL(add_chosen, AddChosen, 128, AddChosenKernel::run(p))
SPECTR_KERNEL(combine, Combine, 128, CombineKernel::run(p))
SPECTR_KERNEL(rotate, Rotate, RotateKernel::threads, RotateKernel::run(p))
SPECTR_KERNEL(store_inputs, StoreInputs, 128, StoreInputsKernel::run(p))
SPECTR_KERNEL(convolve, Convolve, 128, ConvolveKernel::run(p))
SPECTR_KERNEL(prepare_heads, PrepareHeads, PrepareHeadsKernel::threads, PrepareHeadsKernel::run(p))
SPECTR_KERNEL(multiply_keys, MultiplyKeys, MultiplyKeysKernel::threads, MultiplyKeysKernel::run(p))
SPECTR_KERNEL(recur, Recur, RecurKernel::threads, RecurKernel::run(p))
SPECTR_KERNEL(any_attend, AnyAttention, AnyAttendKernel::threads, AnyAttendKernel::run(p))
SPECTR_KERNEL(any_merge, AnyMerge, AnyMergeKernel::threads, AnyMergeKernel::run(p))
SPECTR_KERNEL(spread, Spread, 128, SpreadKernel::run(p))
SPECTR_KERNEL(extra_token_logits, ExtraTokenLogits, ExtraTokenLogitsKernel::threads,
              ExtraTokenLogitsKernel::run(p))
SPECTR_KERNEL(top, Top, TopKernel::threads, TopKernel::run(p))
SPECTR_KERNEL(sum_exp, SumExp, SumExpKernel::threads, SumExpKernel::run(p))

// Attention for some head sizes with bulk copies: from Hopper on.
#if !defined(SPECTR_BEFORE_HOPPER)
#define SPECTR_ATTEND(dim) \
  SPECTR_KERNEL(attend_##dim, Attention, (AttendKernel<dim, 4, 2>::threads), AttendKernel<dim, 4, 2>::run(p))
SPECTR_ATTEND(16)
SPECTR_ATTEND(32)
SPECTR_ATTEND(48)
SPECTR_ATTEND(64)
SPECTR_ATTEND(80)
SPECTR_ATTEND(96)
SPECTR_ATTEND(128)
SPECTR_ATTEND(256)
#undef SPECTR_ATTEND
#endif

#define SPECTR_MERGE(dim) \
  SPECTR_KERNEL(merge_##dim, Merge, MergeKernel<dim>::threads, MergeKernel<dim>::run(p))
SPECTR_MERGE(16)
SPECTR_MERGE(32)
SPECTR_MERGE(48)
SPECTR_MERGE(64)
SPECTR_MERGE(80)
SPECTR_MERGE(96)
SPECTR_MERGE(128)
SPECTR_MERGE(256)
#undef SPECTR_MERGE
