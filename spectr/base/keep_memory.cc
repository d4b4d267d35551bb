#include "spectr/base/keep_memory.h"

#include <cstdlib>  // says whether this is glibc

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace spectr {

void keep_freed_memory() {
#if defined(__GLIBC__)
  // Blocks of up to so many bytes are kept, and as many of them.
  constexpr int block = 32 << 20, kept = 512 << 20;
  mallopt(M_MMAP_THRESHOLD, block);
  mallopt(M_TRIM_THRESHOLD, kept);
#endif
}

}  // namespace spectr
