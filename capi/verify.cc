#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capi/guard.h"
#include "spectr/base/counter_random.h"
#include "spectr/decode/array_verifier.h"
#include "spectr/decode/methods.h"
#include "spectr/decode/pair_distribution.h"

struct spectr_verifier {
  spectr::ArrayVerifier verifier;
};

namespace {

using namespace spectr;
using namespace spectr::capi;

constexpr std::size_t max_numbers = std::numeric_limits<std::size_t>::max() / sizeof(double);

Result<NumberRows> rows_of(const spectr_rows& rows, std::size_t vocabulary, std::string_view name) {
  SPECTR_TRY_VOID(need_vocabulary(vocabulary));
  if (rows.count > max_numbers / vocabulary)
    return error("{} has {} rows of {} numbers, which no array can have", name, rows.count, vocabulary);
  const std::size_t numbers = rows.count * vocabulary;
  if ((rows.f32 == nullptr) == (rows.f64 == nullptr) && (rows.f32 != nullptr || numbers > 0))
    return error("{}: exactly one of f32 and f64 must be given", name);
  if (rows.f32 != nullptr) return NumberRows{std::span(rows.f32, numbers), vocabulary};
  return NumberRows{std::span(rows.f64, numbers), vocabulary};
}

std::span<const std::int32_t> list_of(const std::int32_t* values, std::size_t count) {
  return values == nullptr ? std::span<const std::int32_t>() : std::span(values, count);
}

Result<void> verify_arrays(const spectr_verifier* verifier, std::size_t vocabulary, const spectr_tree& tree,
                           const spectr_rows& target_probs, const spectr_stream* stream, std::int32_t* tokens,
                           std::int32_t* path, std::size_t* emitted) {
  SPECTR_TRY_VOID(need(verifier, "verifier"));
  SPECTR_TRY_VOID(need(stream, "stream"));
  SPECTR_TRY_VOID(need(tokens, "tokens"));
  SPECTR_TRY_VOID(need(emitted, "emitted"));
  *emitted = 0;
  if (tree.count > 0) SPECTR_TRY_VOID(need(tree.tokens, "the array of drafted tokens"));
  if (tree.count > ArrayVerifier::max_draws) {
    return error("a block of {} drafts is too large, at most {} are allowed", tree.count,
                 ArrayVerifier::max_draws);
  }
  DraftArrays draft{.tokens = list_of(tree.tokens, tree.count),
                    .parents = list_of(tree.parents, tree.count),
                    .multiplicities = list_of(tree.multiplicities, tree.count),
                    .rows = list_of(tree.rows, tree.count),
                    .probabilities = {{}, vocabulary}};
  if (tree.count > 0) {
    SPECTR_TRY(draft.probabilities, rows_of(tree.draft_probs, vocabulary, "draft_probs"));
  }
  TargetArrays target{.rows = {{}, vocabulary}};
  SPECTR_TRY(target.rows, rows_of(target_probs, vocabulary, "target_probs"));
  CounterRandom random(stream->seed, stream->stream);
  SPECTR_TRY(const ArrayVerdict verdict,
             verifier->verifier.verify(draft, target, {.block = stream->block}, random));
  std::ranges::copy(verdict.tokens, tokens);
  if (path != nullptr) {
    std::ranges::transform(verdict.path, path,
                           [](std::size_t entry) { return static_cast<std::int32_t>(entry); });
  }
  *emitted = verdict.tokens.size();
  return {};
}

}  // namespace

bool spectr_method_at(size_t index, spectr_method_info* info) {
  const std::span<const MethodRule> rules = method_rules();
  if (info == nullptr || index >= rules.size()) return false;
  const MethodRule& rule = rules[index];
  *info = {.name = c_string(rule.name),
           .summary = c_string(rule.summary),
           .plan = c_string(rule.plan),
           .lossless = rule.lossless,
           .verifies_arrays = ArrayVerifier::make(rule.name).has_value()};
  return true;
}

spectr_status spectr_verifier_new(const char* method, const spectr_verifier_options* options,
                                  spectr_verifier** verifier, spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(verifier, "verifier"));
    *verifier = nullptr;
    SPECTR_TRY_VOID(need(method, "method"));
    MethodOptions chosen;
    if (options != nullptr) {
      if (options->plan != nullptr) chosen.plan = options->plan;
      chosen.epsilon = options->epsilon;
      chosen.rounds = options->rounds;
      chosen.look = options->look;
    }
    SPECTR_TRY(ArrayVerifier made, ArrayVerifier::make(method, chosen));
    *verifier = new spectr_verifier{std::move(made)};
    return {};
  });
}

void spectr_verifier_free(spectr_verifier* verifier) {
  delete verifier;
}

bool spectr_verifier_is_lossless(const spectr_verifier* verifier) {
  return verifier != nullptr && verifier->verifier.lossless();
}

spectr_status spectr_verify(const spectr_verifier* verifier, size_t vocabulary, size_t n,
                            const int32_t* draft_tokens, spectr_rows draft_probs, spectr_rows target_probs,
                            const spectr_stream* stream, int32_t* tokens, size_t* emitted,
                            spectr_error* error) {
  return guarded(error, [&] {
    const spectr_tree chain{n, draft_tokens, nullptr, nullptr, nullptr, draft_probs};
    return verify_arrays(verifier, vocabulary, chain, target_probs, stream, tokens, nullptr, emitted);
  });
}

spectr_status spectr_verify_tree(const spectr_verifier* verifier, size_t vocabulary, const spectr_tree* tree,
                                 spectr_rows target_probs, const spectr_stream* stream, int32_t* tokens,
                                 int32_t* path, size_t* emitted, spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(tree, "tree"));
    return verify_arrays(verifier, vocabulary, *tree, target_probs, stream, tokens, path, emitted);
  });
}

spectr_status spectr_law(const char* method, const spectr_law_options* options, const double* draft,
                         const double* target, size_t vocabulary, size_t steps, int32_t start, size_t horizon,
                         spectr_law_result* result, double* distribution, spectr_error* error) {
  return guarded(error, [&]() -> Result<void> {
    SPECTR_TRY_VOID(need(method, "method"));
    SPECTR_TRY_VOID(need(draft, "draft"));
    SPECTR_TRY_VOID(need(target, "target"));
    SPECTR_TRY_VOID(need(result, "result"));
    constexpr std::size_t max_vocabulary = 1000;
    if (vocabulary < 1 || vocabulary > max_vocabulary)
      return spectr::error("vocabulary must lie in [1, {}], got {}", max_vocabulary, vocabulary);
    if (steps < 1 || steps > max_numbers / vocabulary / vocabulary)
      return spectr::error("steps must be at least 1, and as many as an array can have, got {}", steps);
    MethodOptions chosen;
    chosen.drafts = 1;
    if (options != nullptr) {
      if (options->plan != nullptr) chosen.plan = options->plan;
      chosen.drafts = options->drafts;
      chosen.length = options->length;
    }
    const std::size_t numbers = steps * vocabulary * vocabulary;
    SPECTR_TRY(const TableModel p, table_of_steps("draft", vocabulary, std::span(draft, numbers)));
    SPECTR_TRY(const TableModel q, table_of_steps("target", vocabulary, std::span(target, numbers)));
    SPECTR_TRY(const PairDistribution found, pair_distribution(method, chosen, p, q, horizon, start));
    const double calls = found.exact.expected_target_calls;
    *result = {found.tv_error, calls, found.exact.expected_rejections, static_cast<double>(horizon) / calls,
               found.expected_tokens_per_block.value_or(std::nan(""))};
    if (distribution == nullptr) return {};
    const double sequences = std::pow(static_cast<double>(vocabulary), static_cast<double>(horizon));
    std::fill_n(distribution, static_cast<std::size_t>(sequences), 0.0);
    for (const auto& [sequence, probability] : found.exact.distribution) {
      std::size_t number = 0;
      for (const Token token : sequence) number = number * vocabulary + static_cast<std::size_t>(token);
      distribution[number] += probability;
    }
    return {};
  });
}
