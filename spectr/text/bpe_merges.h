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

/// The merge list of a byte-pair encoding. Symbols are tokens; texts in the list that are no tokens have
/// numbers from the vocabulary's size on.
class BpeMerges {
 public:
  /// Fails if `tokenizer.ggml.merges` is missing or has an entry that is not a pair.
  static Result<BpeMerges> load(const Gguf& file, const Vocabulary& vocabulary);

  /// Returns the symbol of a text; nothing if it is neither a plain-text token nor in the list.
  std::optional<int> symbol(const Vocabulary& vocabulary, std::string_view text) const;
  /// Merges adjacent symbols; the pair that comes first in the list is merged first.
  void apply(std::vector<Symbol>& symbols) const;

 private:
  std::unordered_map<std::string, int, KeyedHash> others_;
  std::unordered_map<std::uint64_t, Merge, KeyedHash> merges_;  // by pair of symbols
};

}  // namespace spectr
