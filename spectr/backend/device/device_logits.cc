#include "spectr/backend/device/device_logits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

/// Longer top-k lists are computed on the host from the whole row.
constexpr std::size_t longest_list = 256;
/// Lower temperatures are computed on the host, because their factor would overflow an f32.
constexpr double min_temperature = 1e-30;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

DeviceLogits::DeviceLogits(Room room, std::size_t vocabulary, Device& device, std::size_t feature_width)
    : room_(room),
      vocabulary_(vocabulary),
      feature_width_(feature_width),
      device_(device),
      numbers_(device.allocate(room.logits * vocabulary * sizeof(float))),
      answers_(device.allocate(room.logits * div_up(vocabulary, call::segment) * longest_list *
                               sizeof(call::Best))),
      features_(feature_width > 0 ? device.allocate(room.features * feature_width * sizeof(float)) : nullptr),
      rows_(room.logits) {}

call::Rows DeviceLogits::begin(std::size_t rows, std::size_t feature_rows) {
  SPECTR_CHECK(rows <= room_.logits && feature_rows <= room_.features);
  const std::lock_guard lock(mutex_);
  row_count_ = rows;
  feature_rows_ = feature_rows;
  features_are_here_ = false;
  for (Row& row : rows_) row.is_here = false;
  lists_.reset();
  sums_.reset();
  state_ = {};
  return logit_rows();
}

Result<void> DeviceLogits::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

bool DeviceLogits::succeeded(const Result<void>& done) const {
  if (!done && state_) state_ = done;
  return done.has_value();
}

std::size_t DeviceLogits::fetched() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count(rows_, true, &Row::is_here));
}

Slice DeviceLogits::place(std::size_t row) const {
  SPECTR_CHECK(row < room_.logits);
  return {numbers_.get(), row * vocabulary_ * sizeof(float)};
}

std::span<float> DeviceLogits::numbers_here(std::size_t row) const {
  return {reinterpret_cast<float*>(rows_[row].memory->bytes().data()), vocabulary_};
}

std::span<const float> DeviceLogits::fetch(std::size_t row) const {
  Row& here = rows_[row];
  if (here.is_here) return numbers_here(row);
  if (here.memory == nullptr) here.memory = device_.allocate_staging(vocabulary_ * sizeof(float));
  if (!succeeded(device_.download(here.memory->bytes(), place(row))))
    std::ranges::fill(numbers_here(row), nan);
  here.is_here = true;
  return numbers_here(row);
}

std::span<const float> DeviceLogits::values(std::size_t row) const {
  const std::lock_guard lock(mutex_);
  return fetch(row);
}

std::span<const float> DeviceLogits::features(std::size_t row) const {
  const std::lock_guard lock(mutex_);
  SPECTR_CHECK(row < feature_rows_);
  const std::size_t count = feature_rows_ * feature_width_, bytes = count * sizeof(float);
  if (features_here_ == nullptr || features_here_->bytes().size() < bytes)
    features_here_ = device_.allocate_staging(room_.features * feature_width_ * sizeof(float));
  const std::span all(reinterpret_cast<float*>(features_here_->bytes().data()), count);
  if (!std::exchange(features_are_here_, true)) {
    if (!succeeded(device_.download(std::as_writable_bytes(all), {features_.get()})))
      std::ranges::fill(all, nan);
  }
  return all.subspan(row * feature_width_, feature_width_);
}

double DeviceLogits::at(std::size_t row, Token token) const {
  const std::lock_guard lock(mutex_);
  const auto at = static_cast<std::size_t>(token);
  if (rows_[row].is_here) return numbers_here(row)[at];
  float number = nan;
  const Slice from = place(row).behind(at * sizeof number);
  if (!succeeded(device_.download(std::as_writable_bytes(std::span(&number, 1)), from))) return nan;
  return number;
}

template <class Answer>
std::span<const Answer> DeviceLogits::ask(const call::AnyCall& call, std::size_t count,
                                          std::unique_ptr<StagingMemory>& here) const {
  const std::size_t bytes = count * sizeof(Answer);
  if (here == nullptr || here->bytes().size() < bytes) here = device_.allocate_staging(std::bit_ceil(bytes));
  const std::span<std::byte> to = here->bytes().first(bytes);
  if (!succeeded(device_.run_and_download({&call, 1}, to, {answers_.get()}))) return {};
  return {reinterpret_cast<const Answer*>(to.data()), count};
}

const DeviceLogits::Lists& DeviceLogits::lists(std::size_t size, std::size_t k) const {
  if (!lists_ || lists_->size != size || lists_->k < k) {
    lists_.reset();
    const call::Top all{logit_rows(), row_count_, size, k, {answers_.get()}};
    lists_ = {size, k, ask<call::Best>(all, row_count_ * div_up(size, call::segment) * k, lists_here_)};
  }
  return *lists_;
}

const DeviceLogits::Sums& DeviceLogits::sums(std::size_t size, float factor) const {
  if (!sums_ || sums_->size != size || sums_->factor != factor) {
    sums_.reset();
    const call::SumExp all{logit_rows(), row_count_, size, factor, {answers_.get()}};
    sums_ = {size, factor, ask<Sums::Part>(all, row_count_ * div_up(size, call::segment), sums_here_)};
  }
  return *sums_;
}

void DeviceLogits::top(std::size_t row, std::size_t size, std::size_t k,
                       RecycledVector<Candidate>& out) const {
  SPECTR_CHECK(k >= 1);
  const std::lock_guard lock(mutex_);
  SPECTR_CHECK(row < row_count_);
  if (rows_[row].is_here || k > longest_list) {
    out = Logits(fetch(row).first(size)).top(k);
    return;
  }
  out.clear();
  if (size == 0) return;
  const Lists& all = lists(size, k);
  if (all.best.empty()) {
    out.push_back({nan, 0});
    return;
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::size_t segments = div_up(size, call::segment);
  for (std::size_t part = row * segments; part < (row + 1) * segments; ++part) {
    for (const call::Best& one : all.best.subspan(part * all.k, k)) {
      if (one.token < 0) break;
      // A NaN or +∞ is returned alone, as Logits::top() specifies.
      if (!(one.logit < infinity)) {
        out.assign({{one.logit, one.token}});
        return;
      }
      if (one.logit > -infinity) out.push_back({one.logit, one.token});
    }
  }
  const auto end = out.begin() + static_cast<std::ptrdiff_t>(std::min(k, out.size()));
  std::ranges::partial_sort(out, end, before);
  out.erase(end, out.end());
}

double DeviceLogits::log_sum_exp(std::size_t row, std::size_t size, double temperature) const {
  SPECTR_CHECK(size >= 1 && temperature > 0.0);
  const std::lock_guard lock(mutex_);
  SPECTR_CHECK(row < row_count_);
  if (rows_[row].is_here || temperature < min_temperature) {
    return Logits(fetch(row).first(size)).log_sum_exp(temperature);
  }
  const Sums& all = sums(size, static_cast<float>(1.0 / temperature));
  if (all.parts.empty()) return nan;
  const std::size_t segments = div_up(size, call::segment);
  const auto parts = all.parts.subspan(row * segments, segments);
  const double most = std::ranges::max(parts, {}, &Sums::Part::most).most;
  double sum = 0.0;
  for (const Sums::Part& part : parts) {
    if (part.sum > 0) sum += part.sum * std::exp((double{part.most} - most) / temperature);
    if (std::isnan(part.sum)) sum = nan;
  }
  return most / temperature + std::log(sum);
}

std::size_t DeviceLogitsPool::take(DeviceLogits::Room room, bool& moved) {
  // Use the first that is free and large enough; else enlarge the first that is free.
  std::size_t smaller = all_.size();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i] != nullptr && all_[i]->is_held()) continue;
    if (all_[i] != nullptr && all_[i]->room().logits >= room.logits &&
        all_[i]->room().features >= room.features)
      return i;
    smaller = std::min(smaller, i);
  }
  if (smaller == all_.size()) all_.emplace_back();
  if (const auto& old = all_[smaller])
    room = {std::max(room.logits, old->room().logits), std::max(room.features, old->room().features)};
  all_[smaller].reset();  // free the old memory before allocating
  moved = true;
  room = {std::bit_ceil(room.logits), std::bit_ceil(room.features)};
  all_[smaller] = std::make_unique<DeviceLogits>(room, vocabulary_, device_, feature_width_);
  return smaller;
}

}  // namespace spectr
