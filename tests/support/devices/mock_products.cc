// Product kernels for GPUs from Hopper on.
#define SPECTR_MOCKED(image, Format, shapes) SPECTR_SHAPES_##shapes(SPECTR_PRODUCT_KERNEL, image, Format)
#define SPECTR_MOCKED_IMAGE(image) #image
#include "tests/support/devices/mock_products.h"

namespace spectr::test {

void add_mock_products(std::map<std::string, MockKernel>& all) {
  add_mocked(all);
}

}  // namespace spectr::test
