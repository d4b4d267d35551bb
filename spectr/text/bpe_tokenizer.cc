#include "spectr/text/bpe_tokenizer.h"

#include <algorithm>
#include <optional>

#include "spectr/base/names.h"
#include "spectr/base/utf8.h"
#include "spectr/text/byte_alphabet.h"

namespace spectr {
namespace {

constexpr std::string_view merges_key = "tokenizer.ggml.merges";

std::string in_alphabet(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) append_alphabet_character(static_cast<unsigned char>(byte), out);
  return out;
}

/// The bytes that a text in the alphabet stands for; characters outside the alphabet stand for themselves.
std::string from_alphabet(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    if (const auto byte = alphabet_byte(character)) {
      out += *byte;
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::uint64_t pair_of(int left, int right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}

/// Numbers the texts that occur in merges: tokens by their id, others from the size of the vocabulary on.
class SymbolTable {
 public:
  explicit SymbolTable(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  int number(std::string_view text) {
    if (const auto token = vocabulary_.find_plain(text)) return *token;
    const auto next = static_cast<int>(vocabulary_.size() + others_.size());
    return others_.emplace(std::string(text), next).first->second;
  }

 private:
  const Vocabulary& vocabulary_;
  std::unordered_map<std::string, int, KeyedHash> others_;
};

}  // namespace

BpeTokenizer::BpeTokenizer(Vocabulary words)
    : Tokenizer(std::move(words)),
      pretokenizer_(vocabulary().pretokenizer()),
      whole_words_(vocabulary().pretokenizer().whole_words) {}

Result<std::unique_ptr<Tokenizer>> BpeTokenizer::load(const Gguf& file, Vocabulary vocabulary) {
  std::unique_ptr<BpeTokenizer> tokenizer(new BpeTokenizer(std::move(vocabulary)));
  SPECTR_TRY_VOID(tokenizer->read_merges(file));
  return tokenizer;
}

Result<void> BpeTokenizer::read_merges(const Gguf& file) {
  if (!file.find(merges_key)) return error("{}: {} is missing", file.name(), merges_key);
  SPECTR_TRY(const auto merges, file.strings(merges_key));
  SymbolTable symbols(vocabulary());
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char character = static_cast<char>(byte);
    byte_symbols_[byte] = symbols.number(in_alphabet({&character, 1}));
  }
  merges_.reserve(merges.size());
  std::string joined;
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const std::string_view pair = merges[rank];
    const std::size_t space = pair.find(' ', 1);
    if (space == std::string_view::npos || space + 1 == pair.size()) {
      return error("{}: {} is {} at {}, not two texts with a space between", file.name(), merges_key,
                   quote(pair), rank);
    }
    const std::string_view left = pair.substr(0, space), right = pair.substr(space + 1);
    joined.assign(left).append(right);
    merges_.emplace(pair_of(symbols.number(left), symbols.number(right)),
                    Merge{static_cast<double>(rank), symbols.number(joined)});
  }
  return {};
}

std::string BpeTokenizer::text_piece(std::string_view text) const {
  return from_alphabet(text);
}

void BpeTokenizer::encode_plain(std::string_view text, bool /*first*/, std::vector<Token>& out) const {
  std::vector<Symbol> symbols;
  for (const std::string_view word : pretokenizer_.split(text)) encode_word(word, symbols, out);
}

void BpeTokenizer::encode_word(std::string_view word, std::vector<Symbol>& symbols,
                               std::vector<Token>& out) const {
  if (whole_words_) {
    if (const auto token = vocabulary().find_plain(in_alphabet(word))) {
      out.push_back(*token);
      return;
    }
  }
  const auto byte_symbol = [&](std::size_t at) {
    return byte_symbols_[static_cast<unsigned char>(word[at])];
  };
  symbols.clear();
  for (std::size_t at = 0; at < word.size(); ++at) symbols.push_back({at, 1, byte_symbol(at)});
  merge_pairs(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
    const auto found = merges_.find(pair_of(left.id, right.id));
    return found == merges_.end() ? std::nullopt : std::optional(found->second);
  });
  for (const Symbol& symbol : symbols) {
    if (is_token(symbol.id)) {
      out.push_back(symbol.id);
      continue;
    }
    for (std::size_t at = symbol.begin; at < symbol.begin + symbol.length; ++at) {
      if (is_token(byte_symbol(at))) out.push_back(byte_symbol(at));
    }
  }
}

}  // namespace spectr
