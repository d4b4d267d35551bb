#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "spectr/base/result.h"
#include "spectr/text/vocabulary.h"

namespace spectr {

/// In what two vocabularies that match still differ.
struct VocabularyDifferences {
  std::size_t special = 0;     ///< ids that are special tokens of different texts, or of one of them only
  std::optional<Token> first;  ///< the lowest of these
};

/// Whether a draft's tokens mean to the target what they mean to the draft, so that one can verify the other:
/// both are of the same type, and every id is the same text in both, or padding in one of them, or absent
/// from one and padding in the other, or a special token where it is there (control, user-defined or
/// unknown), as models of one family have for purposes of their own. The last may be at most
/// `max_special_differences`: where a text has such a token the draft takes it for another, and what it
/// drafts is rejected more often; what comes out is the target's text all the same. Padding are tokens of
/// kind `unused`, or whose text is empty or begins with "[PAD", "<pad" or "<|PAD". With which tokens a draft
/// model would begin and end texts of its own does not matter: it reads and continues the target's. The error
/// names both files, the first id that differs and its texts, how many do, and models that would fit.
Result<VocabularyDifferences> same_vocabulary(const Vocabulary& target, const Vocabulary& draft);

/// As many as llama.cpp allows.
constexpr std::size_t max_special_differences = 128;

/// Small published models with this vocabulary, which could draft for its model: a sentence without its stop.
std::string fitting_drafts(const Vocabulary& vocabulary);

}  // namespace spectr
