#include "apps/cli/report/terminal_style.h"

#include <cstdlib>

namespace spectr::cli {

bool reads_escapes(StandardStream stream) {
  const char* const terminal = std::getenv("TERM");
  return is_terminal(stream) && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

bool has_colours(StandardStream stream) {
  const char* const refused = std::getenv("NO_COLOR");
  return reads_escapes(stream) && (refused == nullptr || *refused == '\0');
}

}  // namespace spectr::cli
