#include "spectr/engine/rules/schema_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "spectr/base/utf8.h"
#include "spectr/text/jinja/letters.h"

namespace spectr {
namespace {

constexpr std::size_t max_pattern_depth = 100;
constexpr std::size_t max_states = 20'000;  // characters of the pattern with its repetitions written out
constexpr std::size_t max_text = std::size_t{512} << 10;  // bytes of the pattern that is made
constexpr std::size_t max_repetitions = 1000;
constexpr std::string_view any_text = "[\\s\\S]*", line_character = "[^\\n\\r\\u2028\\u2029]";

/// Thrown within whole_pattern().
struct Refusal {
  std::string why;
};

/// One of several texts that a pattern or a group allows.
struct Alternative {
  std::string text;
  bool begins = false, ends = false;  // it has ^ before it, $ after it
  std::size_t states = 0;
};

class PatternReader {
 public:
  explicit PatternReader(std::string_view pattern) : rest_(pattern) {}

  std::vector<Alternative> read() {
    std::vector<Alternative> all = alternatives(0);
    if (!rest_.empty()) throw Refusal{"has an unmatched ')'"};
    return all;
  }

 private:
  bool next_is(std::string_view text) const { return rest_.starts_with(text); }

  char take() {
    if (rest_.empty()) throw Refusal{"ends too early"};
    const char next = rest_.front();
    rest_.remove_prefix(1);
    return next;
  }

  bool take_if(std::string_view text) {
    if (!next_is(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  std::vector<Alternative> alternatives(std::size_t depth) {
    if (depth > max_pattern_depth) throw Refusal{"is nested too deep"};
    std::vector<Alternative> all;
    do {
      std::ranges::move(sequence(depth), std::back_inserter(all));
    } while (take_if("|"));
    return all;
  }

  /// Returns one alternative, or those of a group with anchors that is the whole sequence.
  std::vector<Alternative> sequence(std::size_t depth) {
    Alternative made;
    std::vector<Alternative> anchored;
    std::size_t atoms = 0;
    while (take_if("^")) made.begins = true;
    while (!rest_.empty() && rest_.front() != '|' && rest_.front() != ')') {
      if (made.ends || !anchored.empty()) throw Refusal{"has an anchor in its middle"};
      if (take_if("$")) {
        while (take_if("$")) {
        }
        made.ends = true;
        continue;
      }
      Alternative part;
      if (take_if("(")) {
        part = group(depth, anchored);
      } else {
        part = atom();
      }
      if (!anchored.empty() && (atoms > 0 || made.begins || next_is_quantifier()))
        throw Refusal{"has an anchor in its middle"};
      repeat(part);
      add(made, part);
      ++atoms;
    }
    if (!anchored.empty()) return anchored;
    return {made};
  }

  static void add(Alternative& all, const Alternative& part) {
    all.text += part.text;
    all.states += part.states;
    if (all.states > max_states)
      throw Refusal{fmt::format("has more than {} characters with its repetitions written out", max_states)};
    limit(all.text.size());
  }

  static void limit(std::size_t bytes) {
    if (bytes > max_text)
      throw Refusal{fmt::format("has more than {} bytes with its repetitions written out", max_text)};
  }

  /// Reads a group after its parenthesis. Its alternatives go to `anchored` if one of them has an anchor.
  Alternative group(std::size_t depth, std::vector<Alternative>& anchored) {
    if (take_if("?")) {
      if (next_is("P<") || (next_is("<") && !next_is("<=") && !next_is("<!"))) {
        while (take() != '>') {
        }
      } else if (!take_if(":")) {
        throw Refusal{"has look-around or flags"};
      }
    }
    std::vector<Alternative> all = alternatives(depth + 1);
    if (!take_if(")")) throw Refusal{"has an unmatched '('"};
    if (std::ranges::any_of(all, [](const Alternative& one) { return one.begins || one.ends; })) {
      anchored = std::move(all);
      return {};
    }
    Alternative made{.text = "(?:", .states = 1};  // an empty group counts, too
    for (const Alternative& one : all) {
      if (&one != &all.front()) made.text += '|';
      add(made, one);
    }
    made.text += ')';
    return made;
  }

  bool next_is_quantifier() const {
    return !rest_.empty() && std::string_view("*+?{").contains(rest_.front());
  }

  void repeat(Alternative& part) {
    if (!next_is_quantifier()) return;
    const char kind = take();
    if (kind != '{') {
      part.text += kind;
    } else {
      const std::size_t least = count();
      std::size_t most = least;
      const bool is_open = take_if(",") && next_is("}");
      if (!next_is("}")) most = count();
      if (!take_if("}") || most < least) throw Refusal{"has a malformed repetition"};
      part.states *= std::max<std::size_t>(1, most);
      if (!is_open) {
        part.text += fmt::format("{{{},{}}}", least, most);
      } else if (least < 2) {
        part.text += least == 0 ? '*' : '+';
      } else {
        limit(2 * part.text.size());
        part.text = fmt::format("(?:{}{{{},{}}}{}*)", part.text, least, least, part.text);
      }
    }
    (void)take_if("?");  // a lazy quantifier matches the same texts
    if (next_is_quantifier()) throw Refusal{"repeats a repetition"};
  }

  std::size_t count() {
    std::size_t number = 0;
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9')
      throw Refusal{"has a malformed repetition"};
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      number = 10 * number + static_cast<std::size_t>(take() - '0');
      if (number > max_repetitions) throw Refusal{fmt::format("repeats more than {} times", max_repetitions)};
    }
    return number;
  }

  Alternative atom() {
    if (next_is_quantifier()) throw Refusal{"has a repetition of nothing"};
    if (next_is("^")) throw Refusal{"has an anchor in its middle"};
    if (take_if(".")) return {.text = std::string(line_character), .states = 1};
    if (take_if("[")) return {.text = character_class(), .states = 1};
    if (next_is("]") || next_is("}")) return {.text = std::string("\\") + take(), .states = 1};
    return {.text = character(false), .states = 1};
  }

  std::string character_class() {
    std::string text = "[";
    if (take_if("^")) text += '^';
    if (next_is("]")) throw Refusal{"has an empty class"};
    while (!take_if("]")) text += next_is("[") ? std::string("\\") + take() : character(true);
    return text + "]";
  }

  /// Returns a character or an escape sequence, in ASCII.
  std::string character(bool in_class) {
    if (next_is("\\")) return escape_sequence(in_class);
    if (static_cast<unsigned char>(rest_.empty() ? '\0' : rest_.front()) < 0x80) {
      const char next = take();
      if (static_cast<unsigned char>(next) < 0x20 || next == 0x7f)
        return fmt::format("\\x{:02x}", static_cast<int>(next));
      return std::string(1, next);
    }
    const std::string_view next = first_character(rest_);
    rest_.remove_prefix(next.size());
    return fmt::format("\\u{{{:x}}}", jinja::code_of(next));
  }

  std::string escape_sequence(bool in_class) {
    std::string text(1, take());
    const char kind = take();
    text += kind;
    if (std::string_view("dDwWsSnrtfv").contains(kind)) return text;
    if (kind == '0' && (rest_.empty() || rest_.front() < '0' || rest_.front() > '9')) return "\\x00";
    if (kind == 'b' && in_class) return "\\x08";
    if (kind == 'c' || kind == 'x' || kind == 'u') {
      if (kind == 'u' && take_if("{")) {
        text += '{';
        do {
          text += hex_digit();
        } while (!take_if("}"));
        return text + '}';
      }
      if (kind == 'c') return text + letter();
      for (int digits = kind == 'x' ? 2 : 4; digits > 0; --digits) text += hex_digit();
      if (kind == 'u' && (text[2] == 'd' || text[2] == 'D') && text[3] > '7')
        throw Refusal{"has half a surrogate pair"};
      return text;
    }
    const auto byte = static_cast<unsigned char>(kind);
    if (byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
        (byte >= 'A' && byte <= 'Z'))
      throw Refusal{fmt::format("has the escape '\\{}'", byte < 0x80 ? kind : '?')};
    return text;
  }

  char hex_digit() {
    const char next = take();
    if (std::isxdigit(static_cast<unsigned char>(next)) == 0) throw Refusal{"has a malformed escape"};
    return next;
  }

  char letter() {
    const char next = take();
    if (std::isalpha(static_cast<unsigned char>(next)) == 0) throw Refusal{"has a malformed escape"};
    return next;
  }

  std::string_view rest_;
};

constexpr std::string_view day =
    "(\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2[0-8])"
    ")"
    "|(\\d\\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)";
constexpr std::string_view time_of_day =
    "([01]\\d|2[0-3]):[0-5]\\d:([0-5]\\d|60)(\\.\\d+)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)";
constexpr std::string_view kept_formats[] = {
    "email", "duration",      "ipv6",         "hostname",     "uuid",
    "uri",   "uri-reference", "uri-template", "json-pointer", "relative-json-pointer"};

}  // namespace

std::expected<std::string, std::string> whole_pattern(std::string_view pattern) {
  try {
    std::string whole;
    std::size_t states = 0;
    bool is_first = true;
    for (const Alternative& one : PatternReader(pattern).read()) {
      if (!is_first) whole += '|';
      is_first = false;
      if (!one.begins) whole += any_text;
      whole += one.text;
      if (!one.ends) whole += any_text;
      states += one.states;
    }
    if (states > max_states) return std::unexpected(fmt::format("has more than {} characters", max_states));
    return "(?:" + whole + ")";
  } catch (const Refusal& refusal) {
    return std::unexpected(refusal.why);
  }
}

std::optional<std::string> format_pattern(std::string_view format) {
  if (format == "date") return fmt::format("^{}$", day);
  if (format == "time") return fmt::format("^{}$", time_of_day);
  if (format == "date-time") return fmt::format("^{}T{}$", day, time_of_day);
  if (format == "ipv4")
    return "^((25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)\\.){3}(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)$";
  return std::nullopt;
}

bool is_known_format(std::string_view format) {
  return format_pattern(format).has_value() ||
         std::ranges::find(kept_formats, format) != std::end(kept_formats);
}

}  // namespace spectr
