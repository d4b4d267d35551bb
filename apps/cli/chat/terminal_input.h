#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>

namespace spectr::cli {

/// The keys typed on a terminal, byte by byte. While this lives, the terminal does not echo and passes every
/// byte on at once: nothing that is typed disturbs the output, and no line is too long for the system. The
/// keys that interrupt, quit and stop a program keep doing so. The terminal has its own settings again after
/// the destructor, after a signal that ends the program, and while the program is stopped. One at a time.
class TerminalInput {
 public:
  /// Null if standard input or standard error is no terminal, or if Emacs edits the lines (its shell mode).
  static std::unique_ptr<TerminalInput> open();
  ~TerminalInput();
  TerminalInput(const TerminalInput&) = delete;
  TerminalInput& operator=(const TerminalInput&) = delete;

  /// From now on an interrupt ends the program no more: it gives up a line or an answer, or nothing.
  void outlive_interrupts();

  /// What came instead of a byte: the window has another size, the program was stopped and goes on, or there
  /// will be no more input.
  enum class Event { resized, resumed, ended };

  /// Waits for the next byte or event.
  std::expected<std::uint8_t, Event> read();

  /// While it lives, the terminal puts marks around what is pasted (bracketed paste), if it can.
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
  std::size_t size_ = 0, read_ = 0;  // of bytes_
};

}  // namespace spectr::cli
