// Compares `auto` with plain decoding and fixed chains. Passes are charged by a cost curve instead of a
// clock, so that results vary only with the sequences.
//   auto_bench TARGET.gguf DRAFT.gguf PROMPTS.jsonl SHARE TEXTS [shuffled]
// Draft passes cost SHARE of target passes. shuffled: permutes the draft's logits, which makes it useless.
// Prints, for each curve, sampling and length, the cost of plain decoding over that of `auto`, and the cost
// of the best chain of L = 0 to 8 drafts, chosen in hindsight, over that of `auto`.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/bench/prompts.h"
#include "spectr/base/counter_random.h"
#include "spectr/decode/auto/auto_params.h"
#include "spectr/decode/generate.h"
#include "spectr/decode/methods.h"
#include "spectr/engine/loaded_model.h"

namespace spectr {
namespace {

using Places = std::vector<std::size_t>;

class ShuffledSession final : public Session {
 public:
  ShuffledSession(std::unique_ptr<Session> session, const Places& places)
      : session_(std::move(session)), places_(places), row_(places.size()) {}
  Result<void> score(std::span<const Token> text, const TokenTree& tree) override {
    return session_->score(text, tree);
  }
  Logits logits(NodeId node) const override {
    const Logits logits = session_->logits(node);
    for (std::size_t i = 0; i < row_.size(); ++i) row_[i] = logits.at(static_cast<Token>(places_[i]));
    return std::span<const double>(row_);
  }
  void keep(std::span<const NodeId> path) override { session_->keep(path); }
  void rewind(std::size_t length) override { session_->rewind(length); }
  std::string_view name() const override { return session_->name(); }
  std::size_t length() const override { return session_->length(); }
  std::size_t vocabulary() const override { return session_->vocabulary(); }
  std::size_t context() const override { return session_->context(); }

 private:
  std::unique_ptr<Session> session_;
  const Places& places_;
  mutable std::vector<double> row_;
};

/// A model with permuted logits.
class ShuffledModel final : public LanguageModel {
 public:
  explicit ShuffledModel(const LanguageModel& model) : model_(model), places_(model.vocabulary()) {
    std::iota(places_.begin(), places_.end(), std::size_t{0});
    std::shuffle(places_.begin(), places_.end(), std::mt19937(1));
  }
  std::string_view name() const override { return model_.name(); }
  std::size_t vocabulary() const override { return model_.vocabulary(); }
  std::size_t context() const override { return model_.context(); }
  Result<std::unique_ptr<Session>> start(std::size_t context, std::size_t nodes) const override {
    SPECTR_TRY(std::unique_ptr<Session> session, model_.start(context, nodes));
    return std::make_unique<ShuffledSession>(std::move(session), places_);
  }

 private:
  const LanguageModel& model_;
  Places places_;
};

/// Time of target passes relative to one row, as in docs/performance.md; values for 32 rows are estimates.
struct Curve {
  const char* name;
  std::vector<CostCurve::Point> points;

  CostCurve of(double share) const {
    auto scaled = points;
    for (CostCurve::Point& point : scaled) point.seconds *= share;
    return CostCurve(scaled);
  }
};
const Curve curves[] = {{"A, Q8_0", {{1, 1}, {2, 1.0}, {4, 1.05}, {8, 1.1}, {16, 1.24}, {32, 1.7}}},
                        {"A, Q4_0", {{1, 1}, {2, 1.02}, {4, 1.11}, {8, 1.3}, {16, 1.61}, {32, 2.6}}},
                        {"B, Q8_0", {{1, 1}, {2, 1.07}, {4, 1.38}, {8, 2.6}, {16, 5.2}, {32, 10.4}}},
                        {"B, Q4_0", {{1, 1}, {2, 1.23}, {4, 1.74}, {8, 3.1}, {16, 6.2}, {32, 12.4}}}};

struct Pair {
  const LanguageModel& target;
  const LanguageModel& draft;
};

/// Share of the logits in the time per row of a long pass, for 22 layers of width 2048 and 32,000 tokens.
constexpr double logits_share = 0.06;

/// Returns the time per row of a long pass.
double row_seconds(const CostCurve& passes) {
  return (passes.seconds(16.0) - passes.seconds(8.0)) / 8.0;
}

/// Returns the cost of a completion in units of a plain pass.
Result<double> cost(const Pair& pair, Decoder& decoder, const Costs& costs, const Warp& warp,
                    std::span<const Token> prompt, std::size_t tokens, std::uint64_t seed) {
  const LanguageModel* const drafts[] = {&pair.draft};
  const std::size_t context = prompt.size() + tokens + 1;
  SPECTR_TRY(OwnedModels models,
             OwnedModels::start(pair.target, drafts, warp, context, decoder.max_nodes(tokens)));
  const CostCurve& passes = costs.drafts.front().passes;
  double sum = 0.0;
  std::size_t length = prompt.size(), read = 0;
  const auto charge = [&](const Block& block) -> std::optional<std::size_t> {
    const auto why = decoder.drafter().expectation();
    if (read == 0 && models.drafts.front()->length() + 1 >= prompt.size()) {
      read = prompt.size() - 1;
      sum += passes.seconds(static_cast<double>(read));
      if (why)
        sum += static_cast<double>(AutoParams::look_positions) * logits_share * row_seconds(costs.target);
    }
    sum += costs.target.seconds(1.0 + static_cast<double>(block.drafted));
    if (block.drafted > 0 && (!why || why->model)) {
      const auto depth = static_cast<double>(block.depth);
      sum += passes.seconds(std::max(static_cast<double>(length - read), 2.0)) +
             (depth - 1.0) * passes.seconds(static_cast<double>(block.drafted) / depth);
      read = length;
    }
    length += block.tokens.size();
    return std::nullopt;
  };
  CounterRandom choices(seed);
  SPECTR_TRY_VOID(generate(decoder, models, prompt, {.limit = tokens}, choices, charge));
  return sum;
}

/// A row of the table: a curve, sampling options, and a length.
struct Cell {
  const Curve& curve;
  const WarpOptions& sampling;
  std::size_t tokens;
};

constexpr std::size_t longest = 8;

/// Returns the total costs of all completions for chains of 0 to `longest` drafts, and last for `auto`.
Result<std::vector<double>> costs_by_way(const Pair& pair, double share, const Cell& cell,
                                         std::span<const std::vector<Token>> prompts) {
  const Costs costs{cell.curve.of(1.0), {{cell.curve.of(share)}}, {}};
  SPECTR_TRY(const Warp warp, Warp::make(cell.sampling));
  std::vector sums = {static_cast<double>(prompts.size() * cell.tokens) * costs.target.seconds(1.0)};
  for (std::size_t way = 1; way <= longest + 1; ++way) {
    const bool automatic = way > longest;
    MethodOptions options{.drafts = 1, .length = way};
    if (automatic) options.costs = std::make_shared<Costs>(costs);
    SPECTR_TRY(const MethodRule* method, find_method(automatic  ? "auto"
                                                     : way == 0 ? "plain"
                                                                : "speculative"));
    SPECTR_TRY(Decoder decoder, make_decoder(*method, options));
    double sum = 0.0;
    for (std::size_t t = 0; t < prompts.size(); ++t) {
      SPECTR_TRY(const double one, cost(pair, decoder, costs, warp, prompts[t], cell.tokens, 1000 + t));
      sum += one;
    }
    sums.push_back(sum);
  }
  return sums;
}

Result<void> run(std::span<char* const> arguments) {
  ThreadPool pool(1);
  SPECTR_TRY(const LoadedModel target, load_model(arguments[0], pool));
  SPECTR_TRY(const LoadedModel draft, load_draft(arguments[1], *target.transformer, *target.tokenizer, pool));
  const ShuffledModel shuffled(*draft.transformer);
  const Pair pair = {*target.transformer,
                     arguments.size() > 5 ? static_cast<const LanguageModel&>(shuffled) : *draft.transformer};
  const auto texts = static_cast<std::size_t>(std::atoi(arguments[4]));
  SPECTR_TRY(const std::vector<bench::Prompt> read, bench::read_prompts(arguments[2], texts));
  std::vector<std::vector<Token>> prompts;
  for (const bench::Prompt& prompt : read) {
    prompts.push_back(target.tokenizer->encode(prompt.turns.front().substr(0, 40)));
  }
  const std::pair<const char*, WarpOptions> samplings[] = {
      {"no filters", WarpOptions::none()}, {"default filters", {}}, {"temperature 0", {.temperature = 0.0}}};

  fmt::print(
      "| curve | sampling | tokens | of plain decoding | of the best chain |\n|---|---|---:|---:|---:|\n");
  for (const Curve& curve : curves) {
    for (const auto& [name, sampling] : samplings) {
      for (const std::size_t tokens : {8U, 16U, 32U, 64U, 128U}) {
        SPECTR_TRY(const std::vector<double> sums,
                   costs_by_way(pair, std::atof(arguments[3]), {curve, sampling, tokens}, prompts));
        const double plain = sums.front(), by_auto = sums.back();
        const double best = *std::min_element(sums.begin(), sums.end() - 1);
        fmt::print("| {} | {} | {} | {:.2f} | {:.2f} |\n", curve.name, name, tokens, plain / by_auto,
                   best / by_auto);
        std::fflush(stdout);
      }
    }
  }
  return {};
}

}  // namespace
}  // namespace spectr

int main(int argc, char** argv) {
  if (argc < 6) {
    fmt::print(stderr, "usage: auto_bench TARGET.gguf DRAFT.gguf PROMPTS.jsonl SHARE TEXTS [shuffled]\n");
    return 2;
  }
  const auto done = spectr::run({argv + 1, argv + argc});
  if (!done) fmt::print(stderr, "{}\n", done.error().message);
  return done ? 0 : 1;
}
