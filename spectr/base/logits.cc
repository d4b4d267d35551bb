#include "spectr/base/logits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "spectr/base/check.h"
#include "spectr/base/vector_math.h"

namespace spectr {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Number>
RecycledVector<Candidate> top_of(std::span<const Number> logits, std::size_t k) {
  SPECTR_CHECK(k >= 1);
  if (logits.empty()) return {};
  const Number max = largest(logits);
  if (std::isnan(max)) {
    const auto at = std::ranges::find_if(logits, [](Number logit) { return !(logit < infinity); });
    return {{*at, static_cast<Token>(at - logits.begin())}};
  }
  if (k == 1) {
    if (max == -infinity) return {};
    const auto best = std::ranges::find(logits, max);
    return {{max, static_cast<Token>(best - logits.begin())}};
  }
  // Single pass: a list of at most 4 k + 64 candidates is cut to the best k when it is full. The k-th best
  // logit becomes the bar, and only larger logits are added, because an earlier token wins a tie.
  const std::size_t room = std::min(4 * k + 64, logits.size());
  RecycledVector<Candidate> found;
  found.reserve(room);
  const auto cut = [&found, k] {
    std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(k) - 1, found.end(), before);
    found.resize(k);
  };
  Number bar = -std::numeric_limits<Number>::infinity();
  for (std::size_t i = next_above(logits, 0, bar); i < logits.size(); i = next_above(logits, i + 1, bar)) {
    found.push_back({logits[i], static_cast<Token>(i)});
    if (found.size() < room || room <= k) continue;
    cut();
    bar = static_cast<Number>(found.back().logit);
  }
  if (found.size() > k) cut();
  std::ranges::sort(found, before);
  return found;
}

template <class Number>
double log_sum_exp_at(std::span<const Number> logits, double temperature) {
  SPECTR_CHECK(!logits.empty() && temperature > 0.0);
  if (temperature == 1.0) return log_sum_exp(logits);
  RecycledVector<double> weights(logits.begin(), logits.end());
  const double max = largest(logits), scale = std::min(1.0 / temperature, 1e300);
  exp_differences(weights, max, scale);
  return max * scale + std::log(std::accumulate(weights.begin(), weights.end(), 0.0));
}

}  // namespace

Logits Logits::first(std::size_t n) const {
  SPECTR_CHECK(n <= size_);
  return {std::visit(
              [n]<class T>(T row) -> Row {
                if constexpr (std::is_same_v<T, Remote>) {
                  return row;
                } else {
                  return row.first(n);
                }
              },
              row_),
          n};
}

double Logits::at(Token token) const {
  SPECTR_CHECK(token >= 0 && static_cast<std::size_t>(token) < size_);
  if (const Remote* remote = std::get_if<Remote>(&row_)) return remote->rows->at(remote->row, token);
  return std::visit([token](auto row) { return static_cast<double>(row[static_cast<std::size_t>(token)]); },
                    values());
}

RecycledVector<Candidate> Logits::top(std::size_t k) const {
  if (const Remote* remote = std::get_if<Remote>(&row_)) {
    RecycledVector<Candidate> found;
    remote->rows->top(remote->row, size_, k, found);
    return found;
  }
  return std::visit([k](auto row) { return top_of(row, k); }, values());
}

double Logits::log_sum_exp(double temperature) const {
  if (const Remote* remote = std::get_if<Remote>(&row_)) {
    return remote->rows->log_sum_exp(remote->row, size_, temperature);
  }
  return std::visit([temperature](auto row) { return log_sum_exp_at(row, temperature); }, values());
}

Result<void> Logits::state() const {
  const Remote* remote = std::get_if<Remote>(&row_);
  return remote != nullptr ? remote->rows->state() : Result<void>();
}

LogitValues Logits::values() const {
  return std::visit(
      [this]<class T>(T row) -> LogitValues {
        if constexpr (std::is_same_v<T, Remote>) {
          return row.rows->values(row.row).first(size_);
        } else {
          return row;
        }
      },
      row_);
}

}  // namespace spectr
