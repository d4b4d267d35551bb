// Transport plans: k drafts from p become one token that is distributed as q.
//
//     const auto plan = spectr::Plan::build("optimal", p, q, 2).value();
//     const auto drafts = plan.draw({.seed = 1, .block = step}).value();
//     const auto y = plan.select(drafts, {.seed = 1, .block = step}).value();
//     y.token; y.accepted;  // lossless plans: P(y.token = x) = q[x]
//
// Lifetime: a plan copies p and q. It can be moved, not copied.
// Errors: bad_input names the argument and its value: unknown names, probabilities that are negative, not
// finite or do not sum to 1 within 1e-6, drafts outside the vocabulary. `internal` if a linear program cannot
// be solved. Threads: a plan can be used by several threads at once; its calls run one after another. Cost:
// docs/plans.md has the cost of building each plan. select() is O(k) or O(V), and allocates no memory of its
// own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spectr/error.h"
#include "spectr/token.h"

namespace spectr::inline v0 {

/// Settings that some plans read.
struct PlanOptions {
  double epsilon = 0.0;  ///< over-acceptance of the plans epsilon-opt and epsilon-uno
  int rounds = 1;        ///< linear programs of plan str+, at least 1
};

/// The output of a plan.
struct Selection {
  Token token = 0;
  bool accepted = false;  ///< the token is one of the drafts
};

/// A plan for k drafts from p and the target q.
class Plan {
 public:
  /// Builds the plan `name`: "optimal", "k-seq", …, see plans(). p and q: [V]. k: at least 1.
  static Result<Plan> build(const std::string& name, std::span<const double> p, std::span<const double> q,
                            std::size_t k, const PlanOptions& options = {}) {
    if (p.size() != q.size()) {
      return detail::bad_input("p has " + std::to_string(p.size()) + " entries, but q has " +
                               std::to_string(q.size()));
    }
    const spectr_plan_options settings{.epsilon = options.epsilon, .rounds = options.rounds};
    spectr_plan* handle = nullptr;
    const Result<void> done = detail::checked([&](spectr_error* error) {
      return spectr_plan_new(name.c_str(), p.data(), q.data(), p.size(), k, &settings, &handle, error);
    });
    if (!done) return done.error();
    return Plan(handle, p.size());
  }

  std::size_t vocabulary() const noexcept { return vocabulary_; }
  /// Returns the number of drafts that draw() returns and select() takes: k, or fewer if drafts are drawn
  /// without replacement and p has fewer tokens.
  std::size_t drafts() const noexcept { return spectr_plan_drafts(handle_.get()); }

  /// Returns the probability that a draft is accepted.
  Result<double> acceptance() const {
    return detail::filled(0.0, [&](double& value, spectr_error* error) {
      return spectr_plan_acceptance(handle_.get(), &value, error);
    });
  }

  /// Returns the exact distribution of the output, [V], by enumeration. It equals q for lossless plans. Fails
  /// above 2e5 tuples of drafts.
  Result<std::vector<double>> law() const {
    return row([&](double* out, spectr_error* error) { return spectr_plan_law(handle_.get(), out, error); });
  }

  /// Returns the distribution of the output if no draft is accepted, [V]. Returns nothing if acceptance is 1
  /// or if the distribution depends on the drafts.
  Result<std::optional<std::vector<double>>> residual() const {
    bool exists = false;
    auto found = row([&](double* out, spectr_error* error) {
      return spectr_plan_residual(handle_.get(), out, &exists, error);
    });
    if (!found) return found.error();
    if (!exists) return std::optional<std::vector<double>>();
    return std::optional(*std::move(found));
  }

  /// Returns the exact distribution of the output given the drafts, [V].
  Result<std::vector<double>> conditional(std::span<const Token> drafts) const {
    return row([&](double* out, spectr_error* error) {
      return spectr_plan_conditional(handle_.get(), drafts.data(), drafts.size(), out, error);
    });
  }

  /// Draws drafts() drafts as the plan requires: independently from p, or without replacement.
  Result<std::vector<Token>> draw(const Stream& stream) const {
    const spectr_stream random = detail::stream_of(stream);
    return detail::filled(std::vector<Token>(drafts()), [&](auto& out, spectr_error* error) {
      return spectr_plan_draw(handle_.get(), &random, out.data(), error);
    });
  }

  /// Selects the output. The stream can be that of draw().
  Result<Selection> select(std::span<const Token> drafts, const Stream& stream) const {
    const spectr_stream random = detail::stream_of(stream);
    return detail::filled(Selection{}, [&](Selection& y, spectr_error* error) {
      return spectr_plan_select(handle_.get(), drafts.data(), drafts.size(), &random, &y.token, &y.accepted,
                                error);
    });
  }

 private:
  struct Free {
    void operator()(spectr_plan* handle) const noexcept { spectr_plan_free(handle); }
  };

  Plan(spectr_plan* handle, std::size_t vocabulary) : handle_(handle), vocabulary_(vocabulary) {}

  template <class Function>
  Result<std::vector<double>> row(Function&& function) const {
    return detail::filled(std::vector<double>(vocabulary_),
                          [&](auto& out, spectr_error* error) { return function(out.data(), error); });
  }

  std::unique_ptr<spectr_plan, Free> handle_;
  std::size_t vocabulary_;
};

}  // namespace spectr::inline v0
