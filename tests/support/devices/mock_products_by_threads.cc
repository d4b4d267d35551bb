// Product kernels for GPUs before Hopper, and kernels of experts for all GPUs.
#define SPECTR_MOCKED(image, Format, shapes)                     \
  SPECTR_SHAPES_BY_THREADS(SPECTR_PRODUCT_KERNEL, image, Format) \
  SPECTR_SHAPES_OF_EXPERTS(SPECTR_EXPERTS_KERNEL, image, Format)
#define SPECTR_MOCKED_IMAGE(image) #image "_ampere"
#include "tests/support/devices/mock_products.h"

namespace spectr::test {

void add_mock_products_by_threads(std::map<std::string, MockKernel>& all) {
  add_mocked(all);
}

}  // namespace spectr::test
