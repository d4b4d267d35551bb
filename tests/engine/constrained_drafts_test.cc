// The benefit of applying a constraint to drafts, too: the acceptance of a draft token under a JSON schema
// with the mask on both target and draft, or on the target only.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "spectr/engine/engine.h"
#include "spectr/engine/rules/grammar.h"
#include "tests/engine/bundled.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using test::value_of;

constexpr const char* animal_schema = R"({"type": "object", "required": ["name", "legs", "tame", "story"],
  "additionalProperties": false, "properties": {"name": {"type": "string", "maxLength": 8},
  "legs": {"type": "integer", "minimum": 0, "maximum": 8}, "tame": {"type": "boolean"},
  "story": {"type": "string", "maxLength": 60}}})";

/// Returns the tokens of a completion that the target alone draws under a constraint.
std::vector<Token> constrained_tokens(Engine& engine, const std::vector<Token>& prompt,
                                      const Constraint& constraint, std::uint64_t seed) {
  Request request;
  request.prompts = {prompt};
  request.method.method = "plain";
  request.sampling = {.temperature = 1.0, .top_k = 0, .top_p = 1.0, .min_p = 0.0};
  request.limit = 100;
  request.seed = seed;
  request.constraint = constraint;
  const auto completion = engine.submit(value_of(engine.prepare(std::move(request))));
  std::vector<Token> tokens;
  while (const auto news = completion->next(std::chrono::seconds(60))) {
    for (const TokenReport& report : news->second.delta.tokens) tokens.push_back(report.token);
  }
  return tokens;
}

/// Returns Σ min(p, q): the acceptance probability of a draft from p under maximal coupling with q.
double acceptance(const Distribution& p, const Distribution& q) {
  double sum = 0.0;
  for (std::size_t i = 0; i < q.size(); ++i) sum += std::min(q.probabilities()[i], p[q.token(i)]);
  return sum;
}

/// Theorem. At every position of a sequence and at any temperature, a draft that obeys the constraint is
/// accepted at least as often as one that does not, if no filter is on. *Proof:* q is 0 outside the allowed
/// tokens A; within A the masked draft has p / p(A) ≥ p, so Σ min(p / p(A), q) ≥ Σ min(p, q).
TEST(ConstrainedDrafts, AreAcceptedAtLeastAsOftenAsFreeOnes) {
  const auto models = test::bundled_models();
  const Tokenizer& tokenizer = *models->tokenizer;
  const auto engine = value_of(Engine::start(models, {.slots = {.max_nodes = 65}}));
  const std::size_t vocabulary = models->target->vocabulary();
  const auto compiler = value_of(GrammarCompiler::make(tokenizer, vocabulary));
  const Constraint constraint{Constraint::Kind::json_schema, animal_schema};
  const std::vector<Token> prompt = tokenizer.encode("An animal of the story:");
  const WarpOptions options{.temperature = 1.0, .top_k = 0, .top_p = 1.0, .min_p = 0.0};
  const auto rule = grammar_rule(value_of(compiler->compile(constraint)), tokenizer, prompt.size());
  const Warp masked = value_of(Warp::make(options, rule)), free = value_of(Warp::make(options));
  double with_mask = 0.0, without_mask = 0.0, forced = 0.0;
  std::size_t places = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    std::vector<Token> text = prompt;
    const auto target = value_of(models->target->start(0, 1)),
               draft = value_of(models->drafts[0]->start(0, 1));
    for (const Token token : constrained_tokens(*engine, prompt, constraint, seed)) {
      const TokenTree tree(text.back());
      ASSERT_TRUE(target->score(text, tree) && draft->score(text, tree));
      const Distribution q = value_of(masked.distribution(target->logits(0), text, vocabulary));
      const Distribution p = value_of(masked.draft_distribution(draft->logits(0), text, vocabulary));
      const double obeying = acceptance(p, q);
      const double other = acceptance(value_of(free.distribution(draft->logits(0), text, vocabulary)), q);
      ASSERT_GE(obeying, other - 1e-9) << "after " << places << " tokens";
      ASSERT_GT(q[token], 0.0);
      with_mask += obeying;
      without_mask += other;
      forced += q[token] == 1.0 ? 1.0 : 0.0;
      ++places;
      target->keep({});
      draft->keep({});
      text.push_back(token);
    }
  }
  ASSERT_GT(places, 100U);
  const auto mean = [places](double sum) { return sum / static_cast<double>(places); };
  EXPECT_GT(mean(with_mask), mean(without_mask) + 0.05);
  std::printf(
      "%zu tokens, %.1f %% of them forced; acceptance of a draft token: %.3f with masks, %.3f without\n",
      places, 100.0 * mean(forced), mean(with_mask), mean(without_mask));
}

}  // namespace
}  // namespace spectr
