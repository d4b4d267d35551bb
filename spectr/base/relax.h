#pragma once

namespace spectr {

/// Pauses a spin loop for 40 to 140 cycles, leaving the core's resources to its other hardware threads.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace spectr
