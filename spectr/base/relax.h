#pragma once

namespace spectr {

/// Between two looks at what another thread is to change: 40 to 140 cycles that leave the core to others.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace spectr
