#include "spectr/text/spm_tokenizer.h"

#include <optional>

#include "spectr/base/utf8.h"
#include "spectr/text/merge_pairs.h"
#include "spectr/text/visible_space.h"

namespace spectr {
namespace {

// Each attempted merge costs the length of its text; this bounds it.
constexpr std::size_t longest_merge = 1024;

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
      encode_bytes(view(symbol.begin, symbol.length), out);
    }
  }
}

}  // namespace spectr
