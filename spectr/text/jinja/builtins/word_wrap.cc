#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/text/jinja/builtins/callables.h"
#include "spectr/text/jinja/builtins/text_functions.h"
#include "spectr/text/jinja/letters.h"

namespace spectr::jinja {
namespace {

/// Splits a line of characters into chunks that may be on lines of their own, as Python's textwrap does.
class Chunks {
 public:
  Chunks(std::vector<std::string_view> line, bool at_hyphens)
      : line_(std::move(line)), at_hyphens_(at_hyphens) {}

  /// Returns the end of the chunk that begins at `begin`.
  std::size_t end_of(std::size_t begin) const {
    std::size_t end = begin + 1;
    if (is_blank(begin)) {
      while (end < line_.size() && is_blank(end)) ++end;
    } else if (!at_hyphens_) {
      while (end < line_.size() && !is_blank(end)) ++end;
    } else if (begin > 0 && is_dash(begin) && is_in_word(begin - 1)) {
      while (is_hyphen(end)) ++end;
    } else {
      while (!ends_at(begin, end)) ++end;
    }
    return end;
  }

  bool is_blank(std::size_t i) const {
    return i < line_.size() && std::string_view("\t\n\v\f\r ").contains(line_[i]);
  }

 private:
  bool is_hyphen(std::size_t i) const { return i < line_.size() && line_[i] == "-"; }
  bool is_wordlike(std::size_t i) const {
    return i < line_.size() && (line_[i] == "_" || is_alphanumeric(code_of(line_[i])));
  }
  bool is_letter_at(std::size_t i) const { return is_wordlike(i) && !is_decimal(code_of(line_[i])); }
  bool is_in_word(std::size_t i) const {
    return is_wordlike(i) || (i < line_.size() && std::string_view("!\"'&.,?").contains(line_[i]));
  }
  /// True for two or more hyphens before a word.
  bool is_dash(std::size_t i) const {
    std::size_t end = i;
    while (is_hyphen(end)) ++end;
    return end >= i + 2 && is_wordlike(end);
  }

  bool ends_at(std::size_t begin, std::size_t end) const {
    if (end == line_.size() || is_blank(end)) return true;
    if (is_in_word(end - 1) && is_dash(end)) return true;
    if (!is_hyphen(end - 1) || end < begin + 2) return false;
    // After the hyphen of a compound: both sides have at least two letters.
    const bool before = end >= 3 && is_letter_at(end - 2) &&
                        (is_letter_at(end - 3) || (is_hyphen(end - 3) && end >= 4 && is_letter_at(end - 4)));
    return before && is_letter_at(end) && is_letter_at(is_hyphen(end + 1) ? end + 2 : end + 1);
  }

  std::vector<std::string_view> line_;
  bool at_hyphens_;
};

/// A range of characters of a line.
struct Stretch {
  std::size_t begin, end;
  std::size_t size() const { return end - begin; }
};

struct WrapStyle {
  std::size_t width;
  bool breaks_words, at_hyphens;
};

/// Wraps one line into several.
class Wrapping {
 public:
  Wrapping(Run& run, std::vector<std::string_view> line, const WrapStyle& style)
      : line_(std::move(line)), style_(style) {
    const Chunks chunks(line_, style.at_hyphens);
    for (std::size_t begin = 0, end = 0; begin < line_.size(); begin = end) {
      run.step();
      end = chunks.end_of(begin);
      chunks_.push_back({begin, end});
    }
  }

  std::vector<Stretch> lines() {
    std::vector<Stretch> out;
    for (std::size_t next = 0; next < chunks_.size();) {
      if (!out.empty() && is_blank(chunks_[next]) && ++next == chunks_.size()) break;
      const std::size_t begin = chunks_[next].begin;
      std::size_t end = begin, last = next;
      while (next < chunks_.size() && chunks_[next].end - begin <= style_.width)
        end = chunks_[last = next++].end;
      if (next < chunks_.size() && chunks_[next].size() > style_.width) {
        if (style_.breaks_words) {
          const std::size_t cut = cut_of(chunks_[next], style_.width - (end - begin));
          const Stretch part{std::exchange(chunks_[next].begin, cut), cut};
          if (chunks_[next].size() == 0) ++next;
          end = is_blank(part) ? part.begin : cut;
          if (end > begin) out.push_back({begin, end});
          continue;
        }
        if (end == begin) end = chunks_[last = next++].end;
      }
      if (is_blank(chunks_[last])) end = chunks_[last].begin;
      if (end > begin) out.push_back({begin, end});
    }
    return out;
  }

 private:
  bool is_blank(const Stretch& chunk) const {
    return std::ranges::all_of(std::span(line_).subspan(chunk.begin, chunk.size()), is_space, code_of);
  }

  /// Returns where to split a chunk that fits on no line if `room` characters are left on this one: after a
  /// hyphen, if there is one among them.
  std::size_t cut_of(const Stretch& chunk, std::size_t room) const {
    std::size_t hyphen = chunk.begin + room;
    while (style_.at_hyphens && hyphen > chunk.begin && line_[hyphen - 1] != "-") --hyphen;
    const auto before = std::span(line_).subspan(chunk.begin, hyphen - chunk.begin);
    const bool after_word = std::ranges::any_of(before, [](std::string_view c) { return c != "-"; });
    return style_.at_hyphens && hyphen > chunk.begin && after_word ? hyphen : chunk.begin + room;
  }

  std::vector<std::string_view> line_;
  WrapStyle style_;
  std::vector<Stretch> chunks_;
};

}  // namespace

Value word_wrap(Run& run, const Value& input, const Arguments& arguments) {
  const MarkedText& text = string_of(run, input, "wordwrap");
  constexpr std::int64_t widest = 1 << 30;
  const auto is_on = [](const Value& given) { return given.is_undefined() || given.truth(); };
  const WrapStyle style = {static_cast<std::size_t>(integer_of(arguments[0], 79, "wordwrap", 1, widest)),
                           is_on(arguments[1]), is_on(arguments[3])};
  const bool given = !arguments[2].is_undefined() && !arguments[2].is_none();
  const MarkedText between = given ? string_of(run, arguments[2], "wordwrap") : MarkedText("\n");
  MarkedText out;
  bool first = true;
  for (const std::string_view line : split_lines(run, text.bytes())) {
    if (!std::exchange(first, false)) out.append(between);
    const auto all = characters(line);
    bool begun = false;
    for (const auto& [begin, end] : Wrapping(run, all, style).lines()) {
      run.charge(between.size());
      if (std::exchange(begun, true)) out.append(between);
      const char* const from = all[begin].data();
      const std::string_view& last = all[end - 1];
      out.append(text, std::string_view(from, static_cast<std::size_t>(last.data() + last.size() - from)));
    }
  }
  return run.made(std::move(out));
}

}  // namespace spectr::jinja
