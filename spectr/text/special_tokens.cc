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

constexpr std::string_view ascii_white_space = " \t\n\v\f\r";

bool is_blank(std::string_view text) {
  return text.find_first_not_of(ascii_white_space) == std::string_view::npos;
}

/// Returns the bytes from `at` to the next quote, or to the text's end at `size`; 0 inside a quote.
std::size_t unquoted(std::span<const MarkedText::Span> quotes, std::size_t at, std::size_t size) {
  const auto next = std::ranges::upper_bound(quotes, at, {}, &MarkedText::Span::end);
  if (next == quotes.end()) return size - at;
  return next->begin > at ? next->begin - at : 0;
}

}  // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) {
  for (Token token = 0; static_cast<std::size_t>(token) < vocabulary.size(); ++token) {
    const TokenKind kind = vocabulary.kind(token);
    const bool user_defined = kind == TokenKind::user_defined;
    const bool special = user_defined || kind == TokenKind::control || kind == TokenKind::unknown;
    const std::size_t length = vocabulary.text(token).size();
    if (special && length > 0 && length <= longest_text) {
      specials_.push_back({vocabulary.text(token), token, user_defined, vocabulary.trims_after(token)});
    }
  }
  std::ranges::stable_sort(specials_, {}, &Special::text);
  const auto doubles = std::ranges::unique(specials_, {}, &Special::text);  // the lower id stays
  specials_.erase(doubles.begin(), doubles.end());
  for (std::size_t byte = 0, at = 0; byte < begins_.size(); ++byte) {
    while (at < specials_.size() && byte_at(specials_[at].text, 0) < byte) ++at;
    begins_[byte] = at;
  }
}

const SpecialTokens::Special* SpecialTokens::longest(std::string_view text, std::size_t trusted,
                                                     const Dividers& dividers) const {
  if (text.empty()) return nullptr;
  const Special* found = nullptr;
  // The range of tokens that begin with the first `length` bytes of the text, the shortest first.
  const Special* begin = specials_.data() + begins_[byte_at(text, 0)];
  const Special* end = specials_.data() + begins_[byte_at(text, 0) + std::size_t{1}];
  for (std::size_t length = 1; begin != end; ++length) {
    if (begin->text.size() == length) {
      if (length <= trusted || (begin->user_defined && !dividers.contains(begin))) found = begin;
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

SpecialTokens::Dividers SpecialTokens::dividers(std::string_view text, Quotes quotes) const {
  Dividers found;
  if (quotes.empty()) return found;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t trusted = unquoted(quotes, at, text.size());
    const Special* special = trusted == 0 ? nullptr : longest(text.substr(at, trusted), trusted, {});
    if (special != nullptr && special->user_defined && !is_blank(special->text)) found.insert(special);
  }
  return found;
}

std::vector<Fragment> SpecialTokens::split(std::string_view text, bool parse_special) const {
  const MarkedText::Span all[] = {{0, text.size()}};
  return split(text, parse_special ? Quotes{} : Quotes{all});
}

std::vector<Fragment> SpecialTokens::split(const MarkedText& text) const {
  return split(text.bytes(), text.quotes());
}

std::vector<Fragment> SpecialTokens::split(std::string_view text, Quotes quotes) const {
  struct Found {
    const Special* special;
    std::size_t at;
    bool operator<(const Found& other) const {  // true if taken later
      const std::size_t length = special->text.size(), others = other.special->text.size();
      if (length != others) return length < others;
      if (special != other.special) return special->token > other.special->token;
      return at > other.at;
    }
  };
  // Start with the longest token at each position. If it overlaps a token that was taken before, use the
  // longest one that does not.
  const Dividers divide = dividers(text, quotes);
  const auto longest_at = [&](std::size_t at, std::size_t room) {
    return longest(text.substr(at, room), unquoted(quotes, at, text.size()), divide);
  };
  std::vector<Found> everywhere;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (const Special* special = longest_at(at, text.size())) everywhere.push_back({special, at});
  }
  std::priority_queue<Found> queue({}, std::move(everywhere));
  std::map<std::size_t, const Special*> taken;  // by position
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
    } else if (const Special* shorter = longest_at(at, room)) {
      queue.push({shorter, at});
    }
  }

  std::vector<Fragment> fragments;
  std::size_t end = 0;  // end of the fragments so far
  const auto add_plain = [&](std::size_t until) {
    if (until > end) fragments.push_back({text.substr(end, until - end), std::nullopt});
  };
  for (const auto& [at, special] : taken) {
    add_plain(at);
    end = at + special->text.size();
    fragments.push_back({text.substr(at, end - at), special->token});
    if (special->trims_after) end = std::min(text.find_first_not_of(ascii_white_space, end), text.size());
  }
  add_plain(text.size());
  return fragments;
}

}  // namespace spectr
