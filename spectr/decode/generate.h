#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "spectr/base/choices.h"
#include "spectr/base/result.h"
#include "spectr/decode/decoder.h"
#include "spectr/decode/statistics.h"

namespace spectr {

/// Why a completion ended.
enum class StopReason { eos, limit, word };

std::string_view name(StopReason reason);

struct GenerateOptions {
  std::size_t limit = 256;       ///< tokens to emit at most; the context may end the completion earlier
  std::vector<Token> ends = {};  ///< tokens that end the completion; they are emitted
  std::optional<std::size_t> details = std::nullopt;  ///< as in BlockStart
  bool sampled_alternatives = false;                  ///< as in BlockStart
};

/// What was generated, without the prompt.
struct Generation {
  std::vector<Token> tokens;
  std::vector<Source> sources;  ///< one per token
  StopReason stop = StopReason::limit;
  Statistics statistics;
};

/// Sees every block as it comes. Returns how many of its tokens to keep when the completion shall end within
/// this block (a stop word), nullopt to go on.
using BlockListener = std::function<std::optional<std::size_t>(const Block& block)>;

/// Runs a decoder from a prompt until an end token, the limit, the end of the context, or the listener's
/// word. Requires: a prompt of at least one token; fresh or rewound sessions. Error: the prompt does not fit
/// the context, or a model or plan failed.
Result<Generation> generate(Decoder& decoder, Models& models, std::span<const Token> prompt,
                            const GenerateOptions& options, Choices& choices,
                            const BlockListener& listener = {});

}  // namespace spectr
