#include "spectr/engine/engine.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "spectr/decode/costs/best_shape.h"
#include "spectr/engine/rules/reasoning_budget.h"
#include "spectr/engine/rules/sequence_breakers.h"

namespace spectr {
namespace {

constexpr std::size_t max_completions = 128;  // of one request

/// Fails if a bias is for a token that does not exist, or all tokens are forbidden.
Result<void> check_biases(const WarpOptions& sampling, std::size_t vocabulary) {
  std::set<Token> forbidden;
  for (const auto& [token, bias] : sampling.logit_bias) {
    if (token < 0 || static_cast<std::size_t>(token) >= vocabulary)
      return error("logit_bias: token {} is outside the vocabulary of {}", token, vocabulary);
    if (std::isinf(bias)) forbidden.insert(token);
  }
  if (forbidden.size() >= vocabulary) return error("'logit_bias' forbids every token");
  return {};
}

/// Applies two rules in order.
class BothRules final : public LogitRule {
 public:
  BothRules(std::shared_ptr<const LogitRule> first, std::shared_ptr<const LogitRule> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  Result<void> apply(std::span<const Token> sequence, std::span<double> logits) const override {
    SPECTR_TRY_VOID(first_->apply(sequence, logits));
    return second_->apply(sequence, logits);
  }

 private:
  std::shared_ptr<const LogitRule> first_, second_;
};

}  // namespace

Result<void> check_block(const Decoder& decoder, std::size_t left, std::size_t max_nodes) {
  const std::size_t nodes = decoder.max_nodes(left);
  if (nodes <= max_nodes) return {};
  return error("a block of {} drafted tokens is too large, at most {} are allowed", nodes - 1, max_nodes - 1);
}

Result<std::unique_ptr<Engine>> Engine::load(EngineOptions options) {
  if (options.cost_file && options.slims_drafts)
    options.models.load = options.cost_file->with_slim_drafts(std::move(options.models.load));
  SPECTR_TRY(EngineModels models, EngineModels::load(options.models));
  return start(std::make_shared<const EngineModels>(std::move(models)), std::move(options));
}

Result<std::unique_ptr<Engine>> Engine::start(std::shared_ptr<const EngineModels> models,
                                              EngineOptions options) {
  std::unique_ptr<Engine> engine(new Engine(std::move(models), std::move(options)));
  SPECTR_TRY_VOID(engine->slots_->start());
  return engine;
}

Engine::Engine(std::shared_ptr<const EngineModels> models, EngineOptions options)
    : models_(std::move(models)),
      options_(std::move(options)),
      profiles_(options_.profile ? 1 + models_->drafts.size() : 0),
      slots_(std::make_unique<SlotPool>(*models_, options_.slots, profiles_)) {}

Engine::~Engine() = default;

Result<std::shared_ptr<const Costs>> Engine::measured_costs() const {
  const std::lock_guard lock(costs_mutex_);
  if (costs_ || !can_measure()) return costs_;
  if (options_.costs) {
    SPECTR_TRY(costs_, options_.costs(*models_));
  } else {
    SPECTR_TRY(costs_, options_.cost_file->costs(*models_->target, models_->draft_models(),
                                                 models_->pool->threads(), models_->trained.get()));
  }
  slots_->adapt_to(*costs_);
  return costs_;
}

Result<void> Engine::measure_costs() {
  SPECTR_TRY_VOID(measured_costs());
  return {};
}

Result<void> Engine::keep(const CompletionResult& completion) const {
  if (!options_.cost_file) return {};
  return options_.cost_file->keep(*models_->target, models_->draft_models(), models_->pool->threads(),
                                  completion.cost_check, completion.learned, models_->trained.get());
}

std::shared_ptr<const Costs> Engine::costs() const {
  const std::lock_guard lock(costs_mutex_);
  return costs_;
}

Result<DecodingSettings> Engine::resolve(const MethodRequest& method, const WarpOptions& sampling,
                                         std::size_t load) const {
  const std::size_t drafts = models_->draft_count(), vocabulary = models_->target->vocabulary();
  std::shared_ptr<const Costs> costs = this->costs();
  const bool on_demand = can_measure() && options_.measures_on_demand;
  SPECTR_TRY(const MethodRule* rule, method.rule(drafts, costs != nullptr || on_demand));
  if (drafts < rule->models.min) return error("method {} needs a draft model, none is loaded", rule->name);
  WarpOptions complete = sampling;
  if (complete.dry.is_on()) {
    SPECTR_TRY(complete.dry.breakers, find_sequence_breakers(complete.dry, *models_->tokenizer));
  }
  SPECTR_TRY(Warp made, Warp::make(std::move(complete)));
  const auto warp = std::make_shared<const Warp>(std::move(made));
  SPECTR_TRY_VOID(check_biases(sampling, vocabulary));
  SPECTR_TRY_VOID(check_tuples(*rule, method.settings(), warp->options(), vocabulary));
  const bool needs_costs = rule->reads(Setting::costs);
  if (!costs && on_demand && (needs_costs || leaves_shape_open(*rule, method))) {
    SPECTR_TRY(costs, measured_costs());
  }
  if (!costs && needs_costs)
    return error("method {} is not available: what passes cost has not been measured", rule->name);
  MethodRequest request = method;
  if (!request.load) request.load = load;
  const std::optional<std::size_t> max_nodes = options_.slots.max_nodes;
  DecodingSettings settings{rule, settings_by_costs(*rule, request, costs, *warp, vocabulary, max_nodes),
                            warp, *request.load};
  if (rule->reads(Setting::suffix_reach)) settings.options.corpus = models_->corpus;
  SPECTR_TRY(const Decoder decoder, make_decoder(*rule, settings.options));
  if (max_nodes) SPECTR_TRY_VOID(check_block(decoder, models_->context, *max_nodes));
  SPECTR_TRY_VOID(check_tuples(*rule, settings.options, warp->options(), vocabulary));
  return settings;
}

Result<std::shared_ptr<const Grammar>> Engine::compile(const Constraint& constraint) const {
  {
    const std::lock_guard lock(grammar_mutex_);
    if (!grammars_) {
      SPECTR_TRY(grammars_, GrammarCompiler::make(*models_->tokenizer, models_->target->vocabulary()));
    }
  }
  return grammars_->compile(constraint);
}

Result<std::vector<std::shared_ptr<const LogitRule>>> Engine::rules_of(const Request& request) const {
  std::vector<std::shared_ptr<const LogitRule>> rules(request.prompts.size());
  std::shared_ptr<const Grammar> grammar;
  std::shared_ptr<const GrammarTriggers> triggers;
  if (request.constraint) {
    if (!request.constraint->triggers.empty()) {
      SPECTR_TRY(triggers, GrammarTriggers::make(request.constraint->triggers, "grammar_triggers"));
    }
    SPECTR_TRY(grammar, compile(*request.constraint));
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::size_t prompt = request.prompts[i].size();
    std::shared_ptr<const LogitRule> budget, constraint;
    if (request.limited_reasoning) {
      SPECTR_TRY(budget, ReasoningBudget::make(*models_->tokenizer, prompt, *request.limited_reasoning));
    }
    if (grammar) {
      constraint = grammar_rule(grammar, *models_->tokenizer, prompt, request.constraint->after, triggers);
    }
    rules[i] = budget && constraint ? std::make_shared<const BothRules>(budget, constraint)
               : budget             ? budget
                                    : constraint;
  }
  return rules;
}

Result<std::shared_ptr<const PreparedRequest>> Engine::prepare(Request request) const {
  SPECTR_TRY_VOID(check_generates(models_->target->spec()));
  const std::size_t completions = request.prompts.size() * request.n;
  if (request.prompts.empty() || request.n == 0) return error("the request has no prompt");
  if (completions > max_completions)
    return error("prompts × n ('n': {}) must be at most {}, got {}", request.n, max_completions, completions);
  for (const std::vector<Token>& prompt : request.prompts) {
    if (prompt.empty()) return error("the prompt has no tokens");
    if (prompt.size() > context())
      return error(ErrorCode::context_full, "the prompt has {} tokens, but the context holds {}",
                   prompt.size(), context());
    const auto unknown = std::ranges::find_if(prompt, [this](Token token) {
      return token < 0 || static_cast<std::size_t>(token) >= models_->target->vocabulary();
    });
    if (unknown != prompt.end()) return error("token {} of the prompt is outside the vocabulary", *unknown);
  }
  const std::size_t expected = std::min(options_.slots.slots, slots_->unfinished() + completions);
  const std::size_t load = request.repeatable ? 1 : std::max<std::size_t>(expected, 1);
  SPECTR_TRY(DecodingSettings decoding, resolve(request.method, request.sampling, load));
  SPECTR_TRY(auto rules, rules_of(request));
  return std::make_shared<const PreparedRequest>(
      PreparedRequest{std::move(request), std::move(decoding), context(), std::move(rules)});
}

std::shared_ptr<Completion> Engine::submit(std::shared_ptr<const PreparedRequest> request,
                                           Completion::Listener listener) {
  return slots_->submit(std::move(request), std::move(listener));
}

}  // namespace spectr
