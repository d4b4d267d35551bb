#pragma once

namespace spectr::cli {

/// While it lives, the first interrupt from the keyboard (SIGINT) ends what is being written instead of the
/// program; a second one is handled as interrupts were before, which ends the program. Interrupts that are
/// ignored stay so. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool came() const;
};

/// Ends the program as an interrupt would have ended it, after what was still to be told.
[[noreturn]] void end_interrupted();

}  // namespace spectr::cli
