#include "apps/cli/text_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace spectr::cli {
namespace {

constexpr std::string_view plain = "\033[0m";

// Blue, orange and sky blue keep their distance for colour-blind eyes; corrections are underlined as well.
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

void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

TextPrinter::TextPrinter(const Tokenizer& tokenizer, std::vector<std::string> stop_words, Printing printing,
                         std::unique_ptr<ReasoningSplitter> splitter)
    : text_(tokenizer, std::move(stop_words)), printing_(printing), splitter_(std::move(splitter)) {}

void TextPrinter::show_prompt(std::string_view prompt) {
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

void TextPrinter::print_text(std::string_view more) {
  if (!splitter_) return put(more);
  const ReasoningSplitter::Parts parts = splitter_->push(more);
  parts_.print(parts.reasoning, parts.content);
}

void TextPrinter::print_until(std::size_t end) {
  if (printing_ == Printing::text && printed_ < end) {
    print_text(std::string_view(text()).substr(printed_, end - printed_));
  }
  if (printing_ == Printing::sources) {
    for (std::size_t begin = printed_; begin < end;) {
      std::size_t stop = begin + 1;
      while (stop < end && sources_[stop] == sources_[begin]) ++stop;
      put(colour(sources_[begin]));
      put(std::string_view(text()).substr(begin, stop - begin));
      put(plain);
      begin = stop;
    }
  }
  printed_ = std::max(printed_, end);
  if (printing_ != Printing::nothing) std::fflush(stdout);
}

std::optional<std::size_t> TextPrinter::add(std::span<const Token> tokens, std::span<const Source> sources) {
  std::size_t taken = 0;
  for (; taken < tokens.size() && !text_.stopped(); ++taken) {
    text_.push(tokens[taken]);
    sources_.resize(text().size(), sources[taken]);
  }
  print_until(text_.certain());
  return text_.stopped() ? std::optional(taken) : std::nullopt;
}

void TextPrinter::finish() {
  text_.finish();
  sources_.resize(text().size(), sources_.empty() ? Source::target : sources_.back());
  print_until(text().size());
  if (printing_ == Printing::text && splitter_) {
    const ReasoningSplitter::Parts parts = splitter_->finish();
    parts_.print(parts.reasoning, parts.content);
  }
  if (printing_ != Printing::nothing) put("\n");
}

}  // namespace spectr::cli
