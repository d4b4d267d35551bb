#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "spectr/base/result.h"
#include "spectr/text/vocabulary.h"

namespace spectr {

/// The remaining differences between two matching vocabularies.
struct VocabularyDifferences {
  std::size_t special = 0;     ///< ids that are special tokens of different texts, or of one of them only
  std::optional<Token> first;  ///< the lowest of these
};

/// Checks that a draft's tokens have the same meaning for the target, so that the target can verify drafts.
/// The types must be equal, and each id must have the same text in both, or be padding in one of them, or
/// absent from one and padding in the other, or be a special token wherever it is present (control,
/// user-defined or unknown), which models of one family have for their own purposes. There may be at most
/// `max_special_differences` such special tokens: if a text contains one, the draft misreads it, and its
/// drafts are rejected more often, but the output is still the target's. Padding are tokens of kind `unused`,
/// or whose text is empty or begins with "[PAD", "<pad" or "<|PAD". Beginning and end tokens of the draft do
/// not matter: it reads and continues the target's texts. The error names both files, the first differing id
/// with its texts, the number of such ids, and models that would fit.
Result<VocabularyDifferences> same_vocabulary(const Vocabulary& target, const Vocabulary& draft);

/// The limit is that of llama.cpp.
constexpr std::size_t max_special_differences = 128;

/// Returns a sentence without full stop that names small published models with this vocabulary, for drafts.
std::string fitting_drafts(const Vocabulary& vocabulary);

}  // namespace spectr
