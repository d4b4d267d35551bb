// Options of MTAD and MTJD: the enumerated decoder is compared with an independent implementation that
// follows the definitions and visits all outcomes of a block.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include "spectr/base/enumerator.h"
#include "tests/support/tabular_pair.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using namespace test;

using Row = std::vector<double>;
using Tokens = std::vector<Token>;

/// Returns indices by descending weight; ties are ordered by index.
std::vector<std::size_t> falling(const Row& weights) {
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return weights[i]; });
  return order;
}

/// Applies top-k, then top-p to the rest, then temperature. The result sums to 1.
Row warped(const Row& weights, const WarpOptions& warp) {
  std::vector<std::size_t> order = falling(weights);
  if (warp.top_k > 0) order.resize(std::min(order.size(), warp.top_k));
  double total = 0.0, before = 0.0;
  for (const std::size_t i : order) total += weights[i];
  Row kept(weights.size(), 0.0);
  double sum = 0.0;
  for (const std::size_t i : order) {
    if (before >= warp.top_p * total) break;
    before += weights[i];
    sum += kept[i] = std::pow(weights[i], 1.0 / warp.temperature);
  }
  for (double& weight : kept) weight /= sum;
  return kept;
}

struct Beam {
  Tokens tokens;
  double likelihood = 1.0;
};

/// The distribution of the output, computed by the definitions.
class Definition {
 public:
  Definition(const TabularPair& pair, const MethodOptions& options, const WarpOptions& warp,
             std::size_t horizon)
      : pair_(pair), options_(options), warp_(warp), horizon_(horizon) {}

  std::map<Tokens, double> mtad() {
    return run([&](const Start& start, double mass) { assist(start.text, mass); });
  }
  std::map<Tokens, double> mtjd() {
    return run([&](const Start& start, double mass) { join(start.text, mass, start.block); });
  }

 private:
  /// The start of a block: the start token and the output so far, and the number of
  /// blocks before it (if it matters).
  struct Start {
    Tokens text;
    std::size_t block;

    auto operator<=>(const Start&) const = default;
  };

  template <class Step>
  std::map<Tokens, double> run(Step step) {
    starts_.resize(horizon_ + 1);
    starts_[1][{{0}, 0}] = 1.0;
    for (std::size_t n = 1; n <= horizon_; ++n) {
      for (const auto& [start, mass] : starts_[n]) step(start, mass);
    }
    return std::move(law_);
  }

  void go_on(const Tokens& text, double mass, std::size_t block) {
    if (mass == 0.0) return;
    if (text.size() > horizon_) {
      law_[Tokens(text.begin() + 1, text.end())] += mass;
    } else {
      starts_[text.size()][{text, block}] += mass;
    }
  }

  Row raw(const TabularModel& model, const Tokens& text) const {
    Row row;
    for (const double log_p : model.log_row(text.size() - 1, text.back())) row.push_back(std::exp(log_p));
    return row;
  }
  Row filtered(const TabularModel& model, const Tokens& text) const {
    return warped(raw(model, text), warp_);
  }

  /// Adds every set of min(W, positive weights) indices with its probability under draws without
  /// replacement.
  void sets(const Row& weights, std::vector<std::size_t> drawn, double probability,
            std::map<std::vector<std::size_t>, double>& found) const {
    double left = 0.0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (std::ranges::find(drawn, i) == drawn.end()) left += weights[i];
    }
    if (drawn.size() == options_.beams || left == 0.0) {
      std::ranges::sort(drawn);
      found[drawn] += probability;
      return;
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] == 0.0 || std::ranges::find(drawn, i) != drawn.end()) continue;
      auto more = drawn;
      more.push_back(i);
      sets(weights, more, probability * weights[i] / left, found);
    }
  }

  /// Calls found(beams, probability) for every outcome of a beam search with `steps` steps.
  template <class Found>
  void search(const TabularModel& model, const Tokens& text, const std::vector<Beam>& beams,
              std::size_t steps, double probability, const Found& found) {
    if (steps == 0) {
      auto ordered = beams;
      std::ranges::stable_sort(ordered, std::ranges::greater(), &Beam::likelihood);
      found(ordered, probability);
      return;
    }
    const bool joined = options_.beam_warp == BeamWarp::joint;
    std::vector<Beam> longer;
    Row weights;
    for (const Beam& beam : beams) {
      Tokens here = text;
      here.insert(here.end(), beam.tokens.begin(), beam.tokens.end());
      const Row p = joined ? raw(model, here) : filtered(model, here);
      for (std::size_t y = 0; y < p.size(); ++y) {
        Beam next = beam;
        next.tokens.push_back(static_cast<Token>(y));
        next.likelihood *= p[y];
        weights.push_back(next.likelihood);
        longer.push_back(next);
      }
    }
    if (joined) weights = warped(weights, warp_);
    std::map<std::vector<std::size_t>, double> kept;
    if (options_.beam_mode == BeamMode::draw) {
      sets(weights, {}, 1.0, kept);
    } else {
      auto best = falling(weights);
      best.resize(std::min(best.size(), options_.beams));
      std::erase_if(best, [&](std::size_t i) { return weights[i] == 0.0; });
      std::ranges::sort(best);
      kept[best] = 1.0;
    }
    for (const auto& [set, share] : kept) {
      std::vector<Beam> next;
      for (const std::size_t i : set) next.push_back(longer[i]);
      search(model, text, next, steps - 1, probability * share, found);
    }
  }

  /// Returns the number of tokens of a beam that pass: the longest accepted prefix.
  std::size_t passing(const Tokens& text, const Tokens& beam) const {
    const bool own = options_.joint == JointLaw::raw;
    Tokens here = text;
    double p = 1.0, q = 1.0;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < beam.size(); ++i) {
      const auto y = static_cast<std::size_t>(beam[i]);
      const TabularModel& draft = pair_.drafts.front();
      p *= own ? raw(draft, here)[y] : filtered(draft, here)[y];
      q *= own ? raw(pair_.target, here)[y] : filtered(pair_.target, here)[y];
      if (q > 0.0 && (p == 0.0 ? 1.0 : std::min(1.0, q / p)) > options_.tau) longest = i + 1;
      here.push_back(beam[i]);
    }
    return longest;
  }

  void assist(const Tokens& text, double mass) {
    const std::size_t left = horizon_ + 1 - text.size();
    const auto found = [&](const std::vector<Beam>& beams, double probability) {
      Tokens accepted;
      for (std::size_t k = 0; k < std::min(options_.verified_beams, beams.size()); ++k) {
        const std::size_t n = passing(text, beams[k].tokens);
        if (n <= accepted.size()) continue;
        accepted.assign(beams[k].tokens.begin(), beams[k].tokens.begin() + static_cast<std::ptrdiff_t>(n));
      }
      Tokens longer = text;
      longer.insert(longer.end(), accepted.begin(), accepted.end());
      if (accepted.size() == left) return go_on(longer, mass * probability, 0);
      const Row q = filtered(pair_.target, longer);
      longer.push_back(0);
      for (std::size_t y = 0; y < q.size(); ++y) {
        longer.back() = static_cast<Token>(y);
        go_on(longer, mass * probability * q[y], 0);
      }
    };
    search(pair_.drafts.front(), text, {Beam{}}, std::min(options_.length, left), 1.0, found);
  }

  void join(const Tokens& text, double mass, std::size_t block) {
    const std::size_t left = horizon_ + 1 - text.size();
    const std::size_t length =
        options_.gammas.empty() ? options_.length : options_.gammas[block % options_.gammas.size()];
    const auto found = [&](const std::vector<Beam>& beams, double probability) {
      Tokens longer = text;
      longer.insert(longer.end(), beams.front().tokens.begin(), beams.front().tokens.end());
      go_on(longer, mass * probability, block + 1);
    };
    search(pair_.target, text, {Beam{}}, std::min(length, left), 1.0, found);
  }

  const TabularPair& pair_;
  const MethodOptions& options_;
  const WarpOptions& warp_;
  std::size_t horizon_;
  std::vector<std::map<Start, double>> starts_;  // by length of the text
  std::map<Tokens, double> law_;
};

WarpOptions narrow() {
  WarpOptions warp = WarpOptions::none();
  warp.temperature = 0.8;
  warp.top_k = 3;
  warp.top_p = 0.8;
  return warp;
}

void expect_equal(const std::map<Tokens, double>& found, const std::map<Tokens, double>& wanted) {
  EXPECT_LE(total_variation(found, wanted), 1e-12);
}

TEST(AssistedOptions, AreWhatTheirDefinitionsSay) {
  for (const BeamMode mode : {BeamMode::draw, BeamMode::top}) {
    for (const BeamWarp warping : {BeamWarp::token, BeamWarp::joint}) {
      for (const JointLaw joint : {JointLaw::warped, JointLaw::raw}) {
        for (const std::size_t verified : {1u, 2u}) {
          for (const double tau : {0.0, 0.3, 0.9, 1.0}) {
            MethodOptions options = options_of(1, 2);
            options.beams = 2;
            options.beam_mode = mode;
            options.beam_warp = warping;
            options.joint = joint;
            options.verified_beams = verified;
            options.tau = tau;
            for (const WarpOptions& warp : {WarpOptions::none(), narrow()}) {
              const std::size_t horizon = 3;
              const TabularPair pair = TabularPair::random(3, 3, 51);
              SCOPED_TRACE(fmt::format("mode {} warp {} joint {} K {} τ {} top-k {}", static_cast<int>(mode),
                                       static_cast<int>(warping), static_cast<int>(joint), verified, tau,
                                       warp.top_k));
              expect_equal(method_distribution(pair, "mtad", options, {.horizon = horizon, .warp = warp})
                               .exact.distribution,
                           Definition(pair, options, warp, horizon).mtad());
            }
          }
        }
      }
    }
  }
}

TEST(AssistedOptions, DifferFromOneAnother) {
  const TabularPair pair = TabularPair::random(4, 3, 51);
  const EnumerationSettings settings{.horizon = 3, .warp = narrow()};
  MethodOptions options = options_of(1, 2);
  options.beams = 3;
  options.tau = 0.5;
  const auto plain = method_distribution(pair, "mtad", options, settings).exact;
  const auto moves = [&](auto change) {
    MethodOptions other = options;
    change(other);
    const auto found = method_distribution(pair, "mtad", other, settings).exact;
    return total_variation(plain.distribution, found.distribution) > 1e-3;
  };
  EXPECT_TRUE(moves([](MethodOptions& o) { o.beam_warp = BeamWarp::joint; }));
  EXPECT_TRUE(moves([](MethodOptions& o) { o.joint = JointLaw::raw; }));
  EXPECT_TRUE(moves([](MethodOptions& o) { o.verified_beams = 3; }));
}

// A tree contains the likeliest beam, and possibly a longer accepted prefix of another beam.
TEST(AssistedOptions, MoreBeamsNeverAcceptLess) {
  for (const std::uint32_t seed : {61u, 62u, 63u}) {
    const TabularPair pair = TabularPair::random(3, 3, seed);
    double last = 0.0;
    for (const std::size_t verified : {1u, 2u, 3u}) {
      MethodOptions options = options_of(1, 2);
      options.beams = 3;
      options.beam_mode = BeamMode::top;
      options.verified_beams = verified;
      options.tau = 0.8;
      Decoder decoder = decoder_of("mtad", options);
      OwnedModels models = pair.models("mtad", decoder, WarpOptions::none(), 3);
      const Token start[] = {0};
      Enumerator choices;
      const Block block = value_of(decoder.step({start, 3, 0, {}}, models, choices));
      EXPECT_GE(static_cast<double>(block.accepted), last);
      last = static_cast<double>(block.accepted);
    }
  }
}

TEST(AssistedOptions, OfMoreBeamsThanAreSearchedTakeAll) {
  MethodOptions options = options_of(1, 2);
  options.beams = 2;
  options.verified_beams = 9;
  EXPECT_EQ(decoder_of("mtad", options).shape().drafts, 2u);
}

TEST(JointDecodingOptions, BlocksTakeTheirLengthsInTurn) {
  const TabularPair pair = TabularPair::random(3, 5, 71);
  for (const BeamMode mode : {BeamMode::draw, BeamMode::top}) {
    for (const BeamWarp warping : {BeamWarp::token, BeamWarp::joint}) {
      for (const std::vector<std::size_t>& gammas :
           {std::vector<std::size_t>{1, 2}, {2, 1}, {3, 1, 1}, {2}}) {
        MethodOptions options = options_of(1, 4);
        options.beams = 2;
        options.beam_mode = mode;
        options.beam_warp = warping;
        options.gammas = gammas;
        const WarpOptions warp = narrow();
        expect_equal(
            method_distribution(pair, "mtjd", options, {.horizon = 4, .warp = warp}).exact.distribution,
            Definition(pair, options, warp, 4).mtjd());
      }
    }
  }
}

}  // namespace
}  // namespace spectr
