// The formats with tuned product kernels: SPECTR_PRODUCTS(name, Format, shapes), one per line, where `shapes`
// selects a list of shape_list.h. Formats with the same panel layout share kernels. The includer defines
// SPECTR_PRODUCTS, and may include this several times. cmake/CudaKernels.cmake parses it, because each line
// becomes a separate image.

SPECTR_PRODUCTS(product_q8_0, Q8_0, ALL)
SPECTR_PRODUCTS(product_q4_0, Q4_0, ALL)
SPECTR_PRODUCTS(product_q4_k, Q4_K, ALL)
SPECTR_PRODUCTS(product_q6_k, Q6_K, ALL)
SPECTR_PRODUCTS(product_q5_0, Q5_0, SOME)
SPECTR_PRODUCTS(product_q4_1, Q4_1, SOME)
SPECTR_PRODUCTS(product_q5_1, Q5_1, SOME)
SPECTR_PRODUCTS(product_q2_k, Q2_K, SOME)
SPECTR_PRODUCTS(product_q3_k, Q3_K, SOME)
SPECTR_PRODUCTS(product_q5_k, Q5_K, SOME)
SPECTR_PRODUCTS(product_iq3_xxs, IQ3_XXS, SOME)
SPECTR_PRODUCTS(product_iq4_nl, IQ4_NL, SOME)
SPECTR_PRODUCTS(product_tq1_0, TQ1_0, SOME)
SPECTR_PRODUCTS(product_mxfp4, MXFP4, SOME)
