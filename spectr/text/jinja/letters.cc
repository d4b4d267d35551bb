#include "spectr/text/jinja/letters.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <string>

#include "spectr/base/utf8.h"

namespace spectr::jinja {
namespace {

constexpr std::uint32_t no_character = 0x110000;

template <class Range, class T>
bool is_among(const Range& all, const T& one) {
  return std::ranges::find(all, one) != std::end(all);
}

utf8proc_category_t category_of(std::uint32_t character) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}

template <std::size_t n>
bool has_category(std::uint32_t character, const std::array<utf8proc_category_t, n>& any) {
  return character < no_character && is_among(any, category_of(character));
}

std::uint32_t simple_upper(std::uint32_t character) {
  return static_cast<std::uint32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(character)));
}
std::uint32_t simple_lower(std::uint32_t character) {
  return static_cast<std::uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(character)));
}
std::uint32_t simple_title(std::uint32_t character) {
  return static_cast<std::uint32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(character)));
}

bool is_capital(std::uint32_t character) {
  if (character >= no_character) return false;
  return category_of(character) == UTF8PROC_CATEGORY_LU ||
         (!is_letter(character) && simple_lower(character) != character);
}
bool is_small(std::uint32_t character) {
  if (character >= no_character) return false;
  constexpr std::uint32_t ordinals[] = {0xAA, 0xBA};
  return category_of(character) == UTF8PROC_CATEGORY_LL || is_among(ordinals, character) ||
         (!is_letter(character) && simple_upper(character) != character);
}
bool is_cased(std::uint32_t character) {
  return is_capital(character) || is_small(character) ||
         has_category(character, std::array{UTF8PROC_CATEGORY_LT});
}
/// True if the search for the end of a word skips it.
bool is_passed_over(std::uint32_t character) {
  constexpr std::uint32_t marks[] = {'\'', '.', ':', 0xB7, 0x2019, '^', '`', 0xA8, 0xAD, 0xAF, 0xB4, 0xB8};
  return is_among(marks, character) ||
         has_category(character, std::array{UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME, UTF8PROC_CATEGORY_CF,
                                            UTF8PROC_CATEGORY_LM, UTF8PROC_CATEGORY_SK});
}

/// The characters that a character folds to.
struct Folding {
  utf8proc_int32_t parts[4];
  std::size_t count;
};

Folding folding_of(std::uint32_t character) {
  Folding out{};
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(character), out.parts,
                                             std::size(out.parts), UTF8PROC_CASEFOLD, nullptr);
  out.count = std::clamp<utf8proc_ssize_t>(count, 0, std::size(out.parts));
  return out;
}

/// True if its upper case has several letters: those that it folds to.
bool has_long_capital(std::uint32_t character, const Folding& folding) {
  return folding.count > 1 && category_of(character) != UTF8PROC_CATEGORY_LU;
}

void append_upper(std::uint32_t character, std::string& out) {
  const Folding folding = folding_of(character);
  if (!has_long_capital(character, folding)) {
    append_utf8(simple_upper(character), out);
    return;
  }
  for (std::size_t i = 0; i < folding.count; ++i)
    append_utf8(simple_upper(static_cast<std::uint32_t>(folding.parts[i])), out);
}

void append_title(std::uint32_t character, std::string& out) {
  const Folding folding = folding_of(character);
  const bool simple = has_category(simple_title(character), std::array{UTF8PROC_CATEGORY_LT});
  if (simple || !has_long_capital(character, folding)) {
    append_utf8(simple_title(character), out);
    return;
  }
  for (std::size_t i = 0; i < folding.count; ++i) {
    const auto part = static_cast<std::uint32_t>(folding.parts[i]);
    append_utf8(i == 0 ? simple_title(part) : part, out);
  }
}

/// True if a sigma between `before` and `after` ends a word.
bool ends_word(std::string_view before, std::string_view after) {
  const auto last = [](std::string_view text) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80) --begin;
    return text.substr(begin);
  };
  while (!before.empty() && is_passed_over(code_of(last(before)))) before.remove_suffix(last(before).size());
  while (!after.empty() && is_passed_over(code_of(first_character(after))))
    after.remove_prefix(first_character(after).size());
  return !before.empty() && is_cased(code_of(last(before))) &&
         (after.empty() || !is_cased(code_of(first_character(after))));
}

/// Changes the case of characters one by one. `whole` is the text that contains them.
class Changer {
 public:
  Changer(std::string_view whole, Case which) : whole_(whole), which_(which) {}

  void append(std::string_view character, std::string& out) {
    const std::uint32_t code = code_of(character);
    const bool starts = starts_;
    starts_ = which_ == Case::title   ? !is_cased(code)
              : which_ == Case::words ? is_space(code) || std::string_view("-({[<").contains(character)
                                      : false;
    if (code >= no_character) {
      out += character;
    } else if (which_ == Case::folded) {
      const Folding folding = folding_of(code);
      for (std::size_t i = 0; i < folding.count; ++i)
        append_utf8(static_cast<std::uint32_t>(folding.parts[i]), out);
    } else if (which_ == Case::upper || (which_ == Case::words && starts) ||
               (which_ == Case::swapped && is_small(code))) {
      append_upper(code, out);
    } else if (starts && (which_ == Case::capitalized || which_ == Case::title)) {
      append_title(code, out);
    } else if (which_ != Case::swapped || is_capital(code)) {
      append_lower(code, character, out);
    } else {
      out += character;
    }
  }

 private:
  void append_lower(std::uint32_t code, std::string_view character, std::string& out) const {
    constexpr std::uint32_t dotted_i = 0x130, sigma = 0x3A3;
    if (code == dotted_i) {
      out += "i\u0307";
    } else if (code == sigma) {
      const auto at = static_cast<std::size_t>(character.data() - whole_.data());
      const bool final = ends_word(whole_.substr(0, at), whole_.substr(at + character.size()));
      out += final ? "\u03c2" : "\u03c3";
    } else {
      append_utf8(simple_lower(code), out);
    }
  }

  std::string_view whole_;
  Case which_;
  bool starts_ = true;
};

}  // namespace

std::uint32_t code_of(std::string_view character) {
  return code_point_of(character).value_or(no_character);
}

bool is_letter(std::uint32_t character) {
  return has_category(character, std::array{UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LL, UTF8PROC_CATEGORY_LT,
                                            UTF8PROC_CATEGORY_LM, UTF8PROC_CATEGORY_LO});
}

bool is_decimal(std::uint32_t character) {
  return has_category(character, std::array{UTF8PROC_CATEGORY_ND});
}

bool is_digit(std::uint32_t character) {
  const auto within = [character](std::uint32_t first, std::uint32_t last) {
    return character >= first && character <= last;
  };
  return is_decimal(character) || within(0xB2, 0xB3) || character == 0xB9 || character == 0x2070 ||
         within(0x2074, 0x2079) || within(0x2080, 0x2089) || within(0x2460, 0x2468) ||
         within(0x2474, 0x247C) || within(0x2488, 0x2490);
}

bool is_numeric(std::uint32_t character) {
  return is_digit(character) ||
         has_category(character, std::array{UTF8PROC_CATEGORY_NL, UTF8PROC_CATEGORY_NO});
}

bool is_alphanumeric(std::uint32_t character) {
  return is_letter(character) || is_numeric(character);
}

bool is_space(std::uint32_t character) {
  return (character >= '\t' && character <= '\r') || (character >= 0x1C && character <= 0x1F) ||
         character == 0x85 ||
         has_category(character,
                      std::array{UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZL, UTF8PROC_CATEGORY_ZP});
}

bool is_printable(std::uint32_t character) {
  return character == ' ' ||
         (character < no_character &&
          !has_category(character,
                        std::array{UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CF, UTF8PROC_CATEGORY_CS,
                                   UTF8PROC_CATEGORY_CO, UTF8PROC_CATEGORY_CN, UTF8PROC_CATEGORY_ZS,
                                   UTF8PROC_CATEGORY_ZL, UTF8PROC_CATEGORY_ZP}));
}

MarkedText in_case(MarkedText text, Case which) {
  Changer changer(text.bytes(), which);
  MarkedText out;
  for (const auto& [bytes, quoted] : text.pieces()) {
    std::string changed;
    for (std::string_view rest = bytes; !rest.empty();) {
      const std::string_view character = first_character(rest);
      changer.append(character, changed);
      rest.remove_prefix(character.size());
    }
    out.append(changed, quoted);
  }
  return out;
}

bool is_in_case(std::string_view text, Case which) {
  bool any = false, inside = false;
  for (; !text.empty(); text.remove_prefix(first_character(text).size())) {
    const std::uint32_t code = code_of(first_character(text));
    const bool small = is_small(code), cased = is_cased(code);
    if (cased) {
      const bool wants_small = which == Case::lower || (which == Case::title && inside);
      const bool is_title = cased && !small && !is_capital(code);
      if (small != wants_small || (is_title && which != Case::title)) return false;
    }
    any = any || cased;
    inside = cased;
  }
  return any;
}

}  // namespace spectr::jinja
