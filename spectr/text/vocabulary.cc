#include "spectr/text/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "spectr/base/check.h"
#include "spectr/base/names.h"
#include "spectr/gguf/split_file.h"
#include "spectr/text/known_tokens.h"

namespace spectr {
namespace {

constexpr std::string_view model_key = "tokenizer.ggml.model";
constexpr std::string_view pre_key = "tokenizer.ggml.pre";
constexpr std::string_view tokens_key = "tokenizer.ggml.tokens";
constexpr std::string_view scores_key = "tokenizer.ggml.scores";
constexpr std::string_view kinds_key = "tokenizer.ggml.token_type";
constexpr std::string_view add_bos_key = "tokenizer.ggml.add_bos_token";
// Keys of end tokens other than eos: of a turn, of a message, of an infilled completion.
constexpr std::string_view end_keys[] = {
    "tokenizer.ggml.eot_token_id",
    "tokenizer.ggml.eom_token_id",
    "tokenizer.ggml.fim_pad_token_id",
};

/// The keys of an infill token in the file, and the texts that identify it.
struct InfillSource {
  std::optional<Token> InfillTokens::* token;
  std::string_view key, older_key;  // the latter may be empty
  std::span<const std::string_view> texts;
};
constexpr InfillSource infill_sources[] = {
    {&InfillTokens::prefix, "tokenizer.ggml.fim_pre_token_id", "tokenizer.ggml.prefix_token_id",
     infill_prefix_texts},
    {&InfillTokens::suffix, "tokenizer.ggml.fim_suf_token_id", "tokenizer.ggml.suffix_token_id",
     infill_suffix_texts},
    {&InfillTokens::middle, "tokenizer.ggml.fim_mid_token_id", "tokenizer.ggml.middle_token_id",
     infill_middle_texts},
    {&InfillTokens::repository, "tokenizer.ggml.fim_rep_token_id", "", infill_repository_texts},
    {&InfillTokens::file, "tokenizer.ggml.fim_sep_token_id", "", infill_file_texts},
};

Result<TokenizerType> read_type(const Gguf& file) {
  // Only the first part of a split file has a vocabulary.
  if (!file.find(model_key)) SPECTR_TRY_VOID(refuse_split(file));
  SPECTR_TRY(const auto model, file.string(model_key));
  if (model == "llama") return TokenizerType::sentencepiece;
  if (model == "gpt2") return TokenizerType::byte_level;
  if (model == "gemma4") return TokenizerType::character_bpe;
  if (model == "bert") return TokenizerType::word_piece;
  return error(ErrorCode::unsupported,
               "{}: {} is {}; \"llama\" (SentencePiece), \"gpt2\" (byte-level), \"gemma4\" and \"bert\" "
               "(WordPiece) can be read",
               file.name(), model_key, quote(model));
}

std::optional<int> hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return std::nullopt;
}

/// Returns the byte that "<0x0A>" names.
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
  SPECTR_TRY_VOID(vocabulary.read_trimming(file));
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
    return error(ErrorCode::unsupported, "{}: {} is {}, an unknown pre-tokenizer", file.name(), pre_key,
                 quote(name));
  composes_ = pretokenizer_->composes || architecture == "gptneox";
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
    if (!texts_[i].empty()) ids_.emplace(texts_[i], static_cast<Token>(i));  // the lower id wins
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
  const bool byte_level = type_ == TokenizerType::byte_level;
  constexpr Token byte_level_default = 11;  // Falcon's <|endoftext|>
  std::optional<Token> falcon_end;
  if (byte_level && byte_level_default < static_cast<Token>(size()) &&
      kind(byte_level_default) == TokenKind::control) {
    falcon_end = byte_level_default;
  }
  if (type_ == TokenizerType::word_piece) {
    // [CLS] is the beginning token in newer files; the key of [SEP] is misspelled in the format.
    SPECTR_TRY(const auto cls, special(file, "tokenizer.ggml.cls_token_id", 101));
    SPECTR_TRY(bos_, special(file, "tokenizer.ggml.bos_token_id", cls));
    SPECTR_TRY(eos_, special(file, "tokenizer.ggml.seperator_token_id", 102));
    SPECTR_TRY(unknown_, special(file, "tokenizer.ggml.unknown_token_id", 100));
  } else {
    SPECTR_TRY(bos_, special(file, "tokenizer.ggml.bos_token_id", spm ? 1 : falcon_end));
    SPECTR_TRY(eos_, special(file, "tokenizer.ggml.eos_token_id", spm ? 2 : falcon_end));
    SPECTR_TRY(unknown_, special(file, "tokenizer.ggml.unknown_token_id",
                                 spm ? std::optional<Token>(0) : std::nullopt));
  }

  SPECTR_TRY_VOID(read_infill(file));
  SPECTR_TRY_VOID(read_ends(file));
  if (!kinds_given_) {
    if (bos_) kinds_[static_cast<std::size_t>(*bos_)] = TokenKind::control;
    for (const Token end : ends_) kinds_[static_cast<std::size_t>(end)] = TokenKind::control;
    if (unknown_) kinds_[static_cast<std::size_t>(*unknown_)] = TokenKind::unknown;
  }
  return {};
}

std::optional<Token> Vocabulary::known(std::string_view text) const {
  const auto token = find(text);
  return token && kinds_given_ && kind(*token) == TokenKind::normal ? std::nullopt : token;
}

/// Reads infill tokens. Those known by their text become control tokens: code may contain the text.
Result<void> Vocabulary::read_infill(const Gguf& file) {
  for (const InfillSource& source : infill_sources) {
    std::optional<Token>& token = infill_.*source.token;
    for (const std::string_view key : {source.key, source.older_key}) {
      if (token || key.empty()) continue;
      SPECTR_TRY(token, special(file, key, std::nullopt));
    }
    for (const std::string_view text : source.texts) {
      if (token) break;
      token = known(text);
      if (token) kinds_[static_cast<std::size_t>(*token)] = TokenKind::control;
    }
  }
  return {};
}

Result<void> Vocabulary::read_ends(const Gguf& file) {
  if (eos_) ends_.push_back(*eos_);
  for (const std::string_view key : end_keys) {
    SPECTR_TRY(const auto end, special(file, key, std::nullopt));
    if (end) ends_.push_back(*end);
  }
  for (const std::optional<Token> next : {infill_.repository, infill_.file}) {
    if (next) ends_.push_back(*next);
  }
  const auto ends_nothing = [&](std::string_view text) {
    return std::ranges::any_of(no_ends, [&](const NoEnd& no_end) {
      const auto is_there = [&](std::string_view other) { return known(other).has_value(); };
      return no_end.text == text && std::ranges::all_of(no_end.where, is_there);
    });
  };
  for (const std::string_view text : end_token_texts) {
    const auto token = known(text);
    if (!token) continue;
    if (token != eos_ && ends_nothing(text)) {
      std::erase(ends_, *token);
      markers_.push_back(*token);
    } else {
      kinds_[static_cast<std::size_t>(*token)] = TokenKind::control;
      ends_.push_back(*token);
    }
  }
  for (const std::string_view text : marker_texts) {
    if (const auto token = known(text)) markers_.push_back(*token);
  }
  for (std::vector<Token>* tokens : {&ends_, &markers_}) {
    std::ranges::sort(*tokens);
    const auto doubles = std::ranges::unique(*tokens);
    tokens->erase(doubles.begin(), doubles.end());
  }
  return {};
}

/// GGUF has no field for rstrip, which Phi-3's tokenizer.json sets. Phi-3 is identified by its name, as in
/// llama.cpp, or by its architecture, of which no other model has a SentencePiece vocabulary.
Result<void> Vocabulary::read_trimming(const Gguf& file) {
  SPECTR_TRY(const auto given, file.string("general.name", ""));
  SPECTR_TRY(const auto architecture, file.string("general.architecture", ""));
  std::string name(given);
  std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  trims_ = name.contains("phi-3") || name.contains("phi3") || name.contains("phi 3") ||
           (architecture == "phi3" && type_ == TokenizerType::sentencepiece);
  return {};
}

Result<void> Vocabulary::index_bytes(const Gguf& file) {
  for (std::size_t i = 0; i < size(); ++i) {
    const auto byte = named_byte(texts_[i]);
    if (!kinds_given_ && type_ != TokenizerType::byte_level && byte) kinds_[i] = TokenKind::byte;
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
  const bool usual = type_ != TokenizerType::byte_level || pretokenizer().add_bos;
  SPECTR_TRY(add_bos_, file.boolean(add_bos_key, usual && bos_));
  const bool word_piece = type_ == TokenizerType::word_piece;
  // Gemma 4 needs it, although some of its files say otherwise. WordPiece files do not say.
  if (type_ == TokenizerType::character_bpe || word_piece) add_bos_ = bos_.has_value();
  SPECTR_TRY(const bool ends, file.boolean("tokenizer.ggml.add_eos_token", word_piece));
  add_eos_ = (ends || word_piece) && eos_;
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

bool Vocabulary::is_printed(Token token) const {
  const TokenKind found = kind(token);
  if (found == TokenKind::control) return std::ranges::binary_search(markers_, token);
  return found != TokenKind::unknown && found != TokenKind::unused;
}

bool Vocabulary::trims_after(Token token) const {
  constexpr std::string_view others[] = {"<unk>", "<s>", "<|endoftext|>"};
  return trims_ && std::ranges::find(others, text(token)) == std::end(others);
}

char Vocabulary::byte(Token token) const {
  SPECTR_CHECK(kind(token) == TokenKind::byte);
  return static_cast<char>(named_byte(text(token)).value());
}

bool Vocabulary::is_end(Token token) const {
  return std::ranges::binary_search(ends_, token);
}

}  // namespace spectr
