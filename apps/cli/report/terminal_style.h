#pragma once

#include <string_view>

namespace spectr::cli {

/// Escape sequences with which a conversation tells its parts apart on a terminal. Blue and orange keep their
/// distance for colour-blind eyes, on light and on dark backgrounds.
namespace style {
constexpr std::string_view user = "\033[38;5;33m", model = "\033[38;5;172m", dim = "\033[2m",
                           plain = "\033[0m";
}  // namespace style

/// Whether a file descriptor is a terminal that reads escape sequences: TERM is not "dumb".
bool reads_escapes(int file);
/// Whether it is one that may show colours: NO_COLOR is unset or empty, too.
bool has_colours(int file);

/// Text between a style and `plain`, or the text alone if it is to have no colours.
struct Styled {
  std::string_view begin, end;

  Styled(std::string_view style, bool has_colours)
      : begin(has_colours ? style : ""), end(has_colours ? style::plain : "") {}
};

}  // namespace spectr::cli
