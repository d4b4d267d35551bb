#include "spectr/engine/costs/slim_trial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "spectr/base/numeric.h"
#include "spectr/base/stopwatch.h"
#include "spectr/sampling/warp.h"

namespace spectr {
namespace {

constexpr std::size_t shortlist = 32768;
constexpr double worth_changing = 1.02;

constexpr std::string_view sample =
    "The old bridge had been closed since the flood, so she walked along the river to the next village, "
    "where "
    "a man was repairing his boat. \"It will rain before evening,\" he said.\n\n"
    "def count_words(text):\n    counts = {}\n    for word in text.lower().split():\n"
    "        counts[word] = counts.get(word, 0) + 1\n    return counts\n";

/// Returns the seconds of a pass of `rows` rows after the sample: the lower quartile of a few passes.
Result<double> pass_seconds(Session& session, std::span<const Token> text, std::size_t rows) {
  constexpr int passes = 8;
  std::vector<double> seconds;
  TokenTree tree(text.back());
  while (static_cast<std::size_t>(tree.size()) < rows)
    tree.child(TokenTree::root, static_cast<Token>(tree.size()));
  for (int i = 0; i < passes; ++i) {
    session.rewind(text.size() - 1);
    Stopwatch watch;
    SPECTR_TRY_VOID(session.score(text, tree));
    seconds.push_back(watch.lap());
  }
  return lower_quartile(std::move(seconds));
}

/// A model after the sample, with its distributions at every token of it.
class Sampled {
 public:
  static Result<Sampled> start(const Transformer& model, std::span<const Token> text) {
    const std::size_t nodes = std::max<std::size_t>(text.size(), max_rows);
    SPECTR_TRY(std::unique_ptr<Session> session, model.start(text.size() + 1, nodes));
    TokenTree tree(text.front());
    NodeId last = TokenTree::root;
    for (const Token token : text.subspan(1)) last = tree.child(last, token);
    SPECTR_TRY_VOID(session->score(text.first(1), tree));
    return Sampled(std::move(session), text);
  }

  /// Requires: no pass was timed before.
  Result<Distribution> at(NodeId node, std::size_t vocabulary) const {
    SPECTR_TRY(const Warp warp, Warp::make(WarpOptions::none()));
    const Logits row = session_->logits(node);
    return warp.distribution(row.first(std::min(row.size(), vocabulary)), {}, vocabulary);
  }
  Result<double> seconds(std::size_t rows) { return pass_seconds(*session_, text_, rows); }

  static constexpr std::size_t max_rows = 9;  // one token and eight drafts

 private:
  Sampled(std::unique_ptr<Session> session, std::span<const Token> text)
      : session_(std::move(session)), text_(text) {}

  std::unique_ptr<Session> session_;
  std::span<const Token> text_;
};

/// Returns the maximum speedup over plain decoding of chains of one to eight drafts, given the seconds of the
/// target's passes of 1 to 9 rows and of a draft pass: t_1 (1 + a + … + a^L) / (L d + t_{1 + L}).
double best_speedup(const std::array<double, Sampled::max_rows>& target, double draft, double acceptance) {
  double best = 0.0, tokens = 1.0;
  for (std::size_t L = 1; L < target.size(); ++L) {
    tokens += std::pow(acceptance, static_cast<double>(L));
    best = std::max(best, target[0] * tokens / (static_cast<double>(L) * draft + target[L]));
  }
  return best;
}

}  // namespace

std::size_t best_of(const std::vector<SlimTrial>& trials) {
  const auto best = std::ranges::max_element(trials, {}, &SlimTrial::speedup);
  const bool pays = best->speedup > worth_changing * trials.front().speedup;
  return pays ? static_cast<std::size_t>(best - trials.begin()) : 0;
}

std::span<const SlimOptions> slim_variants() {
  static const SlimOptions variants[] = {{}, {TensorType::q4_0, shortlist}, {TensorType::q4_0}};
  return variants;
}

Result<SlimTrials> try_slim(const Transformer& target, const Tokenizer& tokenizer,
                            const std::filesystem::path& draft, ThreadPool& pool, const LoadOptions& options,
                            std::span<const SlimOptions> variants,
                            const std::function<void(std::size_t)>& done) {
  const std::vector<Token> text = tokenizer.encode(sample);
  SPECTR_TRY(Sampled large, Sampled::start(target, text));
  std::vector<Distribution> wanted;
  for (NodeId node = 0; static_cast<std::size_t>(node) < text.size(); ++node) {
    SPECTR_TRY(Distribution q, large.at(node, target.vocabulary()));
    wanted.push_back(std::move(q));
  }
  std::array<double, Sampled::max_rows> target_seconds{};
  SPECTR_TRY(target_seconds.front(), large.seconds(1));
  SPECTR_TRY(target_seconds.back(), large.seconds(Sampled::max_rows));
  for (std::size_t rows = 2; rows < Sampled::max_rows; ++rows) {
    const double share = static_cast<double>(rows - 1) / (Sampled::max_rows - 1);
    target_seconds[rows - 1] = std::lerp(target_seconds.front(), target_seconds.back(), share);
  }

  SlimTrials all;
  auto& trials = all.trials;
  for (std::size_t tried = 0; tried < variants.size(); ++tried) {
    if (done) done(tried);
    LoadOptions changed = options;
    changed.draft = variants[tried];
    changed.choose_draft = nullptr;
    auto model = load_draft(draft, target, tokenizer, pool, changed);
    if (!model && trials.empty()) return std::unexpected(model.error());
    if (!model) continue;
    SPECTR_TRY(Sampled small, Sampled::start(*model->transformer, text));
    double overlap = 0.0;
    for (NodeId node = 0; static_cast<std::size_t>(node) < text.size(); ++node) {
      SPECTR_TRY(const Distribution p, small.at(node, target.vocabulary()));
      overlap += 1.0 - total_variation(p, wanted[static_cast<std::size_t>(node)]);
    }
    const double acceptance = overlap / static_cast<double>(text.size());
    SPECTR_TRY(const double seconds, small.seconds(1));
    trials.push_back(
        {variants[tried], seconds, acceptance, best_speedup(target_seconds, seconds, acceptance)});
    all.best = best_of(trials);
    if (all.best + 1 == trials.size()) all.model = *std::move(model);
  }
  if (done) done(variants.size());
  return all;
}

}  // namespace spectr
