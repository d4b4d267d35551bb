#include "spectr/nn/extra_token_tracker.h"

#include <algorithm>

#include "spectr/nn/weights.h"

namespace spectr {

ExtraTokenTracker::ExtraTokenTracker(const Gguf& file, const ModelSpec& spec) : file_(file), spec_(spec) {}

const ExtraTokens* ExtraTokenTracker::read(std::span<const Token> sequence) {
  const std::vector<Token>& shortlist = spec_.head.shortlist;
  if (shortlist.empty()) return nullptr;
  const bool has_rows = !spec_.weight(spec_.head.output.weight).chosen.empty();
  for (; has_rows && read_ < sequence.size(); ++read_) {
    const Token token = sequence[read_];
    if (std::ranges::binary_search(shortlist, token)) continue;
    if (std::ranges::find(extra_.tokens, token) != extra_.tokens.end()) continue;
    since_.reserve(since_.size() + 1);
    add(token);
    since_.push_back(read_);
  }
  return &extra_;
}

/// Appends the token, its row of the head's matrix and its bias.
void ExtraTokenTracker::add(Token token) {
  const auto at = static_cast<std::size_t>(token);
  const LinearSpec& output = spec_.head.output;
  const std::size_t numbers = extra_.tokens.size() * output.in;
  extra_.rows.resize(numbers + output.in);
  const auto row = std::span(extra_.rows).subspan(numbers);
  read_numbers(*file_.tensor(spec_.weight(output.weight).name), at, row);
  for (float& number : row) number *= output.scale;
  if (output.bias) {
    extra_.biases.resize(extra_.tokens.size() + 1);
    read_numbers(*file_.tensor(spec_.weight(*output.bias).name), at, std::span(extra_.biases).last(1));
  }
  extra_.tokens.push_back(token);
}

void ExtraTokenTracker::rewind(std::size_t length) {
  read_ = std::min(read_, length);
  while (!since_.empty() && since_.back() >= length) {
    since_.pop_back();
    extra_.tokens.pop_back();
  }
  extra_.rows.resize(extra_.tokens.size() * spec_.head.output.in);
  if (!extra_.biases.empty()) extra_.biases.resize(extra_.tokens.size());
}

}  // namespace spectr
