#include "spectr/backend/cuda/kernel_image.h"

#if defined(SPECTR_KERNEL_IMAGE)
// The file as it stands, with the zero that ends a string.
asm(R"(
.pushsection .rodata
.local spectr_kernel_image
spectr_kernel_image:
.incbin ")" SPECTR_KERNEL_IMAGE R"("
.byte 0
.popsection
)");
extern "C" const char spectr_kernel_image[];
#endif

namespace spectr::cuda {

const char* kernel_image() {
#if defined(SPECTR_KERNEL_IMAGE)
  return spectr_kernel_image;
#else
  return nullptr;
#endif
}

}  // namespace spectr::cuda
