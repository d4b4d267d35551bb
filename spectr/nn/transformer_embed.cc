// Computes the final states of whole sequences, the input of embeddings.
#include <algorithm>

#include "spectr/nn/graph.h"
#include "spectr/nn/transformer.h"

namespace spectr {

Result<void> check_generates(const ModelSpec& spec) {
  if (!spec.bidirectional) return {};
  return error(ErrorCode::unsupported,
               "{}: general.architecture is {}: an encoder gives embeddings and generates no text", spec.file,
               spec.architecture);
}

Result<void> Transformer::check_text(std::span<const Token> text) const {
  if (text.empty()) return error("{}: a text without tokens has no embedding", spec_->file);
  if (text.size() > context_) {
    return error(ErrorCode::context_full,
                 "{}: the input has {} tokens and is too large for the context of {}", spec_->file,
                 text.size(), context_);
  }
  const auto unknown = std::ranges::find_if(text, [this](Token token) {
    return token < 0 || static_cast<std::size_t>(token) >= spec_->vocabulary;
  });
  if (unknown == text.end()) return {};
  return error("{}: token {} is outside the vocabulary of {}", spec_->file, *unknown, spec_->vocabulary);
}

/// Computes an encoder's states in one pass, in which each row attends to all rows.
Result<std::vector<float>> Transformer::encode(std::span<const Token> text, std::size_t second) const {
  const std::size_t rows = text.size();
  const std::lock_guard lock(mutex_);
  ops_->reserve(rows);
  struct Cache {
    Ops& ops;
    CacheId id;
    ~Cache() { ops.close_cache(id); }
  } const cache{*ops_, ops_->open_cache({.slots = rows, .kept = rows, .context = rows})};
  batch_.clear();
  for (std::size_t i = 0; i < rows; ++i) batch_.add_row(text[i], i, cache.id, i, rows, {});
  const bool has_two = spec_->embed.segments && spec_->weight(*spec_->embed.segments).rows > 1;
  if (has_two && second < rows) {
    batch_.segments.assign(rows, 0);
    std::fill(batch_.segments.begin() + static_cast<std::ptrdiff_t>(second), batch_.segments.end(), 1);
  }
  SPECTR_TRY(const HeldLogits pass, run_pass(*spec_, batch_, *ops_));
  std::vector<float> states;
  states.reserve(rows * spec_->width);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::span<const float> state = pass.features(i);
    states.insert(states.end(), state.begin(), state.end());
  }
  return states;
}

Result<std::vector<float>> Transformer::embed(std::span<const Token> text, std::size_t second) const {
  if (spec_->taps != std::vector<TapSpec>{{spec_->layers.size(), true}}) {
    return error(ErrorCode::unsupported, "{}: the model was loaded without embeddings; add --embeddings",
                 spec_->file);
  }
  SPECTR_TRY_VOID(check_text(text));
  if (spec_->bidirectional) return encode(text, second);
  SPECTR_TRY(const std::unique_ptr<Session> session, start(text.size(), 1));
  Features& features = *session->features();
  features.record(Features::Recorded::all);
  SPECTR_TRY_VOID(session->score(text, TokenTree(text.back())));
  std::vector<float> states;
  states.reserve(text.size() * spec_->width);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::span<const float> state = features.at(i);
    states.insert(states.end(), state.begin(), state.end());
  }
  return states;
}

}  // namespace spectr
