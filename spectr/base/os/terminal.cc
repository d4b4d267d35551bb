#include "spectr/base/os/terminal.h"

#include <unistd.h>

#include <array>
#include <cstddef>

namespace spectr {

bool is_terminal(StandardStream stream) {
  constexpr std::array files = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  return ::isatty(files[static_cast<std::size_t>(stream)]) == 1;
}

void write_to_stderr(std::string_view text) noexcept {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace spectr
