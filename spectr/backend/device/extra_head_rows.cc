#include "spectr/backend/device/extra_head_rows.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "spectr/base/numeric.h"

namespace spectr {
namespace {

constexpr std::size_t min_room = 64;

/// Calls each(const ExtraTokens&) once per sequence of a pass; the rows of a sequence are consecutive.
template <class Each>
void for_each_sequence(const PassBatch& batch, Each each) {
  const ExtraTokens* last = nullptr;
  for (const ExtraTokens* own : batch.extra_tokens) {
    if (std::exchange(last, own) != own) each(*own);
  }
}

}  // namespace

ExtraHeadRows::ExtraHeadRows(const ModelSpec& spec, Device& device)
    : device_(device), width_(spec.head.output.in), stride_(round_up(width_ + 1, 4)) {
  if (spec.head.shortlist.empty()) return;
  places_.resize(spec.vocabulary);
  forget_all(0);
}

/// Calls each(const ExtraTokens&, i) for the extra tokens that are not cached.
template <class Each>
void ExtraHeadRows::for_each_missing(const PassBatch& batch, Each each) {
  for_each_sequence(batch, [&](const ExtraTokens& own) {
    for (std::size_t i = 0; i < own.tokens.size(); ++i) {
      if (place(own.tokens[i]) < 0) each(own, i);
    }
  });
}

/// Evicts all rows. Afterwards there is room for at least twice as many rows as needed.
void ExtraHeadRows::forget_all(std::size_t needed) {
  std::ranges::fill(places_, -1);
  used_ = 0;
  if (memory_ != nullptr && room_ >= 2 * needed) return;
  const std::size_t room = std::max(std::bit_ceil(2 * needed), min_room);
  const std::size_t bytes = room * stride_ * sizeof(float);
  memory_.reset();  // free the old memory before allocating
  ++times_moved_;
  if (bytes > device_.largest_piece()) throw std::bad_alloc();
  memory_ = device_.allocate(bytes);
  room_ = room;
}

void ExtraHeadRows::take(const PassBatch& batch) {
  if (places_.empty()) return;
  std::size_t needed = 0, missing = 0;
  for_each_sequence(batch, [&](const ExtraTokens& own) { needed += own.tokens.size(); });
  for_each_missing(batch, [&](const ExtraTokens&, std::size_t) { ++missing; });
  if (memory_ == nullptr || used_ + missing > room_) {
    forget_all(needed);
    missing = needed;
  }
  const std::size_t first = used_;
  sent_.clear();
  sent_.reserve(missing * stride_);  // nothing below throws: a cached token always has its row
  for_each_missing(batch, [&](const ExtraTokens& own, std::size_t i) {
    places_[static_cast<std::size_t>(own.tokens[i])] = static_cast<int>(used_++);
    const auto row = own.rows.begin() + static_cast<std::ptrdiff_t>(i * width_);
    sent_.insert(sent_.end(), row, row + static_cast<std::ptrdiff_t>(width_));
    sent_.push_back(own.biases.empty() ? 0.0f : own.biases[i]);
    sent_.resize((used_ - first) * stride_);
  });
  if (sent_.empty()) return;
  const Slice to{memory_.get(), first * stride_ * sizeof(float)};
  if (const Result<void> done = device_.upload(to, std::as_bytes(std::span(sent_))); state_ && !done)
    state_ = done;
}

}  // namespace spectr
