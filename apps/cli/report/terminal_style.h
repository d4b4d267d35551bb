#pragma once

#include <string_view>

#include "spectr/base/os/terminal.h"

namespace spectr::cli {

/// Escape sequences that distinguish the parts of a conversation. Blue and orange are distinguishable for
/// colour-blind readers on light and dark backgrounds.
namespace style {
constexpr std::string_view user = "\033[38;5;33m", model = "\033[38;5;172m", dim = "\033[2m",
                           plain = "\033[0m";
}  // namespace style

/// Returns true if a stream is a terminal that supports escape sequences (TERM is not "dumb").
bool reads_escapes(StandardStream stream);
/// Returns true if, in addition, it may show colours: NO_COLOR is unset or empty.
bool has_colours(StandardStream stream);

/// The escape sequences around styled text; both are empty without colours.
struct Styled {
  std::string_view begin, end;

  Styled(std::string_view style, bool has_colours)
      : begin(has_colours ? style : ""), end(has_colours ? style::plain : "") {}
};

}  // namespace spectr::cli
