#pragma once

// The kernels of products, to run on fibers. They are split into two files because each takes minutes to
// compile. The including file defines SPECTR_MOCKED(image, Format, shapes), the kernels of a line of
// product_list.cuh, and SPECTR_MOCKED_IMAGE(image), the name of their image.

#include "tests/support/devices/fibers.h"
// fibers.h must come first: the kernels included below run on fibers.
#include "spectr/backend/cuda/kernels/all_kernels.cuh"
#include "spectr/backend/cuda/kernels/shape_list.h"
#include "tests/support/devices/mock_kernels.h"

namespace spectr::test {
namespace {

using namespace cuda;  // NOLINT(google-build-using-namespace): the kernels' namespace

#define SPECTR_KERNEL SPECTR_RUN_KERNEL
#define SPECTR_PRODUCTS(image, Format, shapes) SPECTR_MOCKED(image, Format, shapes)
#include "spectr/backend/cuda/kernels/product_list.cuh"
#undef SPECTR_PRODUCTS
#undef SPECTR_KERNEL

void add_mocked(std::map<std::string, MockKernel>& all) {
  std::string of;
#define SPECTR_KERNEL SPECTR_LIST_KERNEL
#define SPECTR_PRODUCTS(image, Format, shapes) \
  of = SPECTR_MOCKED_IMAGE(image);             \
  SPECTR_MOCKED(image, Format, shapes)
#include "spectr/backend/cuda/kernels/product_list.cuh"
#undef SPECTR_PRODUCTS
#undef SPECTR_KERNEL
}

}  // namespace
}  // namespace spectr::test
