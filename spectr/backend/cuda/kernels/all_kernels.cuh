#pragma once

// What kernel_list.cuh names.

#include "spectr/backend/cuda/kernels/any_product.cuh"
#include "spectr/backend/cuda/kernels/attention.cuh"
#include "spectr/backend/cuda/kernels/elementwise.cuh"
#include "spectr/backend/cuda/kernels/float_product.cuh"
#include "spectr/backend/cuda/kernels/norm.cuh"
#include "spectr/backend/cuda/kernels/product.cuh"
#include "spectr/backend/cuda/kernels/questions.cuh"
#include "spectr/backend/cuda/kernels/rotate.cuh"
#include "spectr/backend/cuda/kernels/shortlist.cuh"
