#include "spectr/lm/tabular_model.h"

#include <algorithm>
#include <cmath>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

/// Nothing is computed and nothing kept: a row is looked up when it is asked for. So any text may follow any
/// other, and an enumeration goes back without a word.
class TabularSession final : public Session {
 public:
  TabularSession(const TabularModel& model, std::size_t context) : model_(model), context_(context) {}

  Result<void> score(std::span<const Token> text, const TokenTree& tree) override {
    SPECTR_CHECK(!text.empty() && tree.token(TokenTree::root) == text.back());
    int deepest = 0;
    rows_.clear();
    for (NodeId node = 0; node < tree.size(); ++node) {
      const Token token = tree.token(node);
      if (token < 0 || static_cast<std::size_t>(token) >= model_.vocabulary()) {
        return error("token {} is outside the vocabulary of {}", token, model_.vocabulary());
      }
      rows_.push_back({text.size() - 1 + static_cast<std::size_t>(tree.depth(node)), tree.token(node)});
      deepest = std::max(deepest, tree.depth(node));
    }
    if (text.size() + static_cast<std::size_t>(deepest) > context_) {
      return error(ErrorCode::context_full, "text and draft have {} tokens, but the context holds {}",
                   text.size() + static_cast<std::size_t>(deepest), context_);
    }
    length_ = text.size();
    return {};
  }

  Logits logits(NodeId node) const override {
    SPECTR_CHECK(static_cast<std::size_t>(node) < rows_.size());
    const Row& row = rows_[static_cast<std::size_t>(node)];
    return model_.log_row(row.step, row.last);
  }

  void keep(std::span<const NodeId> path) override {
    const auto scored = [this](NodeId node) { return static_cast<std::size_t>(node) < rows_.size(); };
    length_ += static_cast<std::size_t>(std::ranges::find_if_not(path, scored) - path.begin());
    rows_.clear();
  }
  void rewind(std::size_t length) override {
    length_ = std::min(length_, length);
    rows_.clear();
  }
  std::string_view name() const override { return "a table"; }
  std::size_t length() const override { return length_; }
  std::size_t vocabulary() const override { return model_.vocabulary(); }
  std::size_t context() const override { return context_; }

 private:
  struct Row {
    std::size_t step;
    Token last;
  };
  const TabularModel& model_;
  std::size_t context_;
  std::size_t length_ = 0;
  std::vector<Row> rows_;  // by node
};

}  // namespace

double uniform53(std::mt19937& generator) {
  const std::uint32_t high = generator() >> 5, low = generator() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

TabularModel::TabularModel(std::size_t vocabulary, std::size_t steps,
                           const std::vector<double>& probabilities)
    : vocabulary_(vocabulary), steps_(steps), logs_(probabilities.size()) {
  SPECTR_CHECK(vocabulary >= 1 && steps >= 1 && probabilities.size() == steps * vocabulary * vocabulary);
  for (std::size_t begin = 0; begin < probabilities.size(); begin += vocabulary) {
    const std::span row = std::span(probabilities).subspan(begin, vocabulary);
    SPECTR_CHECK(std::ranges::all_of(row, [](double p) { return p >= 0.0; }));
    SPECTR_CHECK(std::abs(sum_of(row) - 1.0) <= 1e-7);
  }
  std::ranges::transform(probabilities, logs_.begin(), [](double p) { return std::log(p); });
}

TabularModel TabularModel::random(std::size_t vocabulary, std::size_t steps, std::mt19937& generator) {
  std::vector<double> rows(steps * vocabulary * vocabulary);
  for (std::size_t begin = 0; begin < rows.size(); begin += vocabulary) {
    const std::span row = std::span(rows).subspan(begin, vocabulary);
    double total = 0.0;
    for (double& p : row) total += p = uniform53(generator);
    for (double& p : row) p /= total;
  }
  return {vocabulary, steps, rows};
}

std::span<const double> TabularModel::log_row(std::size_t step, Token last) const {
  const std::size_t row = std::min(step, steps_ - 1) * vocabulary_ + static_cast<std::size_t>(last);
  return std::span(logs_).subspan(row * vocabulary_, vocabulary_);
}

Result<std::unique_ptr<Session>> TabularModel::start(std::size_t context, std::size_t /*nodes*/) const {
  return std::make_unique<TabularSession>(*this, context == 0 ? this->context() : context);
}

}  // namespace spectr
