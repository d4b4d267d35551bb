#include "apps/cli/reasoning_printer.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace spectr::cli {
namespace {

void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

ReasoningPrinter::ReasoningPrinter() : dims_(isatty(STDOUT_FILENO) == 1) {}

void ReasoningPrinter::print(std::string_view reasoning, std::string_view content) {
  const auto part = [this](std::string_view text, bool thinks) {
    if (text.empty()) return;
    const bool changes = std::exchange(thinks_, thinks) != thinks;
    if (std::exchange(any_, true) && changes) put("\n\n");
    const bool dims = dims_ && thinks;
    if (dims) put("\033[2m");
    put(text);
    if (dims) put("\033[0m");
  };
  part(reasoning, true);
  part(content, false);
  std::fflush(stdout);
}

}  // namespace spectr::cli
