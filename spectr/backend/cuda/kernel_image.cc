#include "spectr/backend/cuda/kernel_image.h"

#include "spectr/backend/cuda/kernels/product_list.h"

#if defined(SPECTR_KERNEL_FOLDER)
// The files as they stand, each with the zero that ends a string.
#define SPECTR_IMAGE(name, type)                                                                            \
  asm(".pushsection .rodata\n.local spectr_image_" #name                                                    \
      "\n"                                                                                                  \
      "spectr_image_" #name ":\n.incbin \"" SPECTR_KERNEL_FOLDER "/" #name ".ptx\"\n.byte 0\n.popsection"); \
  extern "C" const char spectr_image_##name[];
SPECTR_IMAGE(others, Others)
SPECTR_PRODUCT_FORMATS(SPECTR_IMAGE)
#undef SPECTR_IMAGE
#endif

namespace spectr::cuda {

std::span<const KernelImage> kernel_images() {
#if defined(SPECTR_KERNEL_FOLDER)
#define SPECTR_IMAGE(name, type) {#name, spectr_image_##name},
  static const KernelImage images[] = {{"", spectr_image_others}, SPECTR_PRODUCT_FORMATS(SPECTR_IMAGE)};
#undef SPECTR_IMAGE
  return images;
#else
  return {};
#endif
}

}  // namespace spectr::cuda
