#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spectr/base/token.h"
#include "spectr/decode/methods.h"
#include "spectr/sampling/warp.h"

namespace spectr::server {

/// One text to generate. Checked: the method's decoder can be made, the prompt fits the context.
struct Task {
  std::vector<Token> prompt;  ///< never empty
  const MethodRule* method;
  MethodOptions settings;
  std::shared_ptr<const Warp> warp;  ///< of all texts of a request: biases may be many
  std::size_t limit;                 ///< most tokens to generate
  bool ignore_eos = false;
  std::vector<std::string> stop_words = {};
  std::uint64_t seed = 0;
  std::uint64_t sample = 0;                 ///< which of several texts of one seed
  std::optional<std::size_t> details = {};  ///< tell each token's details, with so many alternatives
  bool cache_prompt = true;                 ///< use what the slot still knows of the prompt
};

}  // namespace spectr::server
