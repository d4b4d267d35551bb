#include "apps/cli/report/terminal_style.h"

#include <unistd.h>

#include <cstdlib>

namespace spectr::cli {

bool reads_escapes(int file) {
  const char* const terminal = std::getenv("TERM");
  return isatty(file) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

bool has_colours(int file) {
  const char* const refused = std::getenv("NO_COLOR");
  return reads_escapes(file) && (refused == nullptr || *refused == '\0');
}

}  // namespace spectr::cli
