#pragma once

#include <expected>
#include <iosfwd>
#include <string>
#include <string_view>

namespace spectr::cli {

/// Sequences that a terminal sends before and after pasted text (bracketed paste, as xterm defines it).
inline constexpr std::string_view paste_begin = "\033[200~", paste_end = "\033[201~";

/// A typed line without its line break.
struct TypedLine {
  std::string text;
  bool is_pasted = false;  ///< begins with a paste or has several lines: it is no command
};

/// Reason for a missing line: the input has ended, or the user has cancelled the message.
enum class NoLine { ended, given_up };

/// The source of a conversation's lines.
class LineSource {
 public:
  virtual ~LineSource() = default;

  /// Reads the next line. `goes_on`: it continues a message.
  virtual std::expected<TypedLine, NoLine> next(bool goes_on) = 0;
  /// Adds a line to the history for recall.
  virtual void remember(const std::string& line) = 0;
};

/// Reads lines from a stream. A trailing carriage return is dropped. Text between the marks of a bracketed
/// paste is one line.
class StreamLines : public LineSource {
 public:
  explicit StreamLines(std::istream& in) : in_(in) {}

  std::expected<TypedLine, NoLine> next(bool goes_on) override;
  void remember(const std::string&) override {}

 private:
  bool read(std::string& line);

  std::istream& in_;
};

}  // namespace spectr::cli
