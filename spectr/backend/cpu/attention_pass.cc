#include "spectr/backend/cpu/attention_pass.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "spectr/backend/cpu/for_each_row.h"
#include "spectr/backend/cpu/kernels/vector_ops.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

// Numbers rotated in about the time of a thread barrier.
constexpr std::size_t rope_numbers = 4096;

// Numbers copied in about the time of a cosine and a sine.
constexpr std::size_t angle_cost = 128;

// Minimum number of KV heads per thread for a balanced load.
constexpr std::size_t heads_per_thread = 2;

}  // namespace

AttentionPass::AttentionPass(const ModelSpec& spec, const CpuWeights& weights, ThreadPool& pool)
    : spec_(spec), weights_(weights), pool_(pool) {
  for (const LayerSpec& layer : spec.layers) {
    const AttentionSpec* attention = layer.attention();
    const RopeSpec rope = attention != nullptr ? attention->rope : RopeSpec{};
    auto same = std::ranges::find(angles_, rope, &Angles::rope);
    if (same == angles_.end()) {
      angles_.push_back({rope});
      same = angles_.end() - 1;
    }
    angles_of_.push_back(static_cast<std::size_t>(same - angles_.begin()));
    if (attention != nullptr) max_dim_ = std::max(max_dim_, attention->head_dim);
  }
  ones_.assign(max_dim_, 1.0f);
}

void AttentionPass::reserve(std::size_t rows) {
  std::vector<Angles> larger;
  std::size_t max_group = 1;
  for (const LayerSpec& layer : spec_.layers) {
    if (const AttentionSpec* attention = layer.attention())
      max_group = std::max(max_group, attention->heads / attention->kv_heads);
  }
  for (const Angles& angles : angles_) {
    const std::size_t numbers = rows * angles.rope.frequencies.size();
    larger.push_back({angles.rope, std::make_unique_for_overwrite<float[]>(numbers),
                      std::make_unique_for_overwrite<float[]>(numbers)});
  }
  jobs_.reserve(rows * max_group);
  angles_ = std::move(larger);
}

void AttentionPass::begin(const PassBatch& batch, std::span<const std::unique_ptr<KvStore>> stores) {
  batch_ = &batch;
  stores_ = stores;
  jobs_heads_ = 0;
  for (const Angles& angles : angles_) {
    const std::size_t half = angles.rope.frequencies.size();
    if (half == 0) continue;
    for_each_row(batch.rows(), half * angle_cost, pool_, [&](std::size_t r) {
      const std::vector<float>& frequencies = angles.rope.frequencies_in(store_of(r).context());
      for (std::size_t i = 0; i < half; ++i) {
        const double angle = static_cast<double>(batch.positions[r]) * static_cast<double>(frequencies[i]);
        angles.cosines[r * half + i] = static_cast<float>(std::cos(angle)) * angles.rope.magnitude;
        angles.sines[r * half + i] = static_cast<float>(std::sin(angle)) * angles.rope.magnitude;
      }
    });
  }
  // Reserve scores per thread for the maximum sequence; unused pages are never touched.
  std::size_t max_slots = 0;
  for (std::size_t r = 0; r < batch.rows(); ++r) max_slots = std::max(max_slots, store_of(r).slots());
  const std::size_t needed = attention_scratch(max_slots, max_dim_);
  if (needed <= thread_scores_) return;
  scores_ = std::make_unique_for_overwrite<float[]>(needed * static_cast<std::size_t>(pool_.threads()));
  thread_scores_ = needed;
}

/// Partitions queries of the same cache into jobs, as large as possible while all threads have work.
void AttentionPass::partition(std::size_t heads, std::size_t group) {
  if (jobs_heads_ == heads && group_ == group) return;
  jobs_heads_ = heads;
  group_ = group;
  const std::vector<CacheId>& caches = batch_->caches;
  const std::size_t all = batch_->rows() * heads, threads = static_cast<std::size_t>(pool_.threads());
  const std::size_t most = std::clamp<std::size_t>(all / threads, 1, max_queries);
  jobs_.clear();
  for (std::size_t i = 0; i < batch_->rows() * group; ++i) {
    const bool joins = i > 0 && caches[i / group] == caches[(i - 1) / group] && jobs_.back().size < most;
    if (!joins) jobs_.push_back({i, 0});
    ++jobs_.back().size;
  }
}

/// Applies norms that span all heads.
void AttentionPass::normalize_vectors(const Layer& layer) const {
  const auto normalize_rows = [this](const std::optional<NormSpec>& norm, Span2d<float> x) {
    if (!norm) return;
    const NormNumbers numbers = weights_.numbers_of(*norm);
    for_each_row(x.rows(), x.cols(), pool_,
                 [&](std::size_t r) { normalize(norm->kind, numbers, x[r], x[r]); });
  };
  normalize_rows(layer.spec.q_norm, layer.buffers.query);
  if (!layer.spec.kv_from) normalize_rows(layer.spec.k_norm, layer.buffers.key);
}

void AttentionPass::rotate(const Layer& layer, std::size_t row, std::span<float> head) const {
  const RopeSpec& spec = layer.angles.rope;
  const std::size_t half = spec.frequencies.size();
  rope(head.subspan(spec.first), {layer.angles.cosines.get() + row * half, half},
       {layer.angles.sines.get() + row * half, half}, spec.interleaved);
}

/// Normalizes and rotates a key, and stores it with its value.
void AttentionPass::prepare_key(const Layer& layer, std::size_t kv_head, std::size_t row) const {
  const AttentionSpec& spec = layer.spec;
  const std::size_t dim = spec.head_dim;
  const std::span<float> key = layer.buffers.key[row].subspan(kv_head * dim, dim);
  const std::span<float> value = layer.buffers.value[row].subspan(kv_head * dim, dim);
  if (spec.value_epsilon) rms_norm(value, std::span(ones_).first(dim), *spec.value_epsilon, value);
  if (!layer.k_norm.weight.empty()) normalize(spec.k_norm->kind, layer.k_norm, key, key);
  if (spec.latent) {
    const std::span<float> shared = key.first(spec.latent->rank);
    normalize(spec.latent->norm.kind, weights_.numbers_of(spec.latent->norm), shared, shared);
  }
  rotate(layer, row, key);
  store_of(row).write(layer.index, kv_head, static_cast<std::size_t>(batch_->slots[row]), key, value);
}

/// Normalizes and rotates the queries of a KV head, and its keys, which are stored with their values.
void AttentionPass::prepare(const Layer& layer, std::size_t kv_head) const {
  const AttentionSpec& spec = layer.spec;
  const std::size_t dim = spec.head_dim;
  for (std::size_t r = 0; r < batch_->rows(); ++r) {
    float factor = 1.0f;
    if (spec.temperature) {
      const auto periods = static_cast<std::size_t>(batch_->positions[r]) / spec.temperature->period;
      factor += spec.temperature->scale * std::log(static_cast<float>(periods + 1));
    }
    for (std::size_t h = kv_head * group_; h < (kv_head + 1) * group_; ++h) {
      const std::span<float> query = layer.buffers.query[r].subspan(h * dim, dim);
      if (!layer.q_norm.weight.empty()) normalize(spec.q_norm->kind, layer.q_norm, query, query);
      rotate(layer, r, query);
      if (spec.temperature) {
        for (float& number : query) number *= factor;
      }
    }
    if (!spec.kv_from) prepare_key(layer, kv_head, r);
  }
}

void AttentionPass::attend(const Layer& layer, std::size_t kv_head, const Job& job, ReadFrom from,
                           std::size_t thread) const {
  const AttentionSpec& spec = layer.spec;
  std::array<Query, max_queries> queries;
  for (std::size_t i = 0; i < job.size; ++i) {
    const std::size_t r = (job.begin + i) / group_, head = kv_head * group_ + (job.begin + i) % group_;
    queries[i] = {layer.buffers.query[r].data() + head * spec.head_dim,
                  static_cast<std::size_t>(batch_->prefixes[r]), batch_->ancestors(r),
                  layer.buffers.attended[r].data() + head * spec.head_dim,
                  batch_->window_begin(r, spec.window)};
    if (spec.sinks) queries[i].sink = weights_.vector(*spec.sinks)[head];
  }
  store_of(job.begin / group_)
      .attend(spec.kv_from.value_or(layer.index), kv_head, std::span(queries).first(job.size),
              {spec.scale, spec.score_cap}, {scores_.get() + thread * thread_scores_, thread_scores_}, from);
}

void AttentionPass::store_keys(std::size_t index, const AttentionBuffers& buffers) const {
  const AttentionSpec& spec = *spec_.layers[index].attention();
  Layer layer{index, spec, angles_[angles_of_[index]], buffers};
  if (spec.k_norm) layer.k_norm = weights_.numbers_of(*spec.k_norm);
  const std::size_t rows = batch_->rows(), numbers = rows * spec.head_dim;
  pool_.parallel_for(spec.kv_heads, div_up(rope_numbers, numbers), [&](std::size_t begin, std::size_t end) {
    for (std::size_t h = begin; h < end; ++h)
      for (std::size_t r = 0; r < rows; ++r) prepare_key(layer, h, r);
  });
}

void AttentionPass::run(std::size_t index, const AttentionBuffers& buffers) {
  const AttentionSpec& spec = *spec_.layers[index].attention();
  Layer layer{index, spec, angles_[angles_of_[index]], buffers};
  if (spec.norms_whole_vector) {
    normalize_vectors(layer);
  } else {
    if (spec.q_norm) layer.q_norm = weights_.numbers_of(*spec.q_norm);
    if (spec.k_norm) layer.k_norm = weights_.numbers_of(*spec.k_norm);
  }
  partition(spec.heads, spec.heads / spec.kv_heads);
  const std::size_t jobs = jobs_.size(), threads = static_cast<std::size_t>(pool_.threads());
  // Process jobs that read the same keys and values consecutively.
  const auto attend_all = [&](std::size_t begin, std::size_t end, std::size_t thread) {
    const auto cache = [&](std::size_t i) { return batch_->caches[jobs_[i % jobs].begin / group_]; };
    for (std::size_t i = begin; i < end; ++i) {
      const bool again = i > begin && i % jobs > 0 && cache(i) == cache(i - 1);
      attend(layer, i / jobs, jobs_[i % jobs], again ? ReadFrom::caches : ReadFrom::memory, thread);
    }
  };
  if (spec.kv_heads >= heads_per_thread * threads) {
    // A thread attends to a head immediately after storing its keys, which are still in its cache.
    pool_.parallel_for(spec.kv_heads, 1, [&](std::size_t begin, std::size_t end, std::size_t thread) {
      for (std::size_t h = begin; h < end; ++h) {
        prepare(layer, h);
        attend_all(h * jobs, (h + 1) * jobs, thread);
      }
    });
  } else {
    const std::size_t numbers = batch_->rows() * (group_ + 1) * spec.head_dim;
    pool_.parallel_for(spec.kv_heads, std::max<std::size_t>(1, rope_numbers / numbers),
                       [&](std::size_t begin, std::size_t end) {
                         for (std::size_t h = begin; h < end; ++h) prepare(layer, h);
                       });
    pool_.parallel_for(spec.kv_heads * jobs, 1, attend_all);
  }
}

}  // namespace spectr
