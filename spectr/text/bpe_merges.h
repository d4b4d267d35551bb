#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spectr/base/hash.h"
#include "spectr/base/result.h"
#include "spectr/gguf/gguf.h"
#include "spectr/text/merge_pairs.h"
#include "spectr/text/vocabulary.h"

namespace spectr {

/// The list of merges of a byte-pair encoding. Symbols are tokens, or numbers from the vocabulary's size on
/// for the texts in the list that are no tokens.
class BpeMerges {
 public:
  /// Errors: `tokenizer.ggml.merges` is missing, or an entry of it is not a pair.
  static Result<BpeMerges> load(const Gguf& file, const Vocabulary& vocabulary);

  /// The symbol of a text; none: it is neither a token of plain text nor in the list.
  std::optional<int> symbol(const Vocabulary& vocabulary, std::string_view text) const;
  /// Merges neighbours, of all pairs in the list the one that comes first in it first.
  void apply(std::vector<Symbol>& symbols) const;

 private:
  std::unordered_map<std::string, int, KeyedHash> others_;
  std::unordered_map<std::uint64_t, Merge, KeyedHash> merges_;  // of a pair of symbols
};

}  // namespace spectr
