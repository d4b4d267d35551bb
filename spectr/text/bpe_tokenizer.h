#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/bpe_merges.h"
#include "spectr/text/merge_pairs.h"
#include "spectr/text/pretokenizer.h"
#include "spectr/text/tokenizer.h"

namespace spectr {

/// Byte-level byte-pair encoding (Radford et al. 2019): text is split into words by a rule, a word's bytes
/// are written in an alphabet of 256 characters, and adjacent symbols are merged in the order of the merge
/// list. If the vocabulary asks for it, the text is composed first. A merge that is not a token is split into
/// bytes again; bytes that are not tokens are dropped.
class BpeTokenizer final : public Tokenizer {
 public:
  /// Fails as BpeMerges::load().
  static Result<std::unique_ptr<Tokenizer>> load(const Gguf& file, Vocabulary vocabulary);

 private:
  BpeTokenizer(Vocabulary vocabulary, BpeMerges merges);
  std::string text_piece(std::string_view text) const override;
  void encode_plain(std::string_view text, bool first, std::vector<Token>& out) const override;
  void encode_word(std::string_view word, std::vector<Symbol>& symbols, std::vector<Token>& out) const;
  bool is_token(int symbol) const { return static_cast<std::size_t>(symbol) < vocabulary().size(); }

  Pretokenizer pretokenizer_;
  bool whole_words_;
  BpeMerges merges_;
  std::array<int, 256> byte_symbols_;
};

}  // namespace spectr
