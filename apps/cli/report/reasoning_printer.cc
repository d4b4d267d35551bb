#include "apps/cli/report/reasoning_printer.h"

#include <cstdio>
#include <utility>

#include "apps/cli/report/output.h"
#include "apps/cli/report/terminal_style.h"

namespace spectr::cli {
ReasoningPrinter::ReasoningPrinter(std::string_view style)
    : style_(style), dims_(has_colours(StandardStream::output)) {}

void ReasoningPrinter::print(std::string_view reasoning, std::string_view content) {
  const auto part = [this](std::string_view text, bool thinks) {
    if (text.empty()) return;
    const bool changes = std::exchange(thinks_, thinks) != thinks;
    if (std::exchange(any_, true) && changes) put("\n\n");
    const std::string_view style = !thinks ? style_ : dims_ ? style::dim : "";
    put(style);
    put(text);
    if (!style.empty()) put(style::plain);
  };
  part(reasoning, true);
  part(content, false);
  std::fflush(stdout);
}

}  // namespace spectr::cli
