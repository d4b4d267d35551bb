#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "apps/server/requests/fields.h"
#include "spectr/base/token.h"
#include "spectr/text/tokenizer.h"

namespace spectr::server {

/// The text before and after a gap that is to be filled.
struct InfillRequest {
  /// A part of another file, which precedes the rest of the prompt.
  struct Extra {
    std::string file;
    std::string text;
  };

  std::string prefix = {}, suffix = {};
  std::vector<Extra> extra = {};

  /// Reads `input_prefix`, `input_suffix` and `input_extra`. Throws ApiError.
  static InfillRequest read(Fields& fields);
};

/// Returns the body without the sampler `infill`, which editors request and which has no effect here.
JsonInput without_infill_sampler(JsonInput body);

/// Layout of an infill prompt.
struct InfillLayout {
  bool suffix_first = false;  ///< the suffix precedes the prefix
  /// Maximum number of tokens of the prompt; none: unlimited. Truncation drops the beginning of the other
  /// files' parts, and the ends of prefix and suffix farthest from the gap, at a ratio of 3 to 1.
  std::optional<std::size_t> room = {};
};

/// Returns the prompt for filling the gap between prefix and suffix with a completion that begins with
/// `begun`, in llama.cpp's layout. Special tokens in the texts are not parsed. Throws ApiError if the model
/// has no infill tokens.
std::vector<Token> infill_prompt(const InfillRequest& request, const std::string& begun,
                                 const Tokenizer& tokenizer, const InfillLayout& layout);

}  // namespace spectr::server
