#pragma once

namespace spectr::cli {

/// During its lifetime, the first keyboard interrupt (SIGINT) ends the current completion instead of the
/// program; a second one is handled as before, which ends the program. Ignored interrupts stay ignored. At
/// most one instance may exist at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool came() const;
};

/// Flushes standard output and ends the program as an interrupt would have.
[[noreturn]] void end_interrupted();

}  // namespace spectr::cli
