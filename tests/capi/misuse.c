/* Invalid calls of the C interface return a status and a message that names the argument. */
#include <math.h>
#include <stdlib.h>

#include "tests/capi/expect.h"

static spectr_error error;
static const double half[] = {0.5, 0.5};

static void of_plans(void) {
  spectr_plan* plan = NULL;
  const double negative[] = {1.5, -0.5}, unnormalised[] = {0.5, 0.4}, no_number[] = {NAN, 1.0};
  EXPECT_REFUSAL(spectr_plan_new(NULL, half, half, 2, 1, NULL, &plan, &error), SPECTR_BAD_INPUT,
                 "name is NULL");
  EXPECT_REFUSAL(spectr_plan_new("k-seq", NULL, half, 2, 1, NULL, &plan, &error), SPECTR_BAD_INPUT,
                 "p is NULL");
  EXPECT_REFUSAL(spectr_plan_new("k-seq", half, half, 2, 1, NULL, NULL, &error), SPECTR_BAD_INPUT,
                 "plan is NULL");
  EXPECT_REFUSAL(spectr_plan_new("none", half, half, 2, 1, NULL, &plan, &error), SPECTR_BAD_INPUT,
                 "no plan 'none'");
  EXPECT_REFUSAL(spectr_plan_new("k-seq", half, negative, 2, 1, NULL, &plan, &error), SPECTR_BAD_INPUT,
                 "q[1] is -0.5");
  EXPECT_REFUSAL(spectr_plan_new("k-seq", no_number, half, 2, 1, NULL, &plan, &error), SPECTR_BAD_INPUT,
                 "p[0] is nan");
  EXPECT_REFUSAL(spectr_plan_new("k-seq", unnormalised, half, 2, 1, NULL, &plan, &error), SPECTR_BAD_INPUT,
                 "p sums to 0.9");
  EXPECT_REFUSAL(spectr_plan_new("k-seq", half, half, 0, 1, NULL, &plan, &error), SPECTR_BAD_INPUT,
                 "vocabulary");
  EXPECT_REFUSAL(spectr_plan_new("k-seq", half, half, 2, 0, NULL, &plan, &error), SPECTR_BAD_INPUT, "got 0");
  EXPECT(plan == NULL);
  EXPECT(spectr_plan_new("none", half, half, 2, 1, NULL, &plan, NULL) == SPECTR_BAD_INPUT);

  EXPECT(spectr_plan_new("k-seq", half, half, 2, 2, NULL, &plan, &error) == SPECTR_OK);
  const int32_t outside[] = {0, 2};
  const spectr_stream stream = {0};
  int32_t token;
  double law[2];
  EXPECT_REFUSAL(spectr_plan_select(plan, outside, 2, &stream, &token, NULL, &error), SPECTR_BAD_INPUT,
                 "drafts[1] must lie in [0, 1], got 2");
  EXPECT_REFUSAL(spectr_plan_select(plan, outside, 1, &stream, &token, NULL, &error), SPECTR_BAD_INPUT,
                 "drafts must have 2 tokens, got 1");
  EXPECT_REFUSAL(spectr_plan_select(plan, NULL, 2, &stream, &token, NULL, &error), SPECTR_BAD_INPUT,
                 "drafts is NULL");
  EXPECT_REFUSAL(spectr_plan_draw(plan, NULL, &token, &error), SPECTR_BAD_INPUT, "stream is NULL");
  EXPECT_REFUSAL(spectr_plan_law(NULL, law, &error), SPECTR_BAD_INPUT, "plan is NULL");
  EXPECT_REFUSAL(spectr_plan_acceptance(plan, NULL, &error), SPECTR_BAD_INPUT, "acceptance is NULL");
  EXPECT(spectr_plan_drafts(NULL) == 0);
  spectr_plan_free(plan);
  spectr_plan_free(NULL);
}

static void of_verifiers(void) {
  spectr_verifier* verifier = NULL;
  EXPECT_REFUSAL(spectr_verifier_new("mtad", NULL, &verifier, &error), SPECTR_BAD_INPUT,
                 "mtad does not verify");
  EXPECT(spectr_verifier_new("block", NULL, &verifier, &error) == SPECTR_OK);
  const spectr_stream stream = {0};
  const float floats[] = {0.5f, 0.5f};
  const double target[] = {0.5, 0.5, 0.5, 0.5};
  const spectr_rows p = {.f64 = half, .count = 1}, q = {.f64 = target, .count = 2}, none = {.count = 1};
  const spectr_rows both = {.f32 = floats, .f64 = half, .count = 1};
  const spectr_rows huge = {.f64 = half, .count = SIZE_MAX / 2};
  const int32_t drafts[] = {1}, outside[] = {2};
  int32_t tokens[2];
  size_t emitted;
  EXPECT_REFUSAL(spectr_verify(NULL, 2, 1, drafts, p, q, &stream, tokens, &emitted, &error), SPECTR_BAD_INPUT,
                 "verifier is NULL");
  EXPECT_REFUSAL(spectr_verify(verifier, 2, 1, drafts, none, q, &stream, tokens, &emitted, &error),
                 SPECTR_BAD_INPUT, "draft_probs: exactly one of");
  EXPECT_REFUSAL(spectr_verify(verifier, 2, 1, drafts, both, q, &stream, tokens, &emitted, &error),
                 SPECTR_BAD_INPUT, "draft_probs: exactly one of");
  EXPECT_REFUSAL(spectr_verify(verifier, 2, 1, drafts, huge, q, &stream, tokens, &emitted, &error),
                 SPECTR_BAD_INPUT, "which no array can have");
  EXPECT_REFUSAL(spectr_verify(verifier, 2, 1, drafts, p, p, &stream, tokens, &emitted, &error),
                 SPECTR_BAD_INPUT, "target_probs must have 2 rows");
  EXPECT_REFUSAL(spectr_verify(verifier, 2, 1, outside, p, q, &stream, tokens, &emitted, &error),
                 SPECTR_BAD_INPUT, "draft_tokens[0] must lie in [0, 1], got 2");
  EXPECT_REFUSAL(spectr_verify(verifier, 0, 1, drafts, p, q, &stream, tokens, &emitted, &error),
                 SPECTR_BAD_INPUT, "vocabulary");
  EXPECT_REFUSAL(spectr_verify(verifier, 2, 1, NULL, p, q, &stream, tokens, &emitted, &error),
                 SPECTR_BAD_INPUT, "NULL");
  EXPECT_REFUSAL(spectr_verify(verifier, 2, SIZE_MAX, drafts, p, q, &stream, tokens, &emitted, &error),
                 SPECTR_BAD_INPUT, "too large");
  EXPECT_REFUSAL(spectr_verify_tree(verifier, 2, NULL, q, &stream, tokens, NULL, &emitted, &error),
                 SPECTR_BAD_INPUT, "tree is NULL");
  EXPECT(!spectr_verifier_is_lossless(NULL));
  spectr_verifier_free(verifier);
  spectr_verifier_free(NULL);
}

static void of_laws(void) {
  const double rows[] = {0.5, 0.5, 0.5, 0.6};
  spectr_law_result result;
  EXPECT_REFUSAL(spectr_law("block", NULL, rows, rows, 2, 1, 0, 2, &result, NULL, &error), SPECTR_BAD_INPUT,
                 "draft[0][1] sums to 1.1");
  EXPECT_REFUSAL(spectr_law("block", NULL, rows, rows, 2, 0, 0, 2, &result, NULL, &error), SPECTR_BAD_INPUT,
                 "steps");
  EXPECT_REFUSAL(spectr_law("block", NULL, rows, rows, 2, SIZE_MAX, 0, 2, &result, NULL, &error),
                 SPECTR_BAD_INPUT, "steps");
  EXPECT_REFUSAL(spectr_law("block", NULL, rows, rows, 5000, 1, 0, 2, &result, NULL, &error),
                 SPECTR_BAD_INPUT, "vocabulary must lie in");
}

static void of_distributions(void) {
  const float logits[] = {0.0f, NAN};
  const spectr_stream stream = {0};
  spectr_sampling sampling = spectr_sampling_defaults();
  double law[2];
  int32_t token;
  EXPECT(spectr_probabilities(logits, 2, &sampling, law, &error) != SPECTR_OK);
  EXPECT_REFUSAL(spectr_probabilities(NULL, 2, &sampling, law, &error), SPECTR_BAD_INPUT, "logits is NULL");
  EXPECT_REFUSAL(spectr_probabilities(logits, 2, NULL, law, &error), SPECTR_BAD_INPUT, "sampling is NULL");
  EXPECT_REFUSAL(spectr_probabilities(logits, 0, &sampling, law, &error), SPECTR_BAD_INPUT, "vocabulary");
  sampling.top_p = 2.0;
  EXPECT_REFUSAL(spectr_probabilities(logits, 1, &sampling, law, &error), SPECTR_BAD_INPUT, "top-p");
  const double no_law[] = {0.5, -0.5};
  EXPECT_REFUSAL(spectr_sample(no_law, 2, &stream, &token, &error), SPECTR_BAD_INPUT,
                 "probabilities[1] is -0.5");
  EXPECT_REFUSAL(spectr_sample(half, 2, NULL, &token, &error), SPECTR_BAD_INPUT, "stream is NULL");
  EXPECT_REFUSAL(spectr_sample(half, 2, &stream, NULL, &error), SPECTR_BAD_INPUT, "token is NULL");
  EXPECT(!spectr_plan_at(0, NULL) && !spectr_method_at(0, NULL));
}

static void of_engines(const char* model) {
  spectr_engine* engine = NULL;
  spectr_completion* completion = NULL;
  spectr_engine_options options = spectr_engine_defaults();
  EXPECT_REFUSAL(spectr_engine_load(&options, &engine, &error), SPECTR_BAD_INPUT, "model is NULL");
  options.model = "/does/not/exist.gguf";
  EXPECT_REFUSAL(spectr_engine_load(&options, &engine, &error), SPECTR_IO, "/does/not/exist.gguf");
  options.threads = -1;
  EXPECT_REFUSAL(spectr_engine_load(&options, &engine, &error), SPECTR_BAD_INPUT, "threads must lie in");
  options = spectr_engine_defaults();
  options.model = model;
  options.threads = 1;
  EXPECT(spectr_engine_load(&options, &engine, &error) == SPECTR_OK);

  spectr_request request = spectr_request_defaults();
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT,
                 "exactly one of prompt, tokens and messages");
  request.prompt = "Once";
  request.temperature = -1.0;
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT,
                 "temperature");
  request = spectr_request_defaults();
  request.prompt = "Once";
  request.method = "speculative";
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT,
                 "draft model");
  request.method = NULL;
  request.n = 0;
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT, "no prompt");
  const int32_t outside[] = {1 << 30};
  request = spectr_request_defaults();
  request.tokens = outside;
  request.token_count = 1;
  EXPECT_REFUSAL(spectr_engine_submit(engine, &request, &completion, &error), SPECTR_BAD_INPUT, "vocabulary");
  EXPECT(completion == NULL);
  size_t size;
  double loss;
  const int32_t inside[] = {1, 2};
  float logits[1];
  EXPECT(spectr_engine_vocabulary(NULL) == 0 && spectr_engine_context(NULL) == 0);
  EXPECT_REFUSAL(spectr_engine_detokenize(engine, outside, 1, NULL, 0, &size, &error), SPECTR_BAD_INPUT,
                 "tokens[0] must lie in");
  EXPECT_REFUSAL(spectr_engine_detokenize(engine, inside, 2, NULL, 8, &size, &error), SPECTR_BAD_INPUT,
                 "text is NULL");
  EXPECT_REFUSAL(spectr_engine_logits(engine, inside, 2, 2, logits, &error), SPECTR_BAD_INPUT,
                 "first must be less than 2, got 2");
  EXPECT_REFUSAL(spectr_engine_logits(NULL, inside, 2, 0, logits, &error), SPECTR_BAD_INPUT,
                 "engine is NULL");
  EXPECT_REFUSAL(spectr_engine_loss(engine, NULL, 2, &loss, &error), SPECTR_BAD_INPUT, "tokens is NULL");
  EXPECT_REFUSAL(spectr_engine_loss(engine, inside, 0, &loss, &error), SPECTR_BAD_INPUT, "tokens is empty");
  spectr_event event;
  EXPECT_REFUSAL(spectr_completion_next(NULL, 0, &event, &error), SPECTR_BAD_INPUT, "completion is NULL");
  EXPECT_REFUSAL(spectr_completion_wait(NULL, 0, &error), SPECTR_BAD_INPUT, "completion is NULL");
  EXPECT(spectr_completion_statistics(NULL, 0) == NULL);
  spectr_completion_cancel(NULL);
  spectr_completion_free(NULL);
  spectr_engine_free(engine);
  spectr_engine_free(NULL);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  of_plans();
  of_verifiers();
  of_laws();
  of_distributions();
  of_engines(argv[1]);
  return failures != 0;
}
