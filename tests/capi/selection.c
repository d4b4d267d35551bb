/* Plans, verification and exact distributions through the C interface. */
#include <math.h>

#include "tests/capi/expect.h"

static int is_near(double a, double b) {
  return fabs(a - b) <= 1e-12;
}

static const double p[] = {0.5, 1.0 / 3, 1.0 / 6}, q[] = {1.0 / 6, 1.0 / 3, 0.5};

static void plans_have_the_targets_law(void) {
  const char* const names[] = {"maximal", "k-seq", "recursive", "recursive-wor", "optimal", "otm-lp"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    spectr_error error;
    spectr_plan* plan = NULL;
    EXPECT(spectr_plan_new(names[i], p, q, 3, 2, NULL, &plan, &error) == SPECTR_OK);
    EXPECT(error.status == SPECTR_OK && error.message[0] == '\0');
    EXPECT(spectr_plan_drafts(plan) == 2);
    double law[3] = {0}, mean[3] = {0};
    EXPECT(spectr_plan_law(plan, law, &error) == SPECTR_OK);
    for (int x = 0; x < 3; ++x) EXPECT(is_near(law[x], q[x]));
    /* The distribution is the mean of conditional() over independent draws. */
    for (int32_t a = 0; a < 3 && i < 3; ++a) {
      for (int32_t b = 0; b < 3; ++b) {
        const int32_t drafts[] = {a, b};
        double given[3];
        EXPECT(spectr_plan_conditional(plan, drafts, 2, given, &error) == SPECTR_OK);
        for (int x = 0; x < 3; ++x) mean[x] += p[a] * p[b] * given[x];
      }
    }
    for (int x = 0; x < 3 && i < 3; ++x) EXPECT(is_near(mean[x], q[x]));
    spectr_plan_free(plan);
  }
}

static void a_plan_accepts_as_often_as_it_says(void) {
  spectr_plan* plan = NULL;
  EXPECT(spectr_plan_new("optimal", p, q, 3, 2, NULL, &plan, NULL) == SPECTR_OK);
  double acceptance = 0.0, residual[3];
  bool exists = false;
  EXPECT(spectr_plan_acceptance(plan, &acceptance, NULL) == SPECTR_OK);
  EXPECT(is_near(acceptance, 29.0 / 36));
  EXPECT(spectr_plan_residual(plan, residual, &exists, NULL) == SPECTR_OK);
  EXPECT(exists && is_near(residual[0] + residual[1] + residual[2], 1.0));
  int accepted_draws = 0;
  enum { draws = 20000 };
  for (uint64_t i = 0; i < draws; ++i) {
    const spectr_stream stream = {.seed = 5, .stream = i, .block = 0};
    int32_t drafts[2], again[2], token = -1;
    bool accepted = false;
    EXPECT(spectr_plan_draw(plan, &stream, drafts, NULL) == SPECTR_OK);
    EXPECT(spectr_plan_draw(plan, &stream, again, NULL) == SPECTR_OK);
    EXPECT(drafts[0] == again[0] && drafts[1] == again[1]);
    EXPECT(spectr_plan_select(plan, drafts, 2, &stream, &token, &accepted, NULL) == SPECTR_OK);
    EXPECT(!accepted || token == drafts[0] || token == drafts[1]);
    accepted_draws += accepted;
  }
  /* The tolerance is five standard deviations. */
  EXPECT(fabs(accepted_draws / (double)draws - acceptance) < 5 * sqrt(0.25 / draws));
  spectr_plan_free(plan);

  EXPECT(spectr_plan_new("maximal", p, p, 3, 1, NULL, &plan, NULL) == SPECTR_OK);
  EXPECT(spectr_plan_residual(plan, residual, &exists, NULL) == SPECTR_OK && !exists);
  spectr_plan_free(plan);
}

static void a_chain_is_a_tree(void) {
  const int32_t tokens[] = {0, 1}, parents[] = {-1, 0};
  const float draft[] = {0.5f, 0.5f, 0.25f, 0.75f}, target[] = {0.25f, 0.75f, 0.5f, 0.5f, 1.0f, 0.0f};
  const double draft_doubles[] = {0.5, 0.5, 0.25, 0.75}, target_doubles[] = {0.25, 0.75, 0.5, 0.5, 1.0, 0.0};
  spectr_verifier* verifier = NULL;
  spectr_error error;
  EXPECT(spectr_verifier_new("block", NULL, &verifier, &error) == SPECTR_OK);
  EXPECT(spectr_verifier_is_lossless(verifier));
  const spectr_rows p_rows = {.f32 = draft, .count = 2}, q_rows = {.f32 = target, .count = 3};
  const spectr_rows q_doubles = {.f64 = target_doubles, .count = 3};
  const spectr_tree tree = {
      .count = 2, .tokens = tokens, .parents = parents, .draft_probs = {.f64 = draft_doubles, .count = 2}};
  size_t lengths[4] = {0};
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const spectr_stream stream = {.seed = seed};
    int32_t chain[3], out[3], path[2];
    size_t emitted = 0, again = 0;
    EXPECT(spectr_verify(verifier, 2, 2, tokens, p_rows, q_rows, &stream, chain, &emitted, &error) ==
           SPECTR_OK);
    EXPECT(spectr_verify_tree(verifier, 2, &tree, q_doubles, &stream, out, path, &again, &error) ==
           SPECTR_OK);
    EXPECT(emitted >= 1 && emitted <= 3 && emitted == again);
    EXPECT(memcmp(chain, out, emitted * sizeof *out) == 0);
    for (size_t i = 0; i + 1 < emitted; ++i) EXPECT(path[i] == (int32_t)i && out[i] == tokens[i]);
    ++lengths[emitted];
  }
  EXPECT(lengths[1] > 0 && lengths[3] > 0);
  spectr_verifier_free(verifier);

  EXPECT(spectr_verifier_new("biased-opt", &(spectr_verifier_options){.epsilon = 0.1, .rounds = 1}, &verifier,
                             &error) == SPECTR_OK);
  EXPECT(!spectr_verifier_is_lossless(verifier));
  spectr_verifier_free(verifier);
}

static void the_law_of_a_method_is_exact(void) {
  const double draft[] = {0.5, 0.5, 0.2, 0.8}, target[] = {0.25, 0.75, 0.7, 0.3};
  const spectr_law_options options = {.drafts = 2, .length = 2};
  spectr_law_result result;
  double law[8];
  spectr_error error;
  EXPECT(spectr_law("spectr", &options, draft, target, 2, 1, 0, 3, &result, law, &error) == SPECTR_OK);
  EXPECT(is_near(result.tv_error, 0.0));
  EXPECT(result.block_efficiency > 1.0 && result.expected_tokens_per_block > 1.0);
  EXPECT(is_near(law[3], 0.25 * 0.75 * 0.3)); /* 0 1 1 after 0 */
  double sum = 0.0;
  for (int i = 0; i < 8; ++i) sum += law[i];
  EXPECT(is_near(sum, 1.0));
}

static void tables_list_their_rows(void) {
  spectr_plan_info plan;
  spectr_method_info method;
  size_t plans = 0, methods = 0;
  bool optimal = false, block = false;
  for (; spectr_plan_at(plans, &plan); ++plans)
    optimal |= strcmp(plan.name, "optimal") == 0 && plan.lossless && plan.independent && plan.summary[0] != 0;
  for (; spectr_method_at(methods, &method); ++methods)
    block |= strcmp(method.name, "block") == 0 && method.lossless && method.verifies_arrays;
  EXPECT(plans > 5 && optimal);
  EXPECT(methods > 10 && block);
  EXPECT(!spectr_plan_at(plans, &plan) && !spectr_method_at(methods, &method));
}

static void samples_have_their_probabilities(void) {
  const float logits[] = {0.0f, 0.0f, (float)-INFINITY, 1.0f};
  spectr_sampling sampling = spectr_sampling_defaults();
  sampling.temperature = 1.0;
  sampling.top_p = 1.0;
  double law[4];
  EXPECT(spectr_probabilities(logits, 4, &sampling, law, NULL) == SPECTR_OK);
  EXPECT(is_near(law[0], 1 / (2 + exp(1))) && law[2] == 0 && is_near(law[0] + law[1] + law[3], 1.0));
  int last = 0;
  enum { draws = 20000 };
  for (uint64_t i = 0; i < draws; ++i) {
    const spectr_stream stream = {.seed = 7, .stream = 0, .block = i};
    int32_t token;
    EXPECT(spectr_sample(law, 4, &stream, &token, NULL) == SPECTR_OK && token != 2);
    last += token == 3;
  }
  /* The tolerance is five standard deviations. */
  EXPECT(fabs(last / (double)draws - law[3]) < 5 * sqrt(0.25 / draws));
}

int main(void) {
  tables_list_their_rows();
  samples_have_their_probabilities();
  plans_have_the_targets_law();
  a_plan_accepts_as_often_as_it_says();
  a_chain_is_a_tree();
  the_law_of_a_method_is_exact();
  return failures != 0;
}
