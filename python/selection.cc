// Bindings of plans, verification on arrays, and exact distributions.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "python/bindings.h"
#include "spectr/base/counter_random.h"
#include "spectr/decode/array_draft.h"
#include "spectr/decode/array_verifier.h"
#include "spectr/decode/pair_distribution.h"
#include "spectr/transport/owned_plan.h"

namespace spectr::python {
namespace {

std::unique_ptr<OwnedPlan> make_plan(const std::string& name, const Numbers& p, const Numbers& q,
                                     std::size_t k, double epsilon, int rounds) {
  const auto build = [&]() -> Result<std::unique_ptr<OwnedPlan>> {
    const nb::gil_scoped_release released;
    SPECTR_TRY(Distribution drafting, checked_distribution(values_of(p), "p"));
    SPECTR_TRY(Distribution target, checked_distribution(values_of(q), "q"));
    return OwnedPlan::make(name, std::move(drafting), std::move(target), k,
                           {.epsilon = epsilon, .rounds = rounds});
  };
  return value_or_raise(build());
}

nb::object dense(const Distribution& distribution) {
  std::vector<double> values(distribution.vocabulary());
  for (std::size_t i = 0; i < distribution.size(); ++i)
    values[static_cast<std::size_t>(distribution.token(i))] = distribution.probabilities()[i];
  return array_of<double>(values, {values.size()});
}

nb::object law_of_plan(const OwnedPlan& plan) {
  const auto run = [&] {
    const nb::gil_scoped_release released;
    return plan.law();
  };
  const std::vector<double> law = value_or_raise(run());
  return array_of<double>(law, {law.size()});
}

nb::object residual_of_plan(const OwnedPlan& plan) {
  const auto run = [&] {
    const nb::gil_scoped_release released;
    return plan.residual();
  };
  const auto residual = run();
  return residual ? dense(*residual) : nb::none();
}

std::span<const Token> tokens_of(const Integers& tokens) {
  return {tokens.data(), tokens.size()};
}

nb::object conditional_of_plan(const OwnedPlan& plan, const Integers& drafts) {
  const auto run = [&] {
    const nb::gil_scoped_release released;
    return plan.conditional(tokens_of(drafts));
  };
  return dense(value_or_raise(run()));
}

void bind_plan(nb::module_& module) {
  nb::class_<OwnedPlan>(module, "Plan")
      .def_prop_ro("drafts", &OwnedPlan::drafts)
      .def_prop_ro("vocab", &OwnedPlan::vocabulary)
      .def_prop_ro("lossless", [](const OwnedPlan& plan) { return plan.rule().lossless; })
      .def("acceptance", &OwnedPlan::acceptance, nb::call_guard<nb::gil_scoped_release>())
      .def("bias", &OwnedPlan::bias, nb::call_guard<nb::gil_scoped_release>())
      .def("residual", &residual_of_plan)
      .def("law", &law_of_plan)
      .def("conditional", &conditional_of_plan)
      .def("draw",
           [](const OwnedPlan& plan, std::uint64_t seed, std::uint64_t stream) {
             const std::vector<Token> drafts = plan.draw({seed, stream});
             return array_of<std::int64_t>(drafts, {drafts.size()});
           })
      .def("select",
           [](const OwnedPlan& plan, const Integers& drafts, std::uint64_t seed, std::uint64_t stream) {
             const Selection y = value_or_raise(plan.select(tokens_of(drafts), {seed, stream}));
             return nb::make_tuple(y.token, y.accepted);
           });
  module.def("plan", &make_plan);
}

/// Arrays of a batch, of shapes [B, n] and [B, rows, V].
struct DraftBatch {
  const Integers& tokens;
  const std::optional<Integers>& parents;
  const std::optional<Integers>& multiplicities;
  const std::optional<Integers>& rows;
  const Numbers& probabilities;
  const Numbers& target;
  std::optional<std::size_t> drafts;  // number of drafts that follow the sequence, if given
};

struct Streams {
  std::uint64_t seed;
  const std::vector<std::uint64_t>& streams;  // by row
  std::size_t block, position;
};

/// Returns the first `count` entries of a row of a batch.
std::span<const std::int32_t> entries(const std::optional<Integers>& array, std::size_t row,
                                      std::size_t count) {
  if (!array) return {};
  return std::span(array->data() + row * array->shape(1), count);
}

NumberRows rows_of(const Numbers& numbers, std::size_t row, std::size_t count) {
  const std::size_t V = numbers.shape(2), begin = row * numbers.shape(1) * V;
  return std::visit([&](const auto& all) { return NumberRows{all.subspan(begin, count * V), V}; },
                    values_of(numbers));
}

Result<void> check_drafts(const DraftArrays& draft, std::size_t expected) {
  std::size_t drawn = draft.parents.empty() ? std::min<std::size_t>(draft.tokens.size(), 1) : 0;
  for (std::size_t i = 0; i < draft.parents.size(); ++i) {
    if (draft.parents[i] != -1) continue;
    drawn +=
        draft.multiplicities.empty() ? 1 : static_cast<std::size_t>(std::max(draft.multiplicities[i], 0));
  }
  if (drawn == expected) return {};
  return error("k is {}, but {} drafted tokens continue the sequence", expected, drawn);
}

Result<ArrayVerdict> verify_row(const ArrayVerifier& verifier, const DraftBatch& batch, const Warp* warp,
                                const Streams& streams, std::size_t row) {
  const std::span<const Token> all(batch.tokens.data() + row * batch.tokens.shape(1), batch.tokens.shape(1));
  const auto end = std::ranges::find(all, -1);
  const auto n = static_cast<std::size_t>(end - all.begin());
  const auto again = std::ranges::find_if(end, all.end(), [](Token token) { return token != -1; });
  if (again != all.end()) return error("token {} follows -1, the end of the drafts", *again);
  const DraftArrays draft{.tokens = all.first(n),
                          .parents = entries(batch.parents, row, n),
                          .multiplicities = entries(batch.multiplicities, row, n),
                          .rows = entries(batch.rows, row, n),
                          .probabilities = rows_of(batch.probabilities, row, batch.probabilities.shape(1))};
  if (batch.drafts) SPECTR_TRY_VOID(check_drafts(draft, *batch.drafts));
  CounterRandom random(streams.seed, streams.streams[row]);
  return verifier.verify(draft, {rows_of(batch.target, row, n + 1), warp},
                         {.block = streams.block, .position = streams.position}, random);
}

/// Returns tokens [B, n + 1], emitted [B] and the accepted entries [B, n], padded with -1.
nb::tuple verify(const std::string& method, const nb::dict& settings, const Integers& tokens,
                 const std::optional<Integers>& parents, const std::optional<Integers>& multiplicities,
                 const std::optional<Integers>& rows, const Numbers& probabilities, const Numbers& target,
                 std::optional<double> temperature, std::optional<std::size_t> drafts, std::uint64_t seed,
                 const std::vector<std::uint64_t>& streams, std::size_t block, std::size_t position) {
  const MethodOptions options = method_options(settings);
  const std::size_t count = tokens.shape(0), width = tokens.shape(1);
  std::vector<std::int64_t> out(count * (width + 1), -1), path(count * width, -1), emitted(count, 0);
  const DraftBatch batch{tokens, parents, multiplicities, rows, probabilities, target, drafts};
  const Streams random{seed, streams, block, position};
  const auto run = [&]() -> Result<void> {
    const nb::gil_scoped_release released;
    SPECTR_TRY(const ArrayVerifier verifier, ArrayVerifier::make(method, options));
    std::optional<Warp> warp;
    if (temperature) {
      WarpOptions filters = WarpOptions::none();
      filters.temperature = *temperature;
      SPECTR_TRY(warp, Warp::make(filters));
    }
    for (std::size_t row = 0; row < count; ++row) {
      const auto verdict = verify_row(verifier, batch, warp ? &*warp : nullptr, random, row);
      if (!verdict) return error(verdict.error().code, "row {}: {}", row, verdict.error().message);
      std::ranges::copy(verdict->tokens, out.begin() + static_cast<std::ptrdiff_t>(row * (width + 1)));
      std::ranges::copy(verdict->path, path.begin() + static_cast<std::ptrdiff_t>(row * width));
      emitted[row] = static_cast<std::int64_t>(verdict->tokens.size());
    }
    return {};
  };
  value_or_raise(run());
  return nb::make_tuple(array_of<std::int64_t>(out, {count, width + 1}),
                        array_of<std::int64_t>(emitted, {count}),
                        array_of<std::int64_t>(path, {count, width}));
}

/// A table from Python: a float64 array [steps, V, V] or a dictionary of rows by prefix.
using Table = std::variant<Numbers, PrefixTableModel::Rows>;

Table table_from(const nb::object& object) {
  if (nb::isinstance<nb::dict>(object)) return nb::cast<PrefixTableModel::Rows>(object);
  return nb::cast<Numbers>(object);
}

Result<TableModel> table_of(std::string_view name, const Table& table, std::size_t vocabulary) {
  if (const auto* prefixes = std::get_if<PrefixTableModel::Rows>(&table))
    return table_of_prefixes(name, vocabulary, *prefixes);
  const auto rows = std::get<std::span<const double>>(values_of(std::get<Numbers>(table)));
  return table_of_steps(name, vocabulary, rows);
}

/// Returns a list of (sequence, probability) and a dictionary of the costs of a block.
nb::tuple law(const std::string& method, const nb::dict& settings, const nb::object& draft,
              const nb::object& target, std::size_t vocabulary, std::size_t horizon, Token start) {
  const MethodOptions options = method_options(settings);
  const Table draft_rows = table_from(draft), target_rows = table_from(target);
  const auto run = [&]() -> Result<PairDistribution> {
    const nb::gil_scoped_release released;
    SPECTR_TRY(const TableModel p, table_of("draft", draft_rows, vocabulary));
    SPECTR_TRY(const TableModel q, table_of("target", target_rows, vocabulary));
    return pair_distribution(method, options, p, q, horizon, start);
  };
  const PairDistribution found = value_or_raise(run());
  nb::list sequences;
  for (const auto& [sequence, probability] : found.exact.distribution)
    sequences.append(nb::make_tuple(nb::tuple(nb::cast(sequence)), probability));
  nb::dict numbers;
  numbers["tv_error"] = found.tv_error;
  numbers["expected_target_calls"] = found.exact.expected_target_calls;
  numbers["expected_rejections"] = found.exact.expected_rejections;
  numbers["expected_tokens"] = found.expected_tokens_per_block;
  return nb::make_tuple(sequences, numbers);
}

}  // namespace

void bind_selection(nb::module_& module) {
  bind_plan(module);
  module.def("verify", &verify, nb::arg("method"), nb::arg("settings"), nb::arg("tokens"),
             nb::arg("parents").none(), nb::arg("multiplicities").none(), nb::arg("rows").none(),
             nb::arg("probabilities"), nb::arg("target"), nb::arg("temperature").none(),
             nb::arg("drafts").none(), nb::arg("seed"), nb::arg("streams"), nb::arg("block"),
             nb::arg("position"));
  module.def("law", &law);
}

}  // namespace spectr::python
