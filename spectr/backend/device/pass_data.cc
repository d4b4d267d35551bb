#include "spectr/backend/device/pass_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "spectr/backend/device/extra_token.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

constexpr std::size_t min_states = 4;  // minimum capacity of a pass for states

/// Returns the index of `one` in `all`; appends it if missing.
template <class T>
std::size_t index_of(std::vector<T>& all, const T& one) {
  const auto found = std::ranges::find(all, one);
  const auto index = static_cast<std::size_t>(found - all.begin());
  if (found == all.end()) all.push_back(one);
  return index;
}

}  // namespace

PassData::PassData(const ModelSpec& spec, const DeviceWeights& weights, Device& device)
    : spec_(spec),
      weights_(weights),
      device_(device),
      embedding_width_(spec.pair ? spec.pair->token_width : spec.width),
      extra_head_rows_(spec, device) {
  for (const LayerSpec& layer : spec.layers) {
    Layer& of = layers_.emplace_back();
    const AttentionSpec* a = layer.attention();
    if (a == nullptr) continue;
    of.rope = index_of(ropes_, a->rope);
    of.window = index_of(windows_, a->window);
    if (a->temperature) of.temperature = index_of(temperatures_, Temperature{*a->temperature, a->scale});
  }
  plans_.resize(windows_.size());
}

Slice PassData::scales(std::size_t layer) const {
  const std::size_t which = layers_[layer].temperature;
  return which == none ? Slice() : at(places_.scales[which]);
}

std::size_t PassData::feature_cols(const PassShape& shape) const {
  if (shape.fuses) return spec_.fusion->linear.in;
  return spec_.pair ? spec_.pair->state_width : 0;
}

/// Assigns the offsets of all parts, which are multiples of 16 bytes.
void PassData::place(const PassShape& shape) {
  std::size_t end = 0;
  const auto next = [&end](std::size_t count, std::size_t bytes) {
    return std::exchange(end, round_up(end + count * bytes, 16));
  };
  const auto next_of_each = [&next](std::vector<std::size_t>& places, const auto& all, auto count,
                                    std::size_t bytes) {
    places.clear();
    for (const auto& one : all) places.push_back(next(count(one), bytes));
  };
  places_.move_count = next(1, sizeof(int));
  places_.moves = next(shape.moves, 2 * sizeof(PoolSlot));
  if (shape.texts > 0) {
    places_.state_move_count = next(1, sizeof(int));
    places_.state_moves = next(shape.moves, 2 * sizeof(PoolSlot));
    places_.state_rows = next(shape.rows, sizeof(StateRow));
    places_.state_steps = next(shape.states, sizeof(StateStep));
    places_.state_texts = next(shape.texts, sizeof(StateText));
  }
  places_.wanted = next(shape.wanted, sizeof(int));
  places_.words = next(shape.words, sizeof(ExtraToken));
  places_.embedded = next(shape.rows * embedding_width_, sizeof(float));
  places_.features = next(shape.rows * feature_cols(shape), sizeof(float));
  places_.layer_embedded = next(shape.rows * cols_of(spec_, Buffer::layer_inputs), sizeof(float));
  places_.written = next(shape.rows, sizeof(PoolSlot));
  const auto of_rope = [&](const RopeSpec& rope) { return shape.rows * rope.frequencies.size() * 2; };
  next_of_each(places_.angles, ropes_, of_rope, sizeof(float));
  next_of_each(places_.scales, temperatures_, [&](const auto&) { return shape.rows; }, sizeof(float));
  next_of_each(places_.rows, windows_, [&](const auto&) { return shape.rows; }, sizeof(AttentionRow));
  next_of_each(places_.items, windows_, [&](const auto&) { return shape.items; }, sizeof(AttentionItem));
  places_.listed = end;
}

template <class T>
void PassData::write(std::size_t offset, std::span<const T> numbers) {
  if (!numbers.empty()) std::memcpy(here<std::byte>(offset), numbers.data(), numbers.size_bytes());
}

/// Writes `some`, then zeros up to `count` of them: items without rows, and states that nothing restores.
template <class T>
void PassData::write_padded(std::size_t offset, std::span<const T> some, std::size_t count) {
  write<T>(offset, some);
  std::memset(here<std::byte>(offset + some.size_bytes()), 0, count * sizeof(T) - some.size_bytes());
}

void PassData::write_moves(std::size_t count_at, std::size_t moves_at, const std::vector<PoolSlot>& moves) {
  const int count = static_cast<int>(moves.size() / 2);
  write(count_at, std::span(&count, 1));
  write<PoolSlot>(moves_at, moves);
}

call::PlannedStates PassData::states() const {
  return {.rows = at(places_.state_rows),
          .steps = at(places_.state_steps),
          .texts = at(places_.state_texts),
          .row_count = states_.rows.size(),
          .step_count = std::bit_ceil(std::max(min_states, states_.steps.size())),
          .text_count = states_.texts.size()};
}

bool PassData::plan(const PassBatch& batch, const CacheBlocks& blocks, StateMemory& states,
                    PassShape& shape) {
  tables_.clear();
  for (const CacheId cache : batch.caches) tables_.push_back(blocks.table(cache));
  std::size_t items = 16, listed = 0;
  parts_ = 0;
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    plan_attention(batch, tables_, blocks.moves(), rows_together(batch.rows()), windows_[w], plans_[w]);
    items = std::max(items, plans_[w].items.size());
    listed += plans_[w].listed.size();
    parts_ = std::max(parts_, static_cast<std::size_t>(plans_[w].parts));
  }
  if (states.is_used()) plan_states(batch, states, states_);
  const std::size_t moves = std::max(blocks.moves().size(), states.moves().size()) / 2;
  shape.rows = batch.rows();
  shape.wanted = batch.wanted.size();
  shape.fuses = batch.fuses;
  shape.items = std::bit_ceil(items);
  shape.moves = std::bit_ceil(std::max<std::size_t>(moves, 16));
  shape.states = states.is_used() ? this->states().step_count : 0;
  shape.texts = states_.texts.size();
  shape.words = 0;
  if (!spec_.head.shortlist.empty()) {
    std::size_t words = 16;
    for (const ExtraTokens* own : batch.extra_tokens) words += own->tokens.size();
    shape.words = std::bit_ceil(words);
    extra_head_rows_.take(batch);
  }
  place(shape);

  bytes_ = places_.listed + listed * sizeof(PoolSlot);
  if (memory_ == nullptr || memory_->bytes() < bytes_) {
    memory_.reset();  // free the old memory before allocating
    ++times_moved_;
    staging_ = device_.allocate_staging(std::bit_ceil(bytes_));
    memory_ = device_.allocate(std::bit_ceil(bytes_));
  }
  write_moves(places_.move_count, places_.moves, blocks.moves());
  if (states.is_used()) {
    write_moves(places_.state_move_count, places_.state_moves, states.moves());
    write<StateRow>(places_.state_rows, states_.rows);
    write_padded<StateStep>(places_.state_steps, states_.steps, shape.states);
    write<StateText>(places_.state_texts, states_.texts);
  }
  write<std::int32_t>(places_.wanted, batch.wanted);
  if (!plans_.empty()) write<PoolSlot>(places_.written, plans_.front().written);
  listed = 0;
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    AttentionPlan& plan = plans_[w];
    for (AttentionItem& item : plan.items) item.list += static_cast<int>(listed);
    write_padded<AttentionItem>(places_.items[w], plan.items, shape.items);
    write<AttentionRow>(places_.rows[w], plan.rows);
    write<PoolSlot>(places_.listed + listed * sizeof(PoolSlot), plan.listed);
    listed += plan.listed.size();
  }
  write_embedded(batch);
  write<float>(places_.features, batch.features);
  write_layer_embedded(batch);
  write_words(batch, shape.words);
  write_angles(batch, blocks);
  const std::size_t moved = times_moved_ + extra_head_rows_.times_moved();
  return std::exchange(told_, moved) != moved;
}

void PassData::write_embedded(const PassBatch& batch) {
  const EmbedSpec& embed = spec_.embed;
  const std::span x(here<float>(places_.embedded), batch.rows() * embedding_width_);
  for (std::size_t r = 0; r < batch.rows(); ++r) {
    const std::span<float> row = x.subspan(r * embedding_width_, embedding_width_);
    weights_.row(embed.tokens, static_cast<std::size_t>(batch.tokens[r]), row);
    if (embed.scale != 1.0f) {
      for (float& number : row) number *= embed.scale;
    }
    if (!embed.positions) continue;
    position_.resize(spec_.width);
    weights_.row(*embed.positions, static_cast<std::size_t>(batch.positions[r]), position_);
    for (std::size_t j = 0; j < spec_.width; ++j) row[j] += position_[j];
  }
}

void PassData::write_layer_embedded(const PassBatch& batch) {
  if (!spec_.embed.by_layer) return;
  const LayerEmbeddingSpec& spec = *spec_.embed.by_layer;
  const std::size_t cols = cols_of(spec_, Buffer::layer_inputs);
  auto* out = here<float>(places_.layer_embedded);
  const float scale = std::sqrt(static_cast<float>(spec.dim));
  for (std::size_t r = 0; r < batch.rows(); ++r, out += cols) {
    weights_.row(spec.tokens, static_cast<std::size_t>(batch.tokens[r]), {out, cols});
    for (std::size_t j = 0; j < cols; ++j) out[j] *= scale;
  }
}

void PassData::write_words(const PassBatch& batch, std::size_t room) {
  std::vector<ExtraToken> words;
  words.reserve(room);
  for (std::size_t i = 0; i < batch.extra_tokens.size(); ++i) {
    for (const Token token : batch.extra_tokens[i]->tokens)
      words.push_back({static_cast<int>(i), extra_head_rows_.place(token), token});
  }
  words.resize(room, ExtraToken{0, 0, -1});
  write<ExtraToken>(places_.words, words);
}

void PassData::write_angles(const PassBatch& batch, const CacheBlocks& blocks) {
  for (std::size_t i = 0; i < ropes_.size(); ++i) {
    const RopeSpec& rope = ropes_[i];
    auto* out = here<float>(places_.angles[i]);
    for (std::size_t r = 0; r < batch.rows(); ++r) {
      for (const float frequency : rope.frequencies_in(blocks.context(batch.caches[r]))) {
        const double angle = static_cast<double>(batch.positions[r]) * static_cast<double>(frequency);
        *out++ = static_cast<float>(std::cos(angle)) * rope.magnitude;
        *out++ = static_cast<float>(std::sin(angle)) * rope.magnitude;
      }
    }
  }
  for (std::size_t i = 0; i < temperatures_.size(); ++i) {
    const Temperature& of = temperatures_[i];
    auto* out = here<float>(places_.scales[i]);
    for (std::size_t r = 0; r < batch.rows(); ++r) {
      const auto periods = static_cast<std::size_t>(batch.positions[r]) / of.spec.period;
      *out++ = of.scale * (1.0f + of.spec.scale * std::log(static_cast<float>(periods + 1)));
    }
  }
}

Result<void> PassData::send() {
  SPECTR_TRY_VOID(extra_head_rows_.state());
  return device_.upload({memory_.get()}, staging_->bytes().first(bytes_));
}

}  // namespace spectr
