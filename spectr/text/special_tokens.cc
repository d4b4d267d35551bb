#include "spectr/text/special_tokens.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>
#include <utility>

namespace spectr {
namespace {

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

}  // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) {
  for (Token token = 0; static_cast<std::size_t>(token) < vocabulary.size(); ++token) {
    const TokenKind kind = vocabulary.kind(token);
    const bool user_defined = kind == TokenKind::user_defined;
    const bool special = user_defined || kind == TokenKind::control || kind == TokenKind::unknown;
    const std::size_t length = vocabulary.text(token).size();
    if (special && length > 0 && length <= longest_text) {
      specials_.push_back({vocabulary.text(token), token, user_defined});
    }
  }
  std::ranges::sort(specials_, {}, &Special::text);
  for (std::size_t byte = 0, at = 0; byte < begins_.size(); ++byte) {
    while (at < specials_.size() && byte_at(specials_[at].text, 0) < byte) ++at;
    begins_[byte] = at;
  }
}

const SpecialTokens::Special* SpecialTokens::longest(std::string_view text, bool parse_special) const {
  if (text.empty()) return nullptr;
  const Special* found = nullptr;
  // The tokens that begin with the first `length` bytes of the text, the shortest of them first.
  const Special* begin = specials_.data() + begins_[byte_at(text, 0)];
  const Special* end = specials_.data() + begins_[byte_at(text, 0) + std::size_t{1}];
  for (std::size_t length = 1; begin != end; ++length) {
    if (begin->text.size() == length) {
      if (begin->user_defined || parse_special) found = begin;
      ++begin;
    }
    if (length == text.size()) break;
    const auto next_byte = [length](const Special& special) { return byte_at(special.text, length); };
    const auto same = std::ranges::equal_range(begin, end, byte_at(text, length), {}, next_byte);
    begin = same.begin();
    end = same.end();
  }
  return found;
}

std::vector<Fragment> SpecialTokens::split(std::string_view text, bool parse_special) const {
  struct Found {
    const Special* special;
    std::size_t at;
    bool operator<(const Found& other) const {  // is to be taken later
      const std::size_t length = special->text.size(), others = other.special->text.size();
      if (length != others) return length < others;
      if (special != other.special) return special->token > other.special->token;
      return at > other.at;
    }
  };
  // At every place the longest token; where it turns out to overlap one that was taken before, the longest of
  // those that do not.
  std::vector<Found> everywhere;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (const Special* special = longest(text.substr(at), parse_special)) everywhere.push_back({special, at});
  }
  std::priority_queue<Found> queue({}, std::move(everywhere));
  std::map<std::size_t, const Special*> taken;  // by the place
  while (!queue.empty()) {
    const auto [special, at] = queue.top();
    queue.pop();
    const auto next = taken.upper_bound(at);
    if (next != taken.begin()) {
      const auto& [before, of] = *std::prev(next);
      if (before + of->text.size() > at) continue;
    }
    const std::size_t room = (next == taken.end() ? text.size() : next->first) - at;
    if (special->text.size() <= room) {
      taken.emplace_hint(next, at, special);
    } else if (const Special* shorter = longest(text.substr(at, room), parse_special)) {
      queue.push({shorter, at});
    }
  }

  std::vector<Fragment> fragments;
  std::size_t end = 0;  // of the fragments
  for (const auto& [at, special] : taken) {
    if (at > end) fragments.push_back({text.substr(end, at - end), std::nullopt});
    end = at + special->text.size();
    fragments.push_back({text.substr(at, end - at), special->token});
  }
  if (end < text.size()) fragments.push_back({text.substr(end), std::nullopt});
  return fragments;
}

}  // namespace spectr
