#include "spectr/backend/cuda/kernel_image.h"

#if defined(SPECTR_HAS_KERNELS)
// Each file as it stands, with the zero that ends a string.
#define SPECTR_IMAGE(name, file)                                                                      \
  asm(".pushsection .rodata\n.local spectr_image_" #name "\nspectr_image_" #name ":\n.incbin \"" file \
      "\"\n.byte 0\n.popsection\n");                                                                  \
  extern "C" const char spectr_image_##name[];
#include "spectr/backend/cuda/images.inc"
#undef SPECTR_IMAGE
#endif

namespace spectr::cuda {

const char* kernel_image([[maybe_unused]] std::string_view name) {
#if defined(SPECTR_HAS_KERNELS)
#define SPECTR_IMAGE(image, file) \
  if (name == #image) return spectr_image_##image;
#include "spectr/backend/cuda/images.inc"
#undef SPECTR_IMAGE
#endif
  return nullptr;
}

}  // namespace spectr::cuda
