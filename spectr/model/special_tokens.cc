#include "spectr/model/special_tokens.h"

#include <algorithm>

namespace spectr {
namespace {

/// Appends the fragments of `text` as one token divides it.
void divide(std::string_view text, std::string_view by, Token token, std::vector<Fragment>& out) {
  while (!text.empty()) {
    const std::size_t at = std::min(text.find(by), text.size());
    if (at > 0) out.push_back({text.substr(0, at), std::nullopt});
    if (at == text.size()) return;
    out.push_back({text.substr(at, by.size()), token});
    text.remove_prefix(at + by.size());
  }
}

}  // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) {
  for (Token token = 0; static_cast<std::size_t>(token) < vocabulary.size(); ++token) {
    const TokenKind kind = vocabulary.kind(token);
    const bool user_defined = kind == TokenKind::user_defined;
    const bool special = user_defined || kind == TokenKind::control || kind == TokenKind::unknown;
    if (special && !vocabulary.text(token).empty()) {
      specials_.push_back({vocabulary.text(token), token, user_defined});
    }
  }
  std::ranges::sort(specials_, [](const Special& a, const Special& b) {
    return a.text.size() != b.text.size() ? a.text.size() > b.text.size() : a.token < b.token;
  });
}

std::vector<Fragment> SpecialTokens::split(std::string_view text, bool parse_special) const {
  std::vector<Fragment> fragments;
  if (!text.empty()) fragments.push_back({text, std::nullopt});
  std::vector<Fragment> divided;
  for (const Special& special : specials_) {
    if (!special.user_defined && !parse_special) continue;
    if (text.find(special.text) == std::string_view::npos) continue;
    divided.clear();
    for (const Fragment& fragment : fragments) {
      if (fragment.token) {
        divided.push_back(fragment);
      } else {
        divide(fragment.text, special.text, special.token, divided);
      }
    }
    std::swap(fragments, divided);
  }
  return fragments;
}

}  // namespace spectr
