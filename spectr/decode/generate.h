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

/// The reason why a completion ended.
enum class StopReason { eos, limit, word };

std::string_view name(StopReason reason);

struct GenerateOptions {
  std::size_t limit = 256;       ///< maximum tokens to emit; the context can end the completion earlier
  std::vector<Token> ends = {};  ///< tokens that end the completion; they are emitted
  std::optional<std::size_t> details = std::nullopt;  ///< as in BlockStart
  bool sampled_alternatives = false;                  ///< as in BlockStart
};

/// A completion, without the prompt.
struct Generation {
  std::vector<Token> tokens;
  std::vector<Source> sources;  ///< one per token
  StopReason stop = StopReason::limit;
  Statistics statistics;
};

/// A callback for every block. Returns how many of its tokens to keep if the completion ends within this
/// block (a stop word), or nullopt to continue.
using BlockListener = std::function<std::optional<std::size_t>(const Block& block)>;

/// Runs a decoder from a prompt until an end token, the limit, the end of the context, or the listener stops
/// it. Requires: a prompt of at least one token; fresh or rewound sessions. Fails if the prompt does not fit
/// the context, or if a model or plan fails.
Result<Generation> generate(Decoder& decoder, Models& models, std::span<const Token> prompt,
                            const GenerateOptions& options, Choices& choices,
                            const BlockListener& listener = {});

}  // namespace spectr
