#include "spectr/nn/pass_profile.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <ranges>
#include <vector>

#include "spectr/lm/flat_tree.h"
#include "spectr/nn/transformer.h"

namespace spectr {

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::embedding:
      return "embedding";
    case Operation::norm:
      return "norms, residual";
    case Operation::query_key_value:
      return "q, k, v";
    case Operation::attention:
      return "attention";
    case Operation::attention_output:
      return "attention out";
    case Operation::gate_up:
      return "gate, up";
    case Operation::activation:
      return "activation";
    case Operation::down:
      return "down";
    case Operation::experts:
      return "experts";
    case Operation::head:
      return "head";
  }
  return "";
}

Work& Work::operator+=(const Work& other) {
  bytes += other.bytes;
  macs += other.macs;
  integer_macs += other.integer_macs;
  return *this;
}

double Work::reading_seconds(const MachineSpeed& machine) const {
  return bytes / machine.bytes;
}

double Work::multiplying_seconds(const MachineSpeed& machine) const {
  return integer_macs / machine.integer_macs + (macs - integer_macs) / machine.float_macs;
}

void PassProfile::begin(std::size_t rows) {
  ++passes_;
  rows_ += rows;
  watch_.lap();
}

void PassProfile::add(Operation operation, const Work& work, std::span<const std::string_view> formats) {
  Total& total = totals_[static_cast<std::size_t>(operation)];
  total.seconds += watch_.lap();
  total.work += work;
  for (const std::string_view format : formats) total.add_format(format);
  ++total.calls;
}

void PassProfile::Total::add_format(std::string_view format) {
  for (const auto word : std::views::split(formats, ' ')) {
    if (std::string_view(word) == format) return;
  }
  if (!formats.empty()) formats += ' ';
  formats += format;
}

double PassProfile::seconds() const {
  double sum = 0.0;
  for (const Total& total : totals_) sum += total.seconds;
  return sum;
}

double PassProfile::seconds_beside_products() const {
  double sum = 0.0;
  for (const Total& total : totals_) {
    if (total.formats.empty()) sum += total.seconds;
  }
  return sum;
}

double PassProfile::weight_bytes() const {
  double sum = 0.0;
  for (const Total& total : totals_) {
    if (!total.formats.empty()) sum += total.work.bytes;
  }
  return sum;
}

namespace {

// A measurement ends after this many passes or seconds, whichever comes first.
constexpr int max_passes = 16;
constexpr double max_seconds = 0.15;

/// Returns the minimum attention time of passes over the last of `length` tokens and the nodes of a tree.
Result<double> min_attention(Session& session, const PassProfile& profile, const TokenTree& tree,
                             std::size_t length) {
  const std::vector<Token> text(length, tree.token(TokenTree::root));
  session.rewind(0);
  SPECTR_TRY_VOID(session.score(text, TokenTree(text.back())));
  double least = std::numeric_limits<double>::infinity();
  const double begin = profile.seconds();
  for (int pass = 0; pass < max_passes && profile.seconds() - begin < max_seconds; ++pass) {
    session.rewind(length - 1);
    const double before = profile[Operation::attention].seconds;
    SPECTR_TRY_VOID(session.score(text, tree));
    least = std::min(least, profile[Operation::attention].seconds - before);
  }
  return least;
}

}  // namespace

Result<double> attention_seconds(const Transformer& model, std::size_t rows, std::size_t depth) {
  if (depth < 2) return 0.0;
  PassProfile profile;
  SPECTR_TRY(const std::unique_ptr<Session> session, model.start(depth + 1, rows, &profile));
  const TokenTree tree = flat_tree(rows);
  SPECTR_TRY(const double near, min_attention(*session, profile, tree, 1));
  SPECTR_TRY(const double far, min_attention(*session, profile, tree, depth));
  return std::max(far - near, 0.0) / static_cast<double>(rows * (depth - 1));
}

}  // namespace spectr
