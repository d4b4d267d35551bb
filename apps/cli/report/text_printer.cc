#include "apps/cli/report/text_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "apps/cli/report/output.h"

namespace spectr::cli {
namespace {

constexpr std::string_view plain = "\033[0m";

// Blue, orange and sky blue are distinguishable for colour-blind readers; corrections are also underlined.
std::string_view colour(Source source) {
  switch (source) {
    case Source::draft:
      return "\033[38;5;33m";
    case Source::correction:
      return "\033[4;38;5;208m";
    case Source::bonus:
      return "\033[1;38;5;117m";
    case Source::target:
      return plain;
  }
  return plain;
}

}  // namespace

void TextPrinter::print_prompt(std::string_view prompt) {
  if (printing_ == Printing::nothing) return;
  if (printing_ == Printing::sources) {
    for (Source source : {Source::draft, Source::correction, Source::bonus}) {
      put(colour(source));
      put(name(source));
      put(plain);
      put("  ");
    }
    put("(accepted drafts, corrections after a rejection, bonus tokens; the rest is the target's)\n\n");
  }
  put(prompt);
  std::fflush(stdout);
}

/// Prints runs of bytes that have the same source.
void TextPrinter::print_coloured(const TextDelta& delta) {
  for (const TokenReport& token : delta.tokens) {
    if (token.end > printed_) sources_.resize(token.end - printed_, token.source);
  }
  sources_.resize(std::max(sources_.size(), delta.text.size()),
                  sources_.empty() ? Source::target : sources_.back());
  const std::string_view text = delta.text;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin + 1;
    while (end < text.size() && sources_[end] == sources_[begin]) ++end;
    put(colour(sources_[begin]));
    put(text.substr(begin, end - begin));
    put(plain);
    begin = end;
  }
  sources_.erase(sources_.begin(), sources_.begin() + static_cast<std::ptrdiff_t>(text.size()));
  printed_ += text.size();
}

void TextPrinter::print(const TextDelta& delta) {
  if (printing_ == Printing::nothing) return;
  if (printing_ == Printing::text) {
    parts_.print(delta.reasoning, delta.text);
  } else {
    print_coloured(delta);
  }
  std::fflush(stdout);
}

void TextPrinter::finish() {
  if (printing_ != Printing::nothing) put("\n");
}

}  // namespace spectr::cli
