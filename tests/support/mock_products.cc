// Those of GPUs from Hopper on.
#define SPECTR_MOCKED(image, Format, shapes) SPECTR_SHAPES_##shapes(SPECTR_PRODUCT_KERNEL, image, Format)
#define SPECTR_MOCKED_IMAGE(image) #image
#define SPECTR_ADD_MOCKED add_mock_products
#include "tests/support/mock_products.h"
