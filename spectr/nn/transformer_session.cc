#include "spectr/nn/transformer_session.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

std::size_t checked_context(const Transformer& model, std::size_t context) {
  SPECTR_CHECK(context >= 1 && context <= model.context());
  return context;
}

}  // namespace

TransformerSession::TransformerSession(const Transformer& model, std::size_t context, std::size_t nodes,
                                       PassProfile* profile)
    : model_(model),
      context_(checked_context(model, context)),
      cache_(model, context, nodes),
      slots_(cache_.id, nodes, model.kept_slots(context, nodes)),
      logits_(nodes),
      extra_tokens_(model.file(), model.spec()),
      profile_(profile) {
  if (!model.spec().taps.empty()) features_.emplace(model.spec().feature_width(), slots_);
}

TransformerSession::Cache::Cache(const Transformer& from, std::size_t context, std::size_t nodes)
    : model(from) {
  const std::lock_guard lock(model.mutex_);
  const std::size_t rows = KvSlots::max_rows(nodes);
  model.ops_->reserve(rows);
  model.batch_.reserve(rows, 16 * nodes, nodes);
  id = model.ops_->open_cache(model.cache_size(context, nodes));
}

TransformerSession::Cache::~Cache() {
  const std::lock_guard lock(model.mutex_);
  model.ops_->close_cache(id);
}

Result<void> TransformerSession::check(std::span<const Token> text, const TokenTree& tree) const {
  SPECTR_CHECK(!text.empty() && tree.token(TokenTree::root) == text.back() && length() <= text.size());
  SPECTR_CHECK(static_cast<std::size_t>(tree.size()) <= logits_.size());
  SPECTR_TRY_VOID(check_generates(model_.spec()));
  int deepest = 0;
  for (NodeId node = 0; node < tree.size(); ++node) deepest = std::max(deepest, tree.depth(node));
  const std::size_t needed = text.size() + static_cast<std::size_t>(deepest);
  if (needed > context_) {
    return error(ErrorCode::context_full, "{}: text and draft have {} tokens, but the context holds {}",
                 name(), needed, context_);
  }
  const auto unknown = [this](Token token) {
    return token < 0 || static_cast<std::size_t>(token) >= vocabulary();
  };
  const auto refuse = [this](Token token) {
    return error("{}: token {} is outside the vocabulary of {}", name(), token, vocabulary());
  };
  const auto at = std::ranges::find_if(text.subspan(length()), unknown);
  if (at != text.end()) return refuse(*at);
  // Drafts of another model may be tokens that this one does not have.
  const NodeId first = length() < text.size() ? 0 : slots_.scored();  // what the next pass computes
  for (NodeId node = first; node < tree.size(); ++node) {
    if (unknown(tree.token(node))) return refuse(tree.token(node));
  }
  return {};
}

Result<void> TransformerSession::score(std::span<const Token> text, const TokenTree& tree) {
  const std::size_t before = length();
  Scoring scoring{this, text, &tree};
  while (!scoring.is_over()) model_.score_together({&scoring, 1});
  if (scoring.failure) {
    rewind(before);
    std::rethrow_exception(scoring.failure);
  }
  return scoring.result;
}

void TransformerSession::take(const HeldLogits& logits, std::size_t row, NodeId first) {
  for (NodeId node = first; node < slots_.scored(); ++node, ++row) {
    logits_[static_cast<std::size_t>(node)] = {logits, row};
  }
}

void TransformerSession::record(const HeldLogits& pass, const PassBatch& batch, std::size_t first,
                                std::size_t end, const KvSlots::Plan& plan) {
  if (!features_ || features_->recorded() == Features::Recorded::none) return;
  const NodeId first_node = std::max<NodeId>(plan.first_node, 1);
  const std::size_t nodes = plan.complete ? static_cast<std::size_t>(slots_.scored() - first_node) : 0;
  for (std::size_t row = first; row < end; ++row) {
    if (row < end - nodes) {
      features_->add(static_cast<std::size_t>(batch.positions[row]), pass.features(row));
    } else {
      features_->add_node(first_node + static_cast<NodeId>(row - (end - nodes)), pass.features(row));
    }
  }
}

Logits TransformerSession::logits(NodeId node) const {
  SPECTR_CHECK(node >= 0 && node < slots_.scored());
  const NodeLogits& own = logits_[static_cast<std::size_t>(node)];
  return own.pass.row(own.row);
}

void TransformerSession::drop_logits() {
  for (NodeLogits& node : logits_) node.pass = {};
}

void TransformerSession::keep(std::span<const NodeId> path) {
  drop_logits();
  if (features_) {
    const auto computed = std::ranges::find_if(path, [this](NodeId node) { return node >= slots_.scored(); });
    features_->keep({path.begin(), computed}, slots_.length());
  }
  slots_.keep(path);
}

void TransformerSession::copy(const Session& other, std::size_t length) {
  const auto& from = static_cast<const TransformerSession&>(other);
  SPECTR_CHECK(&from.model_ == &model_ && from.context_ == context_ && from.logits_.size() == logits_.size());
  SPECTR_CHECK(length <= from.copyable(length));
  drop_logits();
  if (features_) features_->rewind(0);
  const KvSlots::Kept kept = from.slots_.kept(length);
  const CacheCopy copy{from.cache_.id, cache_.id, length, StateFrames::used_frames(kept.frames)};
  extra_tokens_.rewind(length);
  slots_.restore(kept);
  try {
    const std::lock_guard lock(model_.mutex_);
    model_.ops_->copy_cache(copy);
  } catch (...) {
    rewind(0);
    throw;
  }
}

namespace {

/// Header of SavedSequence::rest: the cache layout of the session, and the kept prefix.
struct RestHeader {
  std::size_t slots, kept_slots, recent;
  KvSlots::Kept kept;
};
static_assert(std::is_trivially_copyable_v<RestHeader>);

std::size_t bytes_of(std::span<const std::span<std::byte>> ranges) {
  std::size_t sum = 0;
  for (const std::span<std::byte> range : ranges) sum += range.size();
  return sum;
}

/// Reads the header of a saved sequence. Returns nothing if it is too short for one.
std::optional<RestHeader> header_of(const SavedSequence& saved) {
  if (saved.rest.size() < sizeof(RestHeader)) return std::nullopt;
  RestHeader header{};
  std::memcpy(&header, saved.rest.data(), sizeof header);
  return header;
}

}  // namespace

bool TransformerSession::has_rest() const {
  return model_.memory_.shortest_window > 0 || model_.memory_.is_recurrent;
}

std::optional<CacheMemory> TransformerSession::memory_of(const KvSlots::Kept& kept) const {
  const auto frames = StateFrames::used_frames(kept.frames);
  const std::lock_guard lock(model_.mutex_);
  return model_.ops_->cache_memory(cache_.id, kept.length, frames);
}

std::optional<SavedSequence> TransformerSession::save(std::size_t length,
                                                      std::span<const SharedBlock> shared) const {
  SPECTR_CHECK(length <= slots_.copyable(length));
  const KvSlots::Kept kept = slots_.kept(length);
  const auto memory = memory_of(kept);
  if (!memory) return std::nullopt;
  SavedSequence saved{
      .length = length, .block_tokens = memory->block_slots, .block_bytes = memory->block_bytes};
  {
    const std::lock_guard lock(model_.mutex_);
    saved.blocks = model_.ops_->share_blocks(cache_.id, length);
  }
  std::ranges::copy(shared.first(std::min(shared.size(), saved.blocks.size())), saved.blocks.begin());
  if (has_rest()) {
    const CacheSize size = model_.cache_size(context_, logits_.size());
    const RestHeader header{size.slots, size.kept, size.recent, kept};
    saved.rest.reserve(sizeof header + bytes_of(memory->rest));
    const auto bytes = std::as_bytes(std::span(&header, 1));
    saved.rest.insert(saved.rest.end(), bytes.begin(), bytes.end());
    for (const std::span<const std::byte> range : memory->rest)
      saved.rest.insert(saved.rest.end(), range.begin(), range.end());
  }
  return saved;
}

std::size_t TransformerSession::restorable(const SavedSequence& saved, std::size_t length) const {
  length = std::min({length, saved.length, context_});
  if (!has_rest()) return length;
  const auto header = header_of(saved);
  const CacheSize size = model_.cache_size(context_, logits_.size());
  if (!header || header->slots != size.slots || header->kept_slots != size.kept ||
      header->recent != size.recent || header->kept.length != saved.length)
    return 0;
  return slots_.restorable(header->kept, length);
}

bool TransformerSession::restore(const SavedSequence& saved, std::size_t length) {
  SPECTR_CHECK(length <= restorable(saved, length));
  rewind(0);
  // Without a rest, tokens after the first `length` need not be there.
  const KvSlots::Kept kept = has_rest() ? header_of(saved)->kept : KvSlots::Kept{length, length};
  const auto memory = memory_of(kept);
  if (!memory) return false;
  const std::size_t blocks = memory->block_bytes > 0 ? div_up(kept.length, memory->block_slots) : 0;
  if (memory->block_slots != saved.block_tokens || memory->block_bytes != saved.block_bytes ||
      blocks > saved.blocks.size())
    return false;
  const auto rest = std::span(saved.rest).subspan(has_rest() ? sizeof(RestHeader) : 0);
  if (rest.size() != (has_rest() ? bytes_of(memory->rest) : 0)) return false;
  {
    const std::lock_guard lock(model_.mutex_);
    model_.ops_->take_blocks(cache_.id, saved.blocks, kept.length);
  }
  for (std::size_t begin = 0; const std::span<std::byte> range : memory->rest) {
    std::ranges::copy(rest.subspan(begin, range.size()), range.begin());
    begin += range.size();
  }
  slots_.restore(kept);
  rewind(length);
  return true;
}

void TransformerSession::rewind(std::size_t length) {
  drop_logits();
  slots_.rewind(length);
  if (features_) features_->rewind(slots_.length());
  extra_tokens_.rewind(length);
}

}  // namespace spectr
