#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "spectr/text/pretokenizer_rules.h"

struct pcre2_real_code_8;

namespace spectr {

/// Splits text into words by a rule. Thread-safe.
class Pretokenizer {
 public:
  explicit Pretokenizer(const PretokenizerRule& rule);

  /// Returns the words of a text, in order and without gaps, as views of `text`, which may be any bytes.
  /// Bytes that are not UTF-8 count as characters other than letters, numbers, punctuation and spaces. Cost:
  /// linear in the text.
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::vector<std::unique_ptr<pcre2_real_code_8, Free>> regexes_;
};

}  // namespace spectr
