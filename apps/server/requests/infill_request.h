#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "apps/server/requests/fields.h"
#include "spectr/base/token.h"
#include "spectr/text/tokenizer.h"

namespace spectr::server {

/// The surroundings of a gap that is to be filled.
struct InfillRequest {
  /// A part of another file, which the model is shown first.
  struct Extra {
    std::string file;
    std::string text;
  };

  std::string prefix = {}, suffix = {};
  std::vector<Extra> extra = {};

  /// Reads `input_prefix`, `input_suffix` and `input_extra`. Throws ApiError.
  static InfillRequest read(Fields& fields);
};

/// Returns a body without the sampler `infill`, which editors name and which does nothing here.
JsonInput without_infill_sampler(JsonInput body);

/// How the prompt of an infill request is laid out.
struct InfillLayout {
  bool suffix_first = false;  ///< the suffix stands before the prefix
  /// Tokens of the prompt at most. What is left out then: the beginning of what other files have, and of
  /// prefix and suffix, three to one, what is farthest from the gap. None: all of it is there.
  std::optional<std::size_t> room = {};
};

/// Returns the prompt for what stands between prefix and suffix and begins with `begun`, laid out as
/// llama.cpp does it. Nothing of the texts becomes a control token. Throws ApiError if the model has no
/// tokens for it.
std::vector<Token> infill_prompt(const InfillRequest& request, const std::string& begun,
                                 const Tokenizer& tokenizer, const InfillLayout& layout);

}  // namespace spectr::server
