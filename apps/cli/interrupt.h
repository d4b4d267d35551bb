#pragma once

#include <csignal>

namespace spectr::cli {

/// While it lives, the first interrupt from the keyboard (SIGINT) ends what is being written instead of the
/// program; a second one ends the program. Where interrupts are ignored, they stay so. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool came() const;

 private:
  struct sigaction before_{};
};

/// Ends the program as an interrupt would have ended it, after what was still to be told.
[[noreturn]] void end_interrupted();

}  // namespace spectr::cli
