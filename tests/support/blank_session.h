#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "spectr/lm/language_model.h"

namespace spectr::test {

/// A session without a model: it computes nothing and only tracks the length of its sequence.
class BlankSession : public Session {
 public:
  static constexpr std::size_t words = 4, longest = 100'000;

  Result<void> score(std::span<const Token> text, const TokenTree&) override {
    length_ = text.size();
    return {};
  }
  Logits logits(NodeId) const override { return Logits(std::span(row_)); }
  void keep(std::span<const NodeId>) override {}
  void rewind(std::size_t length) override { length_ = std::min(length, length_); }
  std::string_view name() const override { return "blank"; }
  std::size_t length() const override { return length_; }
  std::size_t vocabulary() const override { return words; }
  std::size_t context() const override { return longest; }

  /// Appends this number of tokens to the sequence.
  void advance(std::size_t tokens) { length_ += tokens; }

 private:
  std::vector<float> row_ = std::vector<float>(words);
  std::size_t length_ = 0;
};

}  // namespace spectr::test
