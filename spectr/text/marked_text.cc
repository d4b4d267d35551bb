#include "spectr/text/marked_text.h"

#include <algorithm>
#include <utility>

#include "spectr/base/check.h"

namespace spectr {

MarkedText::MarkedText(std::string bytes, bool quoted) : bytes_(std::move(bytes)) {
  if (quoted && !bytes_.empty()) quotes_.push_back({0, bytes_.size()});
}

std::vector<MarkedText::Piece> MarkedText::pieces() const {
  std::vector<Piece> all;
  const std::string_view whole = bytes_;
  std::size_t end = 0;
  const auto add = [&](std::size_t until, bool quoted) {
    if (until > end) all.push_back({whole.substr(end, until - end), quoted});
    end = until;
  };
  for (const Span& quote : quotes_) {
    add(quote.begin, false);
    add(quote.end, true);
  }
  add(whole.size(), false);
  return all;
}

MarkedText& MarkedText::append(std::string_view bytes, bool quoted) {
  if (quoted && !bytes.empty()) {
    if (quotes_.empty() || quotes_.back().end < bytes_.size()) quotes_.push_back({bytes_.size(), 0});
    quotes_.back().end = bytes_.size() + bytes.size();
  }
  bytes_ += bytes;
  return *this;
}

MarkedText& MarkedText::append(const MarkedText& other, std::string_view view) {
  SPECTR_CHECK(&other != this);
  if (view.empty()) return *this;
  const auto begin = static_cast<std::size_t>(view.data() - other.bytes_.data());
  const std::size_t end = begin + view.size();
  SPECTR_CHECK(end <= other.bytes_.size());
  std::size_t at = begin;
  for (auto quote = std::ranges::upper_bound(other.quotes_, begin, {}, &Span::end);
       quote != other.quotes_.end() && quote->begin < end; ++quote) {
    const std::size_t from = std::max(quote->begin, begin), to = std::min(quote->end, end);
    append(view.substr(at - begin, from - at));
    append(view.substr(from - begin, to - from), true);
    at = to;
  }
  return append(view.substr(at - begin));
}

}  // namespace spectr
