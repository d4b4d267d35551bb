#pragma once

// Includes all kernels named in kernel_list.cuh and product_list.cuh.

#include "spectr/backend/cuda/kernels/any_attention.cuh"
#include "spectr/backend/cuda/kernels/attention.cuh"
#include "spectr/backend/cuda/kernels/elementwise.cuh"
#include "spectr/backend/cuda/kernels/expert_choice.cuh"
#include "spectr/backend/cuda/kernels/expert_product.cuh"
#include "spectr/backend/cuda/kernels/float_product.cuh"
#include "spectr/backend/cuda/kernels/head_products.cuh"
#include "spectr/backend/cuda/kernels/norm.cuh"
#include "spectr/backend/cuda/kernels/questions.cuh"
#include "spectr/backend/cuda/kernels/rotate.cuh"
#include "spectr/backend/cuda/kernels/shortlist.cuh"
#include "spectr/backend/cuda/kernels/states.cuh"
#include "spectr/backend/cuda/kernels/streamed_experts.cuh"
