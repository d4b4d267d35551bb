#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>

namespace spectr::cli {

/// Reads keys from a terminal byte by byte. During its lifetime, the terminal neither echoes nor buffers
/// lines, so typing does not disturb the output and line length is unlimited. Keys that interrupt, quit or
/// suspend a program still do so. The destructor, fatal signals and suspension restore the terminal's
/// settings. At most one instance may exist at a time.
class TerminalInput {
 public:
  /// Returns null if standard input or error is not a terminal, or if Emacs edits the lines (shell mode).
  static std::unique_ptr<TerminalInput> open();
  ~TerminalInput();
  TerminalInput(const TerminalInput&) = delete;
  TerminalInput& operator=(const TerminalInput&) = delete;

  /// From now on, an interrupt does not end the program; it cancels a line or an answer, if there is one.
  void outlive_interrupts();

  /// Event that read() returns instead of a byte: the window was resized, the program was resumed after a
  /// suspension, or the input has ended.
  enum class Event { resized, resumed, ended };

  /// Waits for the next byte or event.
  std::expected<std::uint8_t, Event> read();

  /// Enables bracketed paste for its lifetime, if the terminal supports it.
  class PasteMarks {
   public:
    PasteMarks();
    ~PasteMarks();
    PasteMarks(const PasteMarks&) = delete;
    PasteMarks& operator=(const PasteMarks&) = delete;
  };

 private:
  TerminalInput() = default;

  std::array<std::uint8_t, 4096> bytes_{};
  std::size_t size_ = 0, read_ = 0;  // size and read position of bytes_
};

}  // namespace spectr::cli
