#include "spectr/text/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spectr/base/check.h"
#include "spectr/base/names.h"
#include "spectr/gguf/split_file.h"

namespace spectr {
namespace {

/// Texts of tokens that end a text or a turn in published models. Files often name only one of them by id.
constexpr std::string_view end_token_texts[] = {
    "</s>",                                     // Llama 1 and 2, Mistral
    "<|endoftext|>",                            // GPT-2, GPT-NeoX, StarCoder, Qwen
    "<|end_of_text|>",                          // Llama 3, Granite
    "<|eot_id|>",                               // Llama 3, turn
    "<|eom_id|>",                               // Llama 3, message
    "<|im_end|>",                               // ChatML: Qwen, SmolLM
    "<|end|>",                                  // Phi-3
    "<eos>",                                    // Gemma
    "<end_of_turn>",                            // Gemma, turn
    "<end_of_utterance>",                       // SmolVLM
    "\u2581<EOT>",                              // CodeLlama
    "<EOT>",                                    // the same, as some vocabularies write it
    "[EOT]",                                    // Kimi
    "[EOS]",                                    // Kimi
    "<\uFF5Cend\u2581of\u2581sentence\uFF5C>",  // DeepSeek
    // After a completion in the middle of a file: padding,
    "<|fim_pad|>",  // Qwen Coder
    "<fim-pad>",
    "<fim_pad>",  // StarCoder, Granite
    "<PAD>", "[PAD]",
    // the next repository,
    "<|repo_name|>",  // Qwen Coder
    "<|fim_repo|>", "<fim-repo>", "<REPO>",
    "<reponame>",  // Granite
    // and the next file.
    "<|file_sep|>",  // Qwen Coder
};

constexpr std::string_view model_key = "tokenizer.ggml.model";
constexpr std::string_view pre_key = "tokenizer.ggml.pre";
constexpr std::string_view tokens_key = "tokenizer.ggml.tokens";
constexpr std::string_view scores_key = "tokenizer.ggml.scores";
constexpr std::string_view kinds_key = "tokenizer.ggml.token_type";
constexpr std::string_view add_bos_key = "tokenizer.ggml.add_bos_token";
// What ends a text besides eos: a turn, a message, a completion in the middle of a file.
constexpr std::string_view end_keys[] = {
    "tokenizer.ggml.eot_token_id",     "tokenizer.ggml.eom_token_id",     "tokenizer.ggml.fim_pad_token_id",
    "tokenizer.ggml.fim_rep_token_id", "tokenizer.ggml.fim_sep_token_id",
};

Result<TokenizerType> read_type(const Gguf& file) {
  // Of the parts of a split file only the first has a vocabulary.
  if (!file.find(model_key)) SPECTR_TRY_VOID(refuse_split(file));
  SPECTR_TRY(const auto model, file.string(model_key));
  if (model == "llama") return TokenizerType::sentencepiece;
  if (model == "gpt2") return TokenizerType::byte_level;
  return error("{}: {} is {}; only \"llama\" (SentencePiece) and \"gpt2\" (byte-level) can be read",
               file.name(), model_key, quote(model));
}

std::optional<int> hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return std::nullopt;
}

/// The byte that "<0x0A>" names.
std::optional<std::uint8_t> named_byte(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  const auto high = hex_digit(text[3]), low = hex_digit(text[4]);
  if (!high || !low) return std::nullopt;
  return static_cast<std::uint8_t>(*high * 16 + *low);
}

Result<void> check_length(const Gguf& file, std::string_view key, std::size_t length, std::size_t tokens) {
  if (length == tokens) return {};
  return error("{}: {} has {} entries for {} tokens", file.name(), key, length, tokens);
}

}  // namespace

Result<Vocabulary> Vocabulary::load(const Gguf& file) {
  Vocabulary vocabulary;
  vocabulary.source_ = file.name();
  SPECTR_TRY(vocabulary.type_, read_type(file));
  if (vocabulary.type_ == TokenizerType::byte_level) SPECTR_TRY_VOID(vocabulary.read_pretokenizer(file));
  SPECTR_TRY_VOID(vocabulary.read_tokens(file));
  SPECTR_TRY_VOID(vocabulary.read_kinds(file));
  SPECTR_TRY_VOID(vocabulary.read_special(file));
  SPECTR_TRY_VOID(vocabulary.index_bytes(file));
  SPECTR_TRY_VOID(vocabulary.read_additions(file));
  return vocabulary;
}

Result<void> Vocabulary::read_pretokenizer(const Gguf& file) {
  SPECTR_TRY(const auto architecture, file.string("general.architecture", ""));
  const bool old = architecture == "gpt2" || architecture == "gptneox";
  if (!file.find(pre_key) && !old) {
    return error("{}: {} is missing, which says how text is cut into words; convert the model anew",
                 file.name(), pre_key);
  }
  SPECTR_TRY(const auto name, file.string(pre_key, "gpt-2"));
  pretokenizer_ = find_pretokenizer_rule(name);
  if (!pretokenizer_)
    return error("{}: {} is {}, an unknown pre-tokenizer", file.name(), pre_key, quote(name));
  return {};
}

Result<void> Vocabulary::read_tokens(const Gguf& file) {
  SPECTR_TRY(const auto texts, file.strings(tokens_key));
  if (texts.empty()) return error("{}: {} is missing or empty", file.name(), tokens_key);
  if (texts.size() > static_cast<std::size_t>(std::numeric_limits<Token>::max())) {
    return error("{}: {} has {} entries, more than can be numbered", file.name(), tokens_key, texts.size());
  }
  texts_.assign(texts.begin(), texts.end());
  ids_.reserve(texts_.size());
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if (!texts_[i].empty()) ids_.emplace(texts_[i], static_cast<Token>(i));  // of one text the lower id
  }

  SPECTR_TRY(scores_, file.reals(scores_key));
  if (!file.find(scores_key)) scores_.assign(texts_.size(), 0.0F);
  SPECTR_TRY_VOID(check_length(file, scores_key, scores_.size(), texts_.size()));
  const auto strange = std::ranges::find_if(scores_, [](float score) { return std::isnan(score); });
  if (strange != scores_.end()) {
    return error("{}: {} is not a number at {}", file.name(), scores_key, strange - scores_.begin());
  }
  return {};
}

Result<void> Vocabulary::read_kinds(const Gguf& file) {
  const GgufValue* value = file.find(kinds_key);
  kinds_.assign(texts_.size(), TokenKind::normal);
  kinds_given_ = value != nullptr;
  if (!kinds_given_) return {};
  const auto* array = std::get_if<GgufArray>(value);
  if (!array || (array->type != GgufType::i32 && array->type != GgufType::u32))
    return file.wrong_type(kinds_key, "an array of type i32 or u32");
  SPECTR_TRY(const auto numbers, file.integers(kinds_key));
  SPECTR_TRY_VOID(check_length(file, kinds_key, numbers.size(), texts_.size()));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0 || numbers[i] > 6) {
      return error("{}: {} is {} at {}; it must be 0 to 6", file.name(), kinds_key, numbers[i], i);
    }
    if (numbers[i] != 0) kinds_[i] = static_cast<TokenKind>(numbers[i]);
  }
  return {};
}

Result<std::optional<Token>> Vocabulary::special(const Gguf& file, std::string_view key,
                                                 std::optional<Token> fallback) {
  if (file.find(key)) {
    SPECTR_TRY(const auto id, file.integer(key));
    if (id < size()) return static_cast<Token>(id);
    warnings_.push_back(fmt::format("{}: {} is {}, but there are {} tokens; the format's default is taken",
                                    file.name(), key, id, size()));
  }
  const bool inside = fallback && static_cast<std::size_t>(*fallback) < size();
  return inside ? fallback : std::nullopt;
}

Result<void> Vocabulary::read_special(const Gguf& file) {
  const bool spm = type_ == TokenizerType::sentencepiece;
  constexpr Token byte_level_default = 11;  // Falcon's <|endoftext|>
  std::optional<Token> falcon_end;
  if (!spm && byte_level_default < static_cast<Token>(size()) &&
      kind(byte_level_default) == TokenKind::control) {
    falcon_end = byte_level_default;
  }
  SPECTR_TRY(bos_, special(file, "tokenizer.ggml.bos_token_id", spm ? 1 : falcon_end));
  SPECTR_TRY(eos_, special(file, "tokenizer.ggml.eos_token_id", spm ? 2 : falcon_end));
  SPECTR_TRY(unknown_,
             special(file, "tokenizer.ggml.unknown_token_id", spm ? std::optional<Token>(0) : std::nullopt));

  if (eos_) ends_.push_back(*eos_);
  for (const std::string_view key : end_keys) {
    SPECTR_TRY(const auto end, special(file, key, std::nullopt));
    if (end) ends_.push_back(*end);
  }
  for (const std::string_view text : end_token_texts) {
    const auto token = find(text);
    if (!token || (kinds_given_ && kind(*token) == TokenKind::normal)) continue;
    kinds_[static_cast<std::size_t>(*token)] = TokenKind::control;
    ends_.push_back(*token);
  }
  std::ranges::sort(ends_);
  const auto doubles = std::ranges::unique(ends_);
  ends_.erase(doubles.begin(), doubles.end());

  if (!kinds_given_) {
    if (bos_) kinds_[static_cast<std::size_t>(*bos_)] = TokenKind::control;
    for (const Token end : ends_) kinds_[static_cast<std::size_t>(end)] = TokenKind::control;
    if (unknown_) kinds_[static_cast<std::size_t>(*unknown_)] = TokenKind::unknown;
  }
  return {};
}

Result<void> Vocabulary::index_bytes(const Gguf& file) {
  for (std::size_t i = 0; i < size(); ++i) {
    const auto byte = named_byte(texts_[i]);
    if (!kinds_given_ && type_ == TokenizerType::sentencepiece && byte) kinds_[i] = TokenKind::byte;
    if (kinds_[i] != TokenKind::byte) continue;
    if (!byte) {
      return error("{}: {} is {} at {}, which is to be a byte from <0x00> to <0xFF>", file.name(), tokens_key,
                   quote(texts_[i]), i);
    }
    if (!byte_tokens_[*byte]) byte_tokens_[*byte] = static_cast<Token>(i);
  }
  return {};
}

Result<void> Vocabulary::read_additions(const Gguf& file) {
  const bool usual = type_ == TokenizerType::sentencepiece || pretokenizer().add_bos;
  SPECTR_TRY(add_bos_, file.boolean(add_bos_key, usual && bos_));
  if (add_bos_ && !bos_) {
    return error("{}: {} is true, but tokenizer.ggml.bos_token_id is missing", file.name(), add_bos_key);
  }
  return {};
}

std::optional<Token> Vocabulary::find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Token> Vocabulary::find_plain(std::string_view text) const {
  const auto token = find(text);
  if (!token) return std::nullopt;
  const TokenKind found = kind(*token);
  const bool plain = found != TokenKind::control && found != TokenKind::unknown && found != TokenKind::byte;
  return plain ? token : std::nullopt;
}

char Vocabulary::byte(Token token) const {
  SPECTR_CHECK(kind(token) == TokenKind::byte);
  return static_cast<char>(named_byte(text(token)).value());
}

bool Vocabulary::is_end(Token token) const {
  return std::ranges::binary_search(ends_, token);
}

}  // namespace spectr
