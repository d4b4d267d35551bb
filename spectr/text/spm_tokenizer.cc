#include "spectr/text/spm_tokenizer.h"

#include <algorithm>
#include <optional>

#include "spectr/base/utf8.h"
#include "spectr/text/merge_pairs.h"

namespace spectr {
namespace {

constexpr std::string_view visible_space = "\u2581";
// Every merge that is tried costs the length of its text: this bounds it.
constexpr std::size_t longest_merge = 1024;

std::string with_visible_spaces(std::string_view text, bool prefix) {
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  if (prefix) out += visible_space;
  for (const char byte : text) {
    if (byte == ' ') {
      out += visible_space;
    } else {
      out += byte;
    }
  }
  return out;
}

std::string with_spaces(std::string_view text) {
  std::string out;
  for (std::size_t at = text.find(visible_space); at != std::string_view::npos;
       at = text.find(visible_space)) {
    out += text.substr(0, at);
    out += ' ';
    text.remove_prefix(at + visible_space.size());
  }
  out += text;
  return out;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> SpmTokenizer::load(const Gguf& file, Vocabulary vocabulary) {
  SPECTR_TRY(const bool prefix_space, file.boolean("tokenizer.ggml.add_space_prefix", true));
  return std::unique_ptr<Tokenizer>(new SpmTokenizer(std::move(vocabulary), prefix_space));
}

std::string SpmTokenizer::text_piece(std::string_view text) const {
  return with_spaces(text);
}

void SpmTokenizer::encode_plain(std::string_view text, bool first, std::vector<Token>& out) const {
  constexpr int no_token = -1;
  const std::string written = with_visible_spaces(text, first && prefix_space_);
  const auto view = [&](std::size_t begin, std::size_t length) {
    return std::string_view(written).substr(begin, length);
  };
  std::vector<Symbol> symbols;
  symbols.reserve(written.size());
  for (std::size_t at = 0; at < written.size(); at += symbols.back().length) {
    const std::size_t length = first_character(view(at, written.size())).size();
    symbols.push_back({at, length, vocabulary().find_plain(view(at, length)).value_or(no_token)});
  }
  merge_pairs(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
    const std::size_t length = left.length + right.length;
    if (length > longest_merge) return std::nullopt;
    const auto token = vocabulary().find_plain(view(left.begin, length));
    if (!token) return std::nullopt;
    return Merge{-static_cast<double>(vocabulary().score(*token)), *token};
  });
  for (const Symbol& symbol : symbols) {
    if (symbol.id != no_token) {
      out.push_back(symbol.id);
    } else {
      encode_character(view(symbol.begin, symbol.length), out);
    }
  }
}

void SpmTokenizer::encode_character(std::string_view character, std::vector<Token>& out) const {
  const auto byte_token = [&](char byte) { return vocabulary().byte_token(static_cast<std::uint8_t>(byte)); };
  if (std::ranges::all_of(character, [&](char byte) { return byte_token(byte).has_value(); })) {
    for (const char byte : character) out.push_back(*byte_token(byte));
  } else if (vocabulary().unknown()) {
    out.push_back(*vocabulary().unknown());
  }
}

}  // namespace spectr
