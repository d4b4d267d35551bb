#include "apps/bench/passes/batch_curve.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "apps/bench/mean.h"
#include "spectr/base/stopwatch.h"
#include "spectr/lm/token_tree.h"

namespace spectr::bench {
namespace {

constexpr std::size_t turns = 10;

/// Returns `batch` chains of `length` nodes below the root; they differ in their first nodes.
TokenTree chains(std::size_t batch, std::size_t length) {
  TokenTree tree(0);
  for (std::size_t b = 0; b < batch; ++b) {
    NodeId node = TokenTree::root;
    for (std::size_t i = 0; i < length; ++i) node = tree.child(node, static_cast<Token>(i == 0 ? b : 0));
  }
  return tree;
}

/// A repeatable pass with its measurements so far.
class BatchPass {
 public:
  static Result<BatchPass> make(const LanguageModel& model, const BatchSettings& settings, std::size_t length,
                                std::size_t batch) {
    const std::size_t sessions = settings.independent ? batch : 1;
    const std::size_t text = settings.depth + (settings.independent ? length : 1);
    BatchPass pass(model, length, batch, settings.independent ? TokenTree(0) : chains(batch, length),
                   std::vector<Token>(text, 0), settings.independent ? text - length : text - 1);
    for (std::size_t i = 0; i < sessions; ++i) {
      SPECTR_TRY(std::unique_ptr<Session> session,
                 model.start(text + length, static_cast<std::size_t>(pass.tree_.size())));
      pass.sessions_.push_back(std::move(session));
    }
    return pass;
  }

  /// Runs the pass `times` times. Time and energy are recorded only if `meter` is given.
  Result<void> run(std::size_t times, EnergyMeter* meter) {
    if (meter != nullptr) meter->start();
    for (std::size_t i = 0; i < times; ++i) {
      std::vector<Scoring> scorings;
      for (const auto& session : sessions_) {
        if (session->length() > kept_) session->rewind(kept_);
        scorings.push_back({session.get(), text_, &tree_});
      }
      Stopwatch watch;
      while (!std::ranges::all_of(scorings, &Scoring::is_over)) model_->score_together(scorings);
      const double seconds = watch.lap();
      for (const Scoring& scoring : scorings) {
        if (scoring.failure) std::rethrow_exception(scoring.failure);
        SPECTR_TRY_VOID(scoring.result);
      }
      if (meter != nullptr) milliseconds_.push_back(1e3 * seconds);
    }
    if (meter == nullptr) return {};
    const auto energy = meter->stop();
    joules_ = joules_ && energy ? std::optional(*joules_ + energy->joules) : std::nullopt;
    return {};
  }

  double mean_ms() const { return mean_of(milliseconds_).value; }

  Json row(bool independent, double base_ms) const {
    const auto inputs = static_cast<double>(batch_), runs = static_cast<double>(milliseconds_.size());
    const auto deviation = deviation_of(milliseconds_);
    const auto joules = [&](double per) { return joules_ ? Json(*joules_ / per) : Json(nullptr); };
    return {{"length", length_},
            {"batch", batch_},
            {"independent", independent},
            {"runs", milliseconds_.size()},
            {"mean_ms", mean_ms()},
            {"sd_ms", deviation ? Json(*deviation) : Json(nullptr)},
            {"ms", *std::ranges::min_element(milliseconds_)},
            {"relative", mean_ms() / base_ms},
            {"ms_per_input", mean_ms() / inputs},
            {"seconds", 1e-3 * mean_ms() * runs},
            {"joules", joules(1.0)},
            {"joules_per_run", joules(runs)},
            {"joules_per_input", joules(runs * inputs)}};
  }

 private:
  BatchPass(const LanguageModel& model, std::size_t length, std::size_t batch, TokenTree tree,
            std::vector<Token> text, std::size_t kept)
      : model_(&model),
        length_(length),
        batch_(batch),
        tree_(std::move(tree)),
        text_(std::move(text)),
        kept_(kept) {}

  const LanguageModel* model_;
  std::size_t length_, batch_;
  TokenTree tree_;           // tree of each session
  std::vector<Token> text_;  // sequence of each session
  std::size_t kept_;         // length of the prefix that a pass does not recompute
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<double> milliseconds_;
  std::optional<double> joules_ = 0.0;
};

Result<void> check(const LanguageModel& model, const BatchSettings& settings) {
  if (settings.lengths.empty() || settings.batches.empty())
    return error("no lengths or no batches are given");
  for (const std::size_t batch : settings.batches) {
    if (batch < 1) return error("a batch of {} sequences is impossible", batch);
    if (!settings.independent && batch > model.vocabulary()) {
      return error("{} chains cannot differ in their first token: the vocabulary has {}", batch,
                   model.vocabulary());
    }
  }
  if (std::ranges::count(settings.lengths, 0u) > 0) return error("sequences of 0 tokens are impossible");
  if (settings.runs < 1) return error("at least one run is needed");
  return {};
}

}  // namespace

Result<Json> measure_batches(const LanguageModel& model, const BatchSettings& settings,
                             std::optional<double> base_ms, EnergyMeter& meter,
                             const std::function<void(std::size_t, std::size_t)>& done) {
  SPECTR_TRY_VOID(check(model, settings));
  std::vector<BatchPass> passes;
  for (const std::size_t length : settings.lengths) {
    for (const std::size_t batch : settings.batches) {
      SPECTR_TRY(BatchPass pass, BatchPass::make(model, settings, length, batch));
      SPECTR_TRY_VOID(pass.run(1, nullptr));  // prefills the sequence and faults memory in
      passes.push_back(std::move(pass));
    }
  }
  std::size_t finished = 0;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const std::size_t times = settings.runs * (turn + 1) / turns - settings.runs * turn / turns;
    for (BatchPass& pass : passes) {
      if (times > 0) SPECTR_TRY_VOID(pass.run(times, &meter));
      done(finished += times, settings.runs * passes.size());
    }
  }
  Json rows = Json::array();
  for (const BatchPass& pass : passes)
    rows.push_back(pass.row(settings.independent, base_ms.value_or(passes.front().mean_ms())));
  return rows;
}

}  // namespace spectr::bench
