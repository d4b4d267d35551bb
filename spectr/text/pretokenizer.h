#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "spectr/text/pretokenizer_rules.h"

struct pcre2_real_code_8;

namespace spectr {

/// Cuts text into words by a rule. Safe to use from several threads at once.
class Pretokenizer {
 public:
  explicit Pretokenizer(const PretokenizerRule& rule);

  /// The words of a text, in order and without gaps: views of `text`, which may be any bytes. Bytes that are
  /// not UTF-8 count as characters that are neither letter, number, punctuation nor space.
  /// Cost: linear in the text.
  std::vector<std::string_view> split(std::string_view text) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::vector<std::unique_ptr<pcre2_real_code_8, Free>> regexes_;
};

}  // namespace spectr
