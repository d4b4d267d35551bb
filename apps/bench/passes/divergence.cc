#include "apps/bench/passes/divergence.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace spectr::bench {
namespace {

// Maximum context length in tokens of each row; the last row has no maximum.
constexpr std::array<std::size_t, 4> longest = {32, 64, 128, 256};

std::vector<double> logit_numbers(const Logits& logits) {
  std::vector<double> x(logits.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = logits.at(static_cast<Token>(i));
  return x;
}

/// Returns log Σ exp(x) in double precision: Logits::log_sum_exp is too inaccurate for some divergences.
double log_sum_exp(std::span<const double> x) {
  const double max = std::ranges::max(x);
  double sum = 0.0;
  for (const double v : x) sum += std::exp(v - max);
  return max + std::log(sum);
}

struct Sums {
  std::size_t contexts = 0, same_top = 0;
  double kl = 0.0, tv = 0.0;

  void add(const Divergence& d) {
    ++contexts;
    kl += d.kl;
    tv += d.tv;
    same_top += d.same_top;
  }
  Json row(const Json& from, const Json& to) const {
    const auto n = static_cast<double>(contexts);
    return {{"tokens_from", from}, {"tokens_to", to}, {"contexts", contexts},
            {"kl", kl / n},        {"tv", tv / n},    {"same_top", static_cast<double>(same_top) / n}};
  }
};

/// Returns the logits after the whole of `context`.
Result<Logits> logits_after(Session& session, std::span<const Token> context) {
  session.rewind(0);
  if (const auto scored = session.score(context, TokenTree(context.back())); !scored)
    return std::unexpected(scored.error());
  const Logits row = session.logits(TokenTree::root);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (const double x = row.at(static_cast<Token>(i)); std::isnan(x) || x == HUGE_VAL)
      return error("{}: the logits contain NaN or infinity", session.name());
  }
  return row;
}

}  // namespace

Divergence divergence(const Logits& logits, const Logits& reference) {
  const std::vector<double> a = logit_numbers(logits), b = logit_numbers(reference);
  const double log_p = log_sum_exp(a), log_q = log_sum_exp(b);
  Divergence d;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double p = std::exp(a[i] - log_p), q = std::exp(b[i] - log_q);
    if (q > 0.0) d.kl += q * ((b[i] - log_q) - (a[i] - log_p));
    d.tv += std::abs(q - p) / 2.0;
  }
  d.same_top = std::ranges::max_element(a) - a.begin() == std::ranges::max_element(b) - b.begin();
  return d;
}

Result<Json> measure_divergence(const LanguageModel& model, const LanguageModel& reference,
                                std::span<const std::vector<Token>> contexts,
                                const std::function<void(std::size_t)>& done) {
  if (model.vocabulary() != reference.vocabulary()) {
    return error("{} has {} tokens and {} has {}: they cannot be compared", model.name(), model.vocabulary(),
                 reference.name(), reference.vocabulary());
  }
  std::size_t room = std::min(model.context(), reference.context()), needed = 1;
  for (const auto& context : contexts) needed = std::max(needed, context.size());
  room = std::min(room, needed);
  const auto session = model.start(room, 1), other = reference.start(room, 1);
  if (!session) return std::unexpected(session.error());
  if (!other) return std::unexpected(other.error());
  std::array<Sums, longest.size() + 1> by_length;
  Sums all;
  std::size_t index = 0;
  for (const auto& whole : contexts) {
    if (whole.empty()) return error("context {} has no tokens", index + 1);
    const auto context = std::span(whole).first(std::min(whole.size(), room));
    const auto mine = logits_after(**session, context), theirs = logits_after(**other, context);
    if (!mine) return std::unexpected(mine.error());
    if (!theirs) return std::unexpected(theirs.error());
    const Divergence d = divergence(*mine, *theirs);
    const auto length = std::ranges::lower_bound(longest, context.size());
    by_length[static_cast<std::size_t>(length - longest.begin())].add(d);
    all.add(d);
    done(++index);
  }
  Json rows = Json::array();
  for (std::size_t i = 0; i < by_length.size(); ++i) {
    if (by_length[i].contexts == 0) continue;
    rows.push_back(by_length[i].row(i == 0 ? 1 : longest[i - 1] + 1,
                                    i < longest.size() ? Json(longest[i]) : Json(room)));
  }
  rows.push_back(all.row(nullptr, nullptr));
  return rows;
}

}  // namespace spectr::bench
