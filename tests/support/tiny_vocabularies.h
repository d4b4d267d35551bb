#pragma once

#include <memory>
#include <string_view>

#include "spectr/text/tokenizer.h"
#include "tests/support/gguf_writer.h"

namespace spectr {

/// Returns a SentencePiece vocabulary: 0 <unk>, 1 <s>, 2 </s>, 3 … 258 the bytes, then normal tokens 259 ab,
/// bc, abc, ▁a, ▁ab, 264 ▁, a, b, c by descending score, and the user-defined token 268 <tool>.
GgufWriter tiny_sentencepiece();

/// Returns a byte-level vocabulary: 0 … 255 the alphabet, 256 he, ll, hell, hello, 260 Ġhello, the
/// user-defined token 261 <tool> and the control token 262 <|im_end|>, which is both BOS and EOS.
GgufWriter tiny_byte_level(std::string_view pretokenizer = "gpt-2");

/// Loads a crafted file as "tiny.gguf".
Result<Vocabulary> load_vocabulary(const GgufWriter& writer);
Result<std::unique_ptr<Tokenizer>> load_tokenizer(const GgufWriter& writer);
/// Loads the tokenizer of a file that is known to be valid.
std::unique_ptr<Tokenizer> good_tokenizer(const GgufWriter& writer);

}  // namespace spectr
