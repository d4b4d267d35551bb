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

/// Token budget of an answer's reasoning.
struct ReasoningLimit {
  std::size_t tokens;
  std::string message = {};  ///< written before the closing mark when the budget is used up
};

/// A limit on the reasoning of answers of this form; see ReasoningBudget.
struct LimitedReasoning {
  ReasoningLimit limit;
  ReasoningSplit split;
};

/// A caller's request for completions.
struct Request {
  std::vector<std::vector<Token>> prompts;  ///< at least one; none is empty
  std::size_t n = 1;                        ///< completions per prompt
  MethodRequest method = {};
  WarpOptions sampling = {};
  std::optional<std::size_t> limit =
      {};  ///< maximum tokens of a completion; none: until it or the context ends
  std::vector<std::string> stop_words = {};
  bool ignore_eos = false;
  /// A completion ends before any line but its first that begins with fewer blanks and tabs.
  std::size_t min_indent = 0;
  /// Time after the first tokens at which a completion ends with its next newline; none: no limit.
  std::optional<std::chrono::milliseconds> line_time = {};
  /// Completion i draws from the random stream (seed, first_sample + i).
  std::uint64_t seed = 0, first_sample = 0;
  /// Completions depend only on the seed. Otherwise, a request that does not state its load is decoded with
  /// settings that suit the engine's current load.
  bool repeatable = true;
  std::optional<std::size_t> details = {};  ///< report details of each token, with this many alternatives
  bool sampled_alternatives = false;        ///< alternatives from the sampled distribution, not the model's
  /// Report log-probabilities of the prompt's tokens, with as many alternatives as `details`. The target then
  /// computes the whole prompt.
  bool score_prompt = false;
  bool cache_prompt = true;                      ///< reuse prefixes that were computed before
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
  std::size_t load = 1;  ///< load that the costs in the options assume
};

/// Fails if a block of `decoder` can exceed `max_nodes` nodes while `left` more tokens may be
/// generated.
Result<void> check_block(const Decoder& decoder, std::size_t left, std::size_t max_nodes);

/// A request that an engine has accepted: its completions cannot fail for reasons that were known before.
/// Created by Engine::prepare(); immutable.
struct PreparedRequest {
  Request request;
  DecodingSettings decoding;
  std::size_t context;                                       ///< tokens of prompt and completion together
  std::vector<std::shared_ptr<const LogitRule>> rules = {};  ///< per prompt; null: no rule

  std::size_t completions() const { return request.prompts.size() * request.n; }
  std::span<const Token> prompt_of(std::size_t completion) const {
    return request.prompts[completion / request.n];
  }
  const std::shared_ptr<const LogitRule>& rule_of(std::size_t completion) const {
    return rules[completion / request.n];
  }
  /// Returns the maximum tokens of a completion.
  std::size_t limit_of(std::size_t completion) const {
    const std::size_t room = context - prompt_of(completion).size();
    return std::min(request.limit.value_or(room), room);
  }
  /// True if the context ends a completion before the request's limit.
  bool context_limits(std::size_t completion) const {
    return request.limit.value_or(context) > context - prompt_of(completion).size();
  }
};

}  // namespace spectr
