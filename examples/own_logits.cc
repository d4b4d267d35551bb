// Verification of drafts in a custom engine: distributions from logits, drafts from the small model's
// distribution, a plan, and the selected token. A long run shows that the frequency of each token after its
// predecessor matches the large model's distribution, for any small model.
//   own_logits [PLAN]     k-seq, or another lossless plan for independent drafts: optimal accepts the most
#include <spectr/base/counter_random.h>
#include <spectr/sampling/warp.h>
#include <spectr/transport/plans.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

using namespace spectr;

namespace {

constexpr std::size_t vocabulary = 4, drafts = 3, length = 200'000;

// Logits after each token. Real models depend on the whole sequence.
using Row = std::array<float, vocabulary>;
constexpr Row small[] = {{1, 0, 0, 0}, {0, 2, 1, 0}, {0, 0, 1, 1}, {2, 0, 1, 0}};
constexpr Row large[] = {{0, 1, 2, 0}, {1, 0, 1, 1}, {0, 0, 0, 2}, {1, 1, 0, -1}};

Result<void> run(const char* plan_name) {
  SPECTR_TRY(const PlanRule* rule, find_plan(plan_name));
  if (rule->drafting != Drafting::independent) return error("{} draws its drafts itself", plan_name);
  SPECTR_TRY(const Warp warp, Warp::make({.temperature = 0.8, .top_k = 0, .top_p = 1.0, .min_p = 0.0}));
  const auto distribution_of = [&](const Row& row) {
    return warp.distribution(std::span<const float>(row), {}, vocabulary);
  };

  CounterRandom choices(/*seed=*/1);
  std::vector<Token> text = {0};
  std::size_t passes = 0;
  for (; text.size() < length; ++passes) {
    const Token last = text.back();
    SPECTR_TRY(const Distribution p, distribution_of(small[last]));
    std::array<Token, drafts> drafted{};
    choices.enter({.block = passes, .purpose = Purpose::draft});
    for (Token& draft : drafted) draft = p.draw(choices);

    // In a real engine, the large model computes the last token and all drafts in one pass.
    SPECTR_TRY(const Distribution q, distribution_of(large[last]));
    SPECTR_TRY(const auto plan, rule->build(DraftDistributions(p, drafts), q, {}));
    choices.enter({.block = passes, .purpose = Purpose::select});
    const Selection selected = plan->select(drafted, choices);
    text.push_back(selected.token);
    if (!selected.accepted) continue;
    // This pass also yields the logits after the accepted draft: one more token.
    SPECTR_TRY(const Distribution next, distribution_of(large[selected.token]));
    choices.enter({.block = passes, .purpose = Purpose::bonus});
    text.push_back(next.draw(choices));
  }

  double times[vocabulary] = {}, follows[vocabulary][vocabulary] = {};
  for (std::size_t i = 1; i < text.size(); ++i) ++times[text[i - 1]], ++follows[text[i - 1]][text[i]];
  for (Token x = 0; x < Token{vocabulary}; ++x) {
    SPECTR_TRY(const Distribution q, distribution_of(large[x]));
    for (Token y = 0; y < Token{vocabulary}; ++y) {
      const double frequency = follows[x][y] / times[x];
      std::printf("%d after %d: law %.4f, frequency %.4f\n", y, x, q[y], frequency);
      if (std::abs(frequency - q[y]) > 5 * std::sqrt(q[y] * (1 - q[y]) / times[x]))
        return error("that is more than five standard deviations from the law");
    }
  }
  std::printf("%zu tokens in %zu passes of the large model\n", text.size(), passes);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const auto done = run(argc > 1 ? argv[1] : "k-seq");
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
