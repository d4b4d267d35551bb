#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spectr {

/// How text is normalized before BERT's tokenizer splits it into words.
struct BasicTextOptions {
  bool lower_case = true;
  bool strip_accents = true;
};

/// Splits text into the words of BERT's basic tokenizer (Devlin et al. 2018). White space separates words;
/// punctuation marks, ASCII symbols and Chinese characters are words of their own. Accents are stripped by
/// canonical decomposition (Unicode's normal form D) without nonspacing marks. Control characters and bytes
/// that are not UTF-8 are dropped.
std::vector<std::string> basic_words(std::string_view text, const BasicTextOptions& options);

}  // namespace spectr
