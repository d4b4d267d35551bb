#include "spectr/model/attention_seconds.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "spectr/model/flat_tree.h"
#include "spectr/model/pass_profile.h"

namespace spectr {
namespace {

// So many passes, or as many as end within so many seconds.
constexpr int most_passes = 16;
constexpr double most_seconds = 0.5;

/// The least that attention takes of a pass over the last of `length` tokens and the nodes of a tree.
Result<double> least_attention(Session& session, const PassProfile& profile, const TokenTree& tree,
                               std::size_t length) {
  const std::vector<Token> text(length, tree.token(TokenTree::root));
  session.rewind(0);
  SPECTR_TRY_VOID(session.score(text, TokenTree(text.back())));
  double least = std::numeric_limits<double>::infinity();
  const double begin = profile.seconds();
  for (int pass = 0; pass < most_passes && profile.seconds() - begin < most_seconds; ++pass) {
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
  SPECTR_TRY(const double near, least_attention(*session, profile, tree, 1));
  SPECTR_TRY(const double far, least_attention(*session, profile, tree, depth));
  return std::max(far - near, 0.0) / static_cast<double>(rows * (depth - 1));
}

}  // namespace spectr
