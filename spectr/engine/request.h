#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spectr/base/token.h"
#include "spectr/decode/methods.h"
#include "spectr/engine/rules/grammar.h"
#include "spectr/sampling/logit_rule.h"
#include "spectr/sampling/warp.h"
#include "spectr/text/reasoning.h"

namespace spectr {

/// How the reasoning of an answer is split from its content.
struct ReasoningSplit {
  const ReasoningForm* form;
  std::string begun;     ///< the beginning of the answer that the prompt already has
  KeptMarks keeps = {};  ///< what is content with its marks
};

/// How many tokens the reasoning of an answer may take.
struct ReasoningLimit {
  std::size_t tokens;
  std::string message = {};  ///< what is written before the closing mark when they are used up
};

/// A limit on the reasoning of an answer of this form; see ReasoningBudget.
struct LimitedReasoning {
  ReasoningLimit limit;
  ReasoningSplit split;
};

/// What a caller wants generated.
struct Request {
  std::vector<std::vector<Token>> prompts;  ///< at least one; none is empty
  std::size_t n = 1;                        ///< completions of each prompt
  MethodRequest method = {};
  WarpOptions sampling = {};
  std::optional<std::size_t> limit =
      {};  ///< maximum tokens of a completion; none: until it or the context ends
  std::vector<std::string> stop_words = {};
  bool ignore_eos = false;
  /// A completion ends before a line, other than its first, that begins with fewer blanks and tabs.
  std::size_t min_indent = 0;
  /// The time from its first tokens after which a completion ends at its next new line; none: no limit.
  std::optional<std::chrono::milliseconds> line_time = {};
  /// Completion i draws from the stream of random numbers (seed, first_sample + i).
  std::uint64_t seed = 0, first_sample = 0;
  /// The completions depend on the seed alone. Otherwise a request that does not state its load is decoded
  /// with the settings that suit the engine's load.
  bool repeatable = true;
  std::optional<std::size_t> details = {};  ///< report details of each token, with so many alternatives
  bool sampled_alternatives = false;        ///< alternatives of the sampled distribution, not of the model's
  /// Report log-probabilities of the prompt's tokens, with as many alternatives as `details` has; the target
  /// computes the whole prompt then.
  bool score_prompt = false;
  bool cache_prompt = true;                      ///< reuse prefixes that the engine has computed before
  bool report_progress = false;                  ///< report the progress of prompts
  std::optional<ReasoningSplit> reasoning = {};  ///< none: all text is content
  std::optional<LimitedReasoning> limited_reasoning = {};
  std::optional<Constraint> constraint = {};  ///< on the text, see GrammarCompiler
};

/// A method with complete settings and the warp of all distributions, checked against an engine's models.
struct DecodingSettings {
  const MethodRule* method;
  MethodOptions options;
  std::shared_ptr<const Warp> warp;
  std::size_t load = 1;  ///< by which the costs in the options are shared
};

/// Fails if a block of `decoder` can have more than `max_nodes` nodes when `left` tokens may still be
/// emitted.
Result<void> check_block(const Decoder& decoder, std::size_t left, std::size_t max_nodes);

/// A request that an engine has accepted: none of its completions can fail for a reason that was known
/// before. Made by Engine::prepare; immutable.
struct PreparedRequest {
  Request request;
  DecodingSettings decoding;
  std::size_t context;                                       ///< tokens of prompt and completion together
  std::vector<std::shared_ptr<const LogitRule>> rules = {};  ///< of each prompt; null: there is none

  std::size_t completions() const { return request.prompts.size() * request.n; }
  std::span<const Token> prompt_of(std::size_t completion) const {
    return request.prompts[completion / request.n];
  }
  const std::shared_ptr<const LogitRule>& rule_of(std::size_t completion) const {
    return rules[completion / request.n];
  }
  /// Maximum tokens of a completion.
  std::size_t limit_of(std::size_t completion) const {
    const std::size_t room = context - prompt_of(completion).size();
    return std::min(request.limit.value_or(room), room);
  }
  /// Whether the context ends a completion earlier than the request would.
  bool context_limits(std::size_t completion) const {
    return request.limit.value_or(context) > context - prompt_of(completion).size();
  }
};

}  // namespace spectr
