#define PCRE2_CODE_UNIT_WIDTH 8
#include "spectr/text/pretokenizer.h"

#include <pcre2.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "spectr/base/check.h"
#include "spectr/base/utf8.h"

namespace spectr {
namespace {

/// A range of the text.
struct Range {
  std::size_t begin, end;
};

/// State of one call of split() that threads must not share.
class Matcher {
 public:
  Matcher() : data_(pcre2_match_data_create(1, nullptr)), context_(pcre2_match_context_create(nullptr)) {
    SPECTR_CHECK(data_ && context_);
    // A run of a million spaces is legitimate text, and no rule backtracks more than once over a run.
    pcre2_set_match_limit(context_.get(), std::numeric_limits<std::uint32_t>::max());
  }

  /// Returns the first match at or after `from` in `text`, which must be UTF-8.
  std::optional<Range> find(const pcre2_code* code, std::string_view text, std::size_t from) {
    int found = match(code, text, from, PCRE2_NO_UTF_CHECK);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT)
      found = match(code, text, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT);
    if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
    SPECTR_CHECK(found >= 0);
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data_.get());
    return Range{ends[0], ends[1]};
  }

 private:
  int match(const pcre2_code* code, std::string_view text, std::size_t from, std::uint32_t options) {
    return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from, options,
                       data_.get(), context_.get());
  }

  struct Free {
    void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  };
  std::unique_ptr<pcre2_match_data, Free> data_;
  std::unique_ptr<pcre2_match_context, Free> context_;
};

/// Returns the text as the regular expressions see it, byte for byte as long: well-formed UTF-8, and without
/// U+180E, which PCRE2 still treats as a space (Unicode does not since version 6.3).
std::string matchable(std::string_view text) {
  constexpr char neither = '\x01';
  constexpr std::string_view mongolian_vowel_separator = "\u180E", zero_width_space = "\u200B";
  std::string out(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) out[at] = neither;
    if (text.substr(at, length) == mongolian_vowel_separator) out.replace(at, length, zero_width_space);
    at += length == 0 ? 1 : length;
  }
  return out;
}

/// Splits each piece into its matches and the ranges between them.
std::vector<Range> cut(const pcre2_code* code, std::string_view text, const std::vector<Range>& pieces,
                       Matcher& matcher) {
  std::vector<Range> out;
  out.reserve(pieces.size());
  for (const Range& piece : pieces) {
    const std::string_view subject = text.substr(piece.begin, piece.end - piece.begin);
    std::size_t at = 0;
    while (at < subject.size()) {
      const Range match = matcher.find(code, subject, at).value_or(Range{subject.size(), subject.size()});
      if (match.begin > at) out.push_back({piece.begin + at, piece.begin + match.begin});
      if (match.end > match.begin) out.push_back({piece.begin + match.begin, piece.begin + match.end});
      SPECTR_CHECK(match.end > at);
      at = match.end;
    }
  }
  return out;
}

}  // namespace

void Pretokenizer::Free::operator()(pcre2_real_code_8* code) const {
  pcre2_code_free(code);
}

Pretokenizer::Pretokenizer(const PretokenizerRule& rule) {
  for (const std::string_view regex : rule.regexes) {
    int problem = 0;
    PCRE2_SIZE where = 0;
    regexes_.emplace_back(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(regex.data()), regex.size(),
                                        PCRE2_UTF | PCRE2_UCP, &problem, &where, nullptr));
    SPECTR_CHECK(regexes_.back());
    pcre2_jit_compile(regexes_.back().get(), PCRE2_JIT_COMPLETE);  // interpreted if JIT is unavailable
  }
}

std::vector<std::string_view> Pretokenizer::split(std::string_view text) const {
  if (text.empty()) return {};
  Matcher matcher;
  const std::string subject = matchable(text);
  std::vector<Range> pieces = {{0, text.size()}};
  for (const auto& regex : regexes_) pieces = cut(regex.get(), subject, pieces, matcher);
  std::vector<std::string_view> words;
  words.reserve(pieces.size());
  for (const Range& piece : pieces) words.push_back(text.substr(piece.begin, piece.end - piece.begin));
  return words;
}

}  // namespace spectr
