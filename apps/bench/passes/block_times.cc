#include "apps/bench/passes/block_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "apps/bench/passes/laws.h"
#include "spectr/base/counter_random.h"
#include "spectr/base/numeric.h"
#include "spectr/base/stopwatch.h"
#include "spectr/base/token.h"
#include "spectr/decode/methods.h"
#include "spectr/decode/node_distributions.h"
#include "spectr/lm/language_model.h"
#include "spectr/lm/table_session.h"
#include "spectr/sampling/warp.h"

namespace spectr::bench {
namespace {

constexpr double seconds_per_row = 0.3;
constexpr std::size_t min_blocks = 15, max_blocks = 400;
constexpr std::size_t rows_per_model = 6;

/// A model with a table of a few rows. The length and the last token of a prefix select its row.
class FewRowsModel final : public LanguageModel {
 public:
  void add(const Distribution& law) {
    std::vector<double>& row = rows_.emplace_back(law.probabilities().begin(), law.probabilities().end());
    for (double& x : row) x = std::log(x);
  }

  std::string_view name() const override { return "a table"; }
  std::size_t vocabulary() const override { return rows_.front().size(); }
  std::size_t context() const override { return std::numeric_limits<std::size_t>::max(); }
  std::span<const double> row(std::span<const Token> sequence, const TokenTree& tree, NodeId node) const {
    const std::size_t length = sequence.size() + static_cast<std::size_t>(tree.depth(node));
    return rows_[(3 * length + static_cast<std::size_t>(tree.token(node))) % rows_.size()];
  }
  Result<std::unique_ptr<Session>> start(std::size_t, std::size_t) const override {
    return std::make_unique<TableSession<FewRowsModel>>(*this, context());
  }

 private:
  std::vector<std::vector<double>> rows_;
};

struct TablePair {
  FewRowsModel p, q;
};

TablePair pair_of(const LawKind& kind, std::size_t vocabulary, std::uint32_t seed) {
  TablePair pair;
  for (std::uint32_t i = 0; i < rows_per_model; ++i) {
    const Distributions laws = kind.make(vocabulary, seed + i);
    pair.p.add(laws.p);
    pair.q.add(laws.q);
  }
  return pair;
}

struct Filters {
  std::string_view name;
  WarpOptions options;
};

std::vector<Filters> all_filters() {
  WarpOptions top_k = WarpOptions::none();
  top_k.top_k = 40;
  return {{"none", WarpOptions::none()}, {"top-k 40", top_k}};
}

struct BlockTimes {
  double block_us, verify_us, tokens;
};

/// Times blocks of a method. Each block is selected twice.
Result<BlockTimes> time_blocks(Decoder& decoder, const TablePair& pair, const WarpOptions& filters,
                               std::size_t length) {
  SPECTR_TRY(const Warp warp, Warp::make(filters));
  const LanguageModel* const draft_model = &pair.p;
  SPECTR_TRY(OwnedModels models,
             OwnedModels::start(pair.q, std::span(&draft_model, 1), warp, 0, decoder.max_nodes(length + 1)));
  const std::size_t V = models.vocabulary();
  CounterRandom choices(1);
  std::vector<double> block, verify;
  double tokens = 0.0, spent = 0.0;
  for (std::size_t i = 0; i < min_blocks || (i < max_blocks && spent < seconds_per_row); ++i) {
    const Token sequence[] = {static_cast<Token>(i % V)};
    const BlockStart start{sequence, length + 1, i, {}};
    Draft draft(sequence[0]);
    SPECTR_TRY_VOID(decoder.drafter().propose(start, models, choices, draft));
    SPECTR_TRY_VOID(models.target.score(sequence, draft.tree()));
    const auto time = [&](bool known) -> Result<double> {
      NodeDistributions target(models.target, models.warp, sequence, draft.tree(), V);
      for (NodeId node = 0; known && node < draft.tree().size(); ++node) SPECTR_TRY_VOID(target.at(node));
      Stopwatch watch;
      SPECTR_TRY(const Verdict verdict, decoder.verifier().select(start, draft, target, choices));
      const double seconds = watch.lap();
      if (!known) tokens += static_cast<double>(verdict.path.size()) + (verdict.last ? 1.0 : 0.0);
      return seconds;
    };
    SPECTR_TRY(const double whole, time(false));
    SPECTR_TRY(const double alone, time(true));
    block.push_back(1e6 * whole);
    verify.push_back(1e6 * alone);
    spent += whole + alone;
  }
  const auto blocks = static_cast<double>(block.size());
  return BlockTimes{median(std::move(block)), median(std::move(verify)), tokens / blocks};
}

/// A method and its settings.
struct Measured {
  const MethodRule* rule;
  MethodOptions options;
};

Result<std::vector<Measured>> measured(const BlockSettings& settings) {
  std::vector<Measured> all;
  for (const std::string& name : settings.methods) {
    SPECTR_TRY(const MethodRule* rule, find_method(name));
    if (rule->models.min != 1 || rule->models.max != 1)
      return error("method {} does not draft from one model", rule->name);
    for (const std::size_t drafts : settings.drafts) {
      for (const std::size_t length : settings.lengths) {
        MethodOptions options;
        options.drafts = drafts;
        options.length = length;
        SPECTR_TRY(const Decoder decoder, make_decoder(*rule, options));
        options.drafts = decoder.shape().drafts;
        const auto is_same = [&](const Measured& other) {
          return other.rule == rule && other.options.drafts == options.drafts &&
                 other.options.length == length;
        };
        if (std::ranges::none_of(all, is_same)) all.push_back({rule, options});
      }
    }
  }
  return all;
}

}  // namespace

Result<Json> measure_blocks(const BlockSettings& settings,
                            const std::function<void(std::size_t, std::size_t)>& done) {
  SPECTR_TRY(const std::vector<Measured> methods, measured(settings));
  const std::vector<Filters> filters = all_filters();
  const std::size_t total = settings.vocabularies.size() * law_kinds.size() * filters.size() * methods.size();
  Json rows = Json::array();
  for (const std::size_t vocabulary : settings.vocabularies) {
    for (const LawKind& kind : law_kinds) {
      const TablePair pair = pair_of(kind, vocabulary, settings.seed);
      for (const Filters& filter : filters) {
        for (const auto& [rule, options] : methods) {
          SPECTR_TRY(Decoder decoder, make_decoder(*rule, options));
          SPECTR_TRY(const BlockTimes times, time_blocks(decoder, pair, filter.options, options.length));
          rows.push_back({{"method", rule->name},
                          {"plan", rule->plan.empty() ? Json(nullptr) : Json(rule->plan)},
                          {"vocab", vocabulary},
                          {"laws", kind.name},
                          {"filters", filter.name},
                          {"k", options.drafts},
                          {"length", options.length},
                          {"block_us", times.block_us},
                          {"verify_us", times.verify_us},
                          {"tokens", times.tokens}});
          done(rows.size(), total);
        }
      }
    }
  }
  return rows;
}

}  // namespace spectr::bench
