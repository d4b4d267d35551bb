#include "spectr/nn/drafters/drafter_session.h"

#include <algorithm>

#include "spectr/base/check.h"
#include "spectr/nn/kv_slots.h"

namespace spectr {
namespace {

/// Maximum number of prompt tokens that the target computes before the drafter reads their features, which
/// are kept in the meantime.
constexpr std::size_t read_ahead = 8 * KvSlots::text_rows;

}  // namespace

DrafterSession::DrafterSession(const TrainedDrafter& model, Session& target, const FollowSettings& settings,
                               bool follows, std::size_t block_rows)
    : model_(model),
      target_(target),
      context_(settings.context),
      follows_(follows),
      tracker_(model.head_file(), model.spec().model) {
  const std::size_t rows = std::max({KvSlots::text_rows, settings.nodes, block_rows});
  const std::size_t slots = context_ + std::max(settings.nodes, block_rows);
  const std::lock_guard lock(model.mutex_);
  model.ops_->reserve(rows);
  batch_.reserve(rows, 16 * rows, 0);
  if (model.reads_target_cache()) return;
  // The sequence's rows overwrite those of a block or a tree, so all slots are kept.
  cache_ = model.ops_->open_cache({slots, slots, context_});
}

DrafterSession::~DrafterSession() {
  if (model_.reads_target_cache()) return;
  const std::lock_guard lock(model_.mutex_);
  model_.ops_->close_cache(cache_);
}

void DrafterSession::keep(std::span<const NodeId>) {
  drop_tree();
}

void DrafterSession::rewind(std::size_t length) {
  drop_tree();
  tracker_.rewind(length);
  forget_rows(follows_ && length > 0 ? length - 1 : length);
}

Result<void> DrafterSession::check(std::span<const Token> text, const TokenTree& tree) const {
  SPECTR_CHECK(!text.empty() && tree.token(TokenTree::root) == text.back() && length_ <= text.size());
  int deepest = 0;
  for (NodeId node = 0; node < tree.size(); ++node) deepest = std::max(deepest, tree.depth(node));
  const std::size_t needed = text.size() + static_cast<std::size_t>(deepest);
  if (needed <= context_) return {};
  return error(ErrorCode::context_full, "{}: sequence and draft have {} tokens, but the context holds {}",
               name(), needed, context_);
}

Result<void> DrafterSession::read(std::span<const Token> text, std::size_t end) {
  extra_tokens_ = tracker_.read(text);
  while (length_ < end) {
    Features& features = *target_.features();
    const auto is_recorded = [&] { return features.first() <= length_ && length_ < features.end(); };
    if (!is_recorded()) {
      if (target_.length() > length_) target_.rewind(length_);
      const auto piece = text.first(std::min(end, length_ + read_ahead));
      SPECTR_TRY_VOID(target_.score(piece, TokenTree(piece.back())));
      SPECTR_CHECK(is_recorded());
    }
    const std::size_t ready = std::min({end, target_.length(), length_ + KvSlots::text_rows});
    SPECTR_TRY_VOID(feed(text, length_, ready));
    length_ = ready;
    // The last row's features are kept: the row may be recomputed for its logits.
    features.drop(length_ - 1);
  }
  return {};
}

void DrafterSession::begin_batch(std::size_t width, bool fuses) {
  batch_.clear();
  batch_.extra_tokens.clear();
  features_.clear();
  features_.reserve(width * KvSlots::text_rows);
  batch_.fuses = fuses;
}

void DrafterSession::add_row(Token token, std::size_t position, std::size_t slot, std::size_t prefix,
                             std::span<const std::int32_t> ancestors, std::span<const float> features) {
  batch_.add_row(token, position, cache_, slot, prefix, ancestors);
  features_.insert(features_.end(), features.begin(), features.end());
}

void DrafterSession::add_row_after_target(Token token, std::size_t position,
                                          std::span<const float> features) {
  target_.features()->locate(position, cached_);
  batch_.add_row(token, position, cached_.cache, 0, cached_.prefix, cached_.rest);
  features_.insert(features_.end(), features.begin(), features.end());
}

void DrafterSession::want_last() {
  batch_.wanted.push_back(static_cast<std::int32_t>(batch_.rows()) - 1);
  if (extra_tokens_ != nullptr) batch_.extra_tokens.push_back(extra_tokens_);
}

Result<HeldLogits> DrafterSession::run(TrainedDrafter::Pass pass) {
  batch_.features = features_;
  return model_.run(pass, batch_);
}

}  // namespace spectr
