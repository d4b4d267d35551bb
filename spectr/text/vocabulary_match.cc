#include "spectr/text/vocabulary_match.h"

#include <algorithm>

#include "spectr/base/names.h"

namespace spectr {
namespace {

std::string describe(TokenizerType type) {
  return type == TokenizerType::sentencepiece ? "SentencePiece" : "byte-level";
}

bool is_padding(const Vocabulary& vocabulary, Token token) {
  const std::string_view text = vocabulary.text(token);
  return vocabulary.kind(token) == TokenKind::unused || text.empty() || text.starts_with("[PAD") ||
         text.starts_with("<pad") || text.starts_with("<|PAD");
}

std::unexpected<Error> differ(const Vocabulary& target, const Vocabulary& draft, std::string_view what,
                              std::string_view in_target, std::string_view in_draft) {
  return error("{} cannot draft for {}: {} is {} in the target, {} in the draft", draft.source(),
               target.source(), what, in_target, in_draft);
}

}  // namespace

Result<void> same_vocabulary(const Vocabulary& target, const Vocabulary& draft) {
  if (target.type() != draft.type()) {
    return differ(target, draft, "the type", describe(target.type()), describe(draft.type()));
  }
  const auto shared = static_cast<Token>(std::min(target.size(), draft.size()));
  for (Token token = 0; token < shared; ++token) {
    if (target.text(token) == draft.text(token)) continue;
    if (is_padding(target, token) || is_padding(draft, token)) continue;
    return differ(target, draft, fmt::format("token {}", token), quote(target.text(token)),
                  quote(draft.text(token)));
  }
  const Vocabulary& larger = target.size() > draft.size() ? target : draft;
  for (Token token = shared; static_cast<std::size_t>(token) < larger.size(); ++token) {
    if (is_padding(larger, token)) continue;
    const std::string text = quote(larger.text(token));
    return differ(target, draft, fmt::format("token {}", token), &larger == &target ? text : "absent",
                  &larger == &draft ? text : "absent");
  }
  return {};
}

}  // namespace spectr
