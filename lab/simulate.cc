#include "lab/simulate.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "spectr/base/counter_random.h"
#include "spectr/decode/decoder_distribution.h"
#include "spectr/decode/generate.h"

namespace spectr::lab {

// Welford's algorithm: squares are summed around the running mean.
void Average::add(double value) {
  const double before = value - mean_;
  mean_ += before / static_cast<double>(++count_);
  squares_ += before * (value - mean_);
}

double Average::band() const {
  if (count_ < 2) return std::numeric_limits<double>::infinity();
  const auto n = static_cast<double>(count_);
  return 1.96 * std::sqrt(squares_ / (n - 1.0) / n);
}

namespace {

/// A session that counts the nodes of the scored trees.
class CountingSession final : public Session {
 public:
  CountingSession(Session& session, double& rows) : session_(session), rows_(rows) {}

  Result<void> score(std::span<const Token> text, const TokenTree& tree) override {
    rows_ += static_cast<double>(tree.size());
    return session_.score(text, tree);
  }
  Logits logits(NodeId node) const override { return session_.logits(node); }
  void keep(std::span<const NodeId> path) override { session_.keep(path); }
  void rewind(std::size_t length) override { session_.rewind(length); }
  std::string_view name() const override { return session_.name(); }
  std::size_t length() const override { return session_.length(); }
  std::size_t vocabulary() const override { return session_.vocabulary(); }
  std::size_t context() const override { return session_.context(); }

 private:
  Session& session_;
  double& rows_;
};

/// Generates as many tokens as the pair's horizon after a uniformly drawn start, and calls seen(block) for
/// every block.
Result<void> decode(Decoder& decoder, Models& models, const MarkovPair& pair, CounterRandom random,
                    const std::function<void(const Block&)>& seen) {
  const std::size_t T = pair.horizon();
  random.enter({.block = T, .purpose = Purpose::draft});  // no decoder has that many blocks
  const Token start[] = {static_cast<Token>(random.draw(std::vector<double>(pair.states(), 1.0)))};
  models.target.rewind(0);
  for (Session* draft : models.drafts) draft->rewind(0);
  SPECTR_TRY_VOID(generate(decoder, models, start, {.limit = T}, random, [&](const Block& block) {
    seen(block);
    return std::optional<std::size_t>();
  }));
  return {};
}

}  // namespace

Result<void> simulate_rejections(const MarkovPair& pair, std::size_t sequences, std::size_t runs,
                                 std::uint64_t seed,
                                 const std::function<void(std::size_t, double)>& counted) {
  const std::size_t T = pair.horizon();
  SPECTR_TRY(const MethodRule* rule, find_method(sequences == 1 ? "speculative" : "batch"));
  SPECTR_TRY(Decoder decoder, make_decoder(*rule, {.drafts = sequences, .length = T}));
  OwnedModels models = pair.start(decoder.max_nodes(T));
  for (std::size_t run = 0; run < runs; ++run) {
    double rejections = 0.0;
    SPECTR_TRY_VOID(decode(decoder, models, pair, CounterRandom(seed, run), [&](const Block& block) {
      if (block.sources.back() == Source::correction) rejections += 1.0;
    }));
    counted(run, rejections);
  }
  return {};
}

Result<void> simulate_efficiency(const MarkovPair& pair, std::string_view method,
                                 const MethodOptions& options, std::size_t runs, std::uint64_t seed,
                                 const std::function<void(const Efficiency&)>& counted) {
  SPECTR_TRY(const MethodRule* rule, find_method(method));
  SPECTR_TRY(Decoder decoder, make_decoder(*rule, options));
  const OwnedModels sessions = pair.start(decoder.max_nodes(pair.horizon()));
  double rows = 0.0;
  CountingSession target(sessions.target, rows);
  Models models{target, sessions.drafts, sessions.warp};
  for (std::size_t run = 0; run < runs; ++run) {
    double calls = 0.0;
    rows = 0.0;
    SPECTR_TRY_VOID(decode(decoder, models, pair, CounterRandom(seed, run),
                           [&](const Block& block) { calls += static_cast<double>(block.target_calls); }));
    counted({static_cast<double>(pair.horizon()) / calls, rows / calls});
  }
  return {};
}

Result<EnumeratedDecoder> enumerate(const MarkovPair& pair, std::string_view method, MethodOptions options) {
  options.length = pair.horizon();
  SPECTR_TRY(const MethodRule* rule, find_method(method));
  SPECTR_TRY(Decoder decoder, make_decoder(*rule, options));
  return enumerate(pair, decoder);
}

Result<EnumeratedDecoder> enumerate(const MarkovPair& pair, Decoder& decoder) {
  OwnedModels models = pair.start(decoder.max_nodes(pair.horizon()));
  const EnumerationOptions how{.horizon = pair.horizon(), .ends = {}};
  EnumeratedDecoder out;
  const double share = 1.0 / static_cast<double>(pair.states());
  for (std::size_t s = 0; s < pair.states(); ++s) {
    const Token start[] = {static_cast<Token>(s)};
    SPECTR_TRY(const DecoderDistribution found, enumerate_decoder(decoder, models, start, how));
    SPECTR_TRY(const auto target, enumerate_target(models, start, how));
    out.calls += share * found.expected_target_calls;
    out.corrections += share * found.expected_rejections;
    out.tv += share * total_variation(found.distribution, target);
    for (const auto& [text, mass] : found.distribution) {
      std::vector<Token> whole = {start[0]};
      whole.insert(whole.end(), text.begin(), text.end());
      out.distribution[whole] += share * mass;
    }
  }
  return out;
}

}  // namespace spectr::lab
