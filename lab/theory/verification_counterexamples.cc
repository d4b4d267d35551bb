#include "lab/theory/verification_counterexamples.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/decode/block.h"
#include "spectr/decode/tree_drafter.h"
#include "spectr/decode/verify/block_verifier.h"
#include "spectr/decode/verify/verifiers.h"

namespace spectr::lab {
namespace {

class HsdProgram final : public Verifier {
 public:
  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override {
    double ratio = 1.0, c = 1.0;
    std::vector<NodeId> nodes;
    std::vector<const Distribution*> p;
    NodeId above = TokenTree::root;
    for (const Draw& draw : draft.draws()) {
      SPECTR_TRY(const Distribution* q, target.at(above));
      const Token x = draft.tree().token(draw.node);
      const double step = (*q)[x] / (*draw.distribution)[x];
      ratio *= step;
      c = std::min(1.0, c * step);
      above = draw.node;
      nodes.push_back(above);
      p.push_back(draw.distribution);
    }
    // Block verification accepts the whole chain with probability c. The excess of min(1, ratio) comes first.
    const double beyond = std::min(1.0, ratio) - c;
    choices.enter(start.place(above, nodes.size(), Purpose::test));
    if (c < 1.0 && choices.accept(beyond / (1.0 - c))) {
      Verdict verdict;
      verdict.path.assign(nodes.begin(), nodes.end());
      SPECTR_TRY_VOID(draw_bonus(start, draft, target, choices, verdict));
      return verdict;
    }
    return verify_block(start, draft, nodes, p, target, choices);
  }
};

/// Sums over sequences for LengthEstimates.
class LengthSums {
 public:
  LengthSums(const ExactRows& p, const ExactRows& q, std::size_t length) : p_(p), q_(q), length_(length) {}

  /// Adds sequences beginning with `prefix`: `accepted` is Π min(p, q), `likelihood` Π q and `overlaps` Π a.
  void add(const std::vector<Token>& prefix, const Fraction& accepted, const Fraction& likelihood,
           const Fraction& overlaps) {
    if (prefix.size() == length_) return;
    const std::vector<Fraction>&p = p_.at(prefix), &q = q_.at(prefix);
    Fraction overlap = 0;
    for (std::size_t x = 0; x < q.size(); ++x) overlap = overlap + std::min(p[x], q[x]);
    const Fraction product = overlaps * overlap;
    estimates_.overlaps = estimates_.overlaps + likelihood * product;
    // Π q · Π min(1, p/q) = Π min(p, q): a prefix has the weight of its accepted part.
    estimates_.last_overlap_only = estimates_.last_overlap_only + accepted * overlap;
    for (std::size_t x = 0; x < q.size(); ++x) {
      const Fraction next = accepted * std::min(p[x], q[x]), text = likelihood * q[x];
      estimates_.expected = estimates_.expected + next;
      std::vector<Token> longer = prefix;
      longer.push_back(static_cast<Token>(x));
      if (text > Fraction(0)) add(longer, next, text, product);
    }
  }

  LengthEstimates estimates() const { return estimates_; }

 private:
  const ExactRows& p_;
  const ExactRows& q_;
  std::size_t length_;
  LengthEstimates estimates_{1, 1, 1};
};

PrefixTableModel model_of(const ExactRows& rows) {
  PrefixTableModel::Rows values;
  for (const auto& [prefix, row] : rows) {
    for (const Fraction& p : row) values[prefix].push_back(p.value());
  }
  return {rows.begin()->second.size(), values};
}

}  // namespace

Decoder hsd_program(std::size_t length) {
  Decoder decoder(std::make_unique<TreeDrafter>(TreeDrafter::sequences(1, length), Drafting::independent),
                  std::make_unique<HsdProgram>());
  decoder.expect({1, 1});
  return decoder;
}

PrefixPair hsd_pair() {
  const std::vector<double> uniform = {0.5, 0.5};
  return {{2, {{{}, {0.4, 0.6}}, {{0}, uniform}, {{1}, uniform}, {{0, 0}, uniform}, {{1, 0}, uniform}}},
          {2, {{{}, {0.8, 0.2}}, {{0}, {0.3, 0.7}}, {{1}, uniform}, {{0, 0}, uniform}, {{1, 0}, uniform}}}};
}

Fraction::Fraction(std::int64_t numerator, std::int64_t denominator) {
  SPECTR_CHECK(denominator > 0);
  const std::int64_t common = std::gcd(numerator, denominator);
  numerator_ = numerator / common;
  denominator_ = denominator / common;
}

std::string Fraction::text() const {
  return denominator_ == 1 ? fmt::format("{}", numerator_) : fmt::format("{}/{}", numerator_, denominator_);
}

Fraction operator+(const Fraction& a, const Fraction& b) {
  return {a.numerator_ * b.denominator_ + b.numerator_ * a.denominator_, a.denominator_ * b.denominator_};
}

Fraction operator*(const Fraction& a, const Fraction& b) {
  return {a.numerator_ * b.numerator_, a.denominator_ * b.denominator_};
}

LengthEstimates length_estimates(const ExactRows& p, const ExactRows& q, std::size_t length) {
  LengthSums sums(p, q, length);
  sums.add({}, 1, 1, 1);
  return sums.estimates();
}

ExactPair hedge_pair() {
  const Fraction half(1, 2);
  const std::vector<Fraction> even = {half, half}, target = {Fraction(3, 4), Fraction(1, 4)}, first = {1, 0},
                              second = {0, 1};
  return {{{{}, even}, {{0}, even}, {{1}, first}}, {{{}, target}, {{0}, even}, {{1}, second}}};
}

PrefixPair models_of(const ExactPair& pair) {
  return {model_of(pair.p), model_of(pair.q)};
}

}  // namespace spectr::lab
