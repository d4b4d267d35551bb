#pragma once

#include <expected>
#include <iosfwd>
#include <string>
#include <string_view>

namespace spectr::cli {

/// What a terminal sends before and after pasted text (bracketed paste, as xterm defines it).
inline constexpr std::string_view paste_begin = "\033[200~", paste_end = "\033[201~";

/// A line of a conversation as it was typed, without its end.
struct TypedLine {
  std::string text;
  bool is_pasted = false;  ///< from its first character on, or in several lines: it is no command
};

/// Why there is no line: the input has ended, or the user gave the message up.
enum class NoLine { ended, given_up };

/// The lines that a conversation consists of.
class LineSource {
 public:
  virtual ~LineSource() = default;

  /// The next line. `goes_on`: it continues a message.
  virtual std::expected<TypedLine, NoLine> next(bool goes_on) = 0;
  /// Offers a line for being typed again.
  virtual void remember(const std::string& line) = 0;
};

/// Lines of a stream. A carriage return at the end of a line is not part of it, and everything between the
/// marks of a bracketed paste is one line.
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
