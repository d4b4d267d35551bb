// Verification of drafts in a custom engine: distributions from logits, drafts from the small model's
// distribution, a plan, and the selected token. A long run shows that the frequency of each token after its
// predecessor matches the large model's distribution, for any small model.
//   own_logits [PLAN]     k-seq, or another lossless plan for independent drafts: optimal accepts the most
#include <spectr/distribution.h>
#include <spectr/plan.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

namespace {

constexpr std::size_t vocabulary = 4, drafts = 3, length = 100'000;

// Logits after each token. Real models depend on the whole sequence.
using Row = std::array<float, vocabulary>;
constexpr Row small[] = {{1, 0, 0, 0}, {0, 2, 1, 0}, {0, 0, 1, 1}, {2, 0, 1, 0}};
constexpr Row large[] = {{0, 1, 2, 0}, {1, 0, 1, 1}, {0, 0, 0, 2}, {1, 1, 0, -1}};

std::vector<double> distribution_of(const Row& row) {
  return spectr::probabilities(row, {.temperature = 0.8, .top_k = 0, .top_p = 1.0, .min_p = 0.0}).value();
}

/// Generates a sequence, and returns the number of passes of the large model.
std::size_t generate(const char* plan_name, std::vector<spectr::Token>& text) {
  std::size_t passes = 0;
  for (; text.size() < length; ++passes) {
    // Draws of one block need different streams.
    const auto stream = [&](std::size_t i) {
      return spectr::Stream{.seed = 1, .stream = i, .block = passes};
    };
    const std::vector<double> p = distribution_of(small[text.back()]);
    std::array<spectr::Token, drafts> drafted{};
    for (std::size_t i = 0; i < drafts; ++i) drafted[i] = spectr::sample(p, stream(i)).value();

    // In a real engine, the large model computes the last token and all drafts in one pass.
    const std::vector<double> q = distribution_of(large[text.back()]);
    const auto plan = spectr::Plan::build(plan_name, p, q, drafts).value();
    const spectr::Selection selected = plan.select(drafted, stream(0)).value();
    text.push_back(selected.token);
    if (!selected.accepted) continue;
    // This pass also yields the logits after the accepted draft: one more token.
    text.push_back(spectr::sample(distribution_of(large[selected.token]), stream(drafts)).value());
  }
  return passes;
}

/// Returns false if a frequency is more than five standard deviations from the large model's distribution.
bool compare(const std::vector<spectr::Token>& text) {
  double times[vocabulary] = {}, follows[vocabulary][vocabulary] = {};
  for (std::size_t i = 1; i < text.size(); ++i) ++times[text[i - 1]], ++follows[text[i - 1]][text[i]];
  bool close = true;
  for (std::size_t x = 0; x < vocabulary; ++x) {
    const std::vector<double> q = distribution_of(large[x]);
    for (std::size_t y = 0; y < vocabulary; ++y) {
      const double frequency = follows[x][y] / times[x];
      std::printf("%zu after %zu: law %.4f, frequency %.4f\n", y, x, q[y], frequency);
      close &= std::abs(frequency - q[y]) <= 5 * std::sqrt(q[y] * (1 - q[y]) / times[x]);
    }
  }
  return close;
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<spectr::Token> text = {0};
  const std::size_t passes = generate(argc > 1 ? argv[1] : "k-seq", text);
  const bool close = compare(text);
  std::printf("%zu tokens in %zu passes of the large model%s\n", text.size(), passes,
              close ? "" : ", with another distribution");
  return close ? 0 : 1;
} catch (const std::exception& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
