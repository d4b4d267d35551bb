/* Computes the maximum probability that one of k drafts from p is accepted as a draw from q, and selects one,
 * with the C interface. plan [K] */
#include <spectr.h>
#include <stdio.h>
#include <stdlib.h>

enum { vocabulary = 3, max_drafts = 8 };

int main(int argc, char** argv) {
  const double p[vocabulary] = {0.5, 0.25, 0.25}, q[vocabulary] = {0.25, 0.25, 0.5};
  const size_t k = argc > 1 ? strtoul(argv[1], NULL, 10) : 2;
  spectr_error error;
  spectr_plan* plan;
  if (k > max_drafts || spectr_plan_new("optimal", p, q, vocabulary, k, NULL, &plan, &error) != SPECTR_OK) {
    fprintf(stderr, "%s\n", k > max_drafts ? "too many drafts" : error.message);
    return 1;
  }
  double acceptance, law[vocabulary];
  if (spectr_plan_acceptance(plan, &acceptance, &error) != SPECTR_OK ||
      spectr_plan_law(plan, law, &error) != SPECTR_OK) {
    fprintf(stderr, "%s\n", error.message);
    spectr_plan_free(plan);
    return 1;
  }
  printf("%zu drafts: acceptance %.4f, law %.4f %.4f %.4f\n", k, acceptance, law[0], law[1], law[2]);
  for (uint64_t block = 0; block < 3; ++block) {
    const spectr_stream stream = {.seed = 1, .stream = 0, .block = block};
    int32_t drafts[max_drafts], token;
    bool accepted;
    if (spectr_plan_draw(plan, &stream, drafts, &error) != SPECTR_OK ||
        spectr_plan_select(plan, drafts, k, &stream, &token, &accepted, &error) != SPECTR_OK) {
      fprintf(stderr, "%s\n", error.message);
      break;
    }
    printf("token %d, %s\n", (int)token, accepted ? "a draft" : "a correction");
  }
  spectr_plan_free(plan);
  return 0;
}
