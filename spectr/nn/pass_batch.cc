#include "spectr/nn/pass_batch.h"

#include <algorithm>

namespace spectr {

void PassBatch::add_row(Token token, std::size_t position, CacheId cache, std::size_t slot,
                        std::size_t prefix, std::span<const std::int32_t> ancestors) {
  tokens.push_back(token);
  positions.push_back(static_cast<std::int32_t>(position));
  caches.push_back(cache);
  slots.push_back(static_cast<std::int32_t>(slot));
  prefixes.push_back(static_cast<std::int32_t>(prefix));
  ancestor_slots.insert(ancestor_slots.end(), ancestors.begin(), ancestors.end());
  ancestor_ends.push_back(static_cast<std::int32_t>(ancestor_slots.size()));
}

void PassBatch::reserve(std::size_t rows, std::size_t ancestors, std::size_t moves_count) {
  moves.reserve(moves_count);
  tokens.reserve(rows);
  positions.reserve(rows);
  caches.reserve(rows);
  slots.reserve(rows);
  prefixes.reserve(rows);
  ancestor_ends.reserve(rows);
  ancestor_slots.reserve(ancestors);
  wanted.reserve(rows);
  extra_tokens.reserve(rows);
  row_states.reserve(rows);
}

void PassBatch::cut(const Mark& mark) {
  moves.resize(mark.moves);
  tokens.resize(mark.rows);
  positions.resize(mark.rows);
  caches.resize(mark.rows);
  slots.resize(mark.rows);
  prefixes.resize(mark.rows);
  ancestor_ends.resize(mark.rows);
  ancestor_slots.resize(mark.ancestors);
  wanted.resize(mark.wanted);
  extra_tokens.resize(std::min(extra_tokens.size(), mark.wanted));
  segments.resize(std::min(segments.size(), mark.rows));
  states.resize(mark.states);
  row_states.resize(std::min(row_states.size(), mark.rows));
}

}  // namespace spectr
