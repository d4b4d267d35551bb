#include "spectr/backend/cpu/attention_pass.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "spectr/backend/cpu/kernels/vector_ops.h"

namespace spectr {
namespace {

// So many numbers are turned in the time that it takes threads to meet.
constexpr std::size_t rope_numbers = 4096;

// With so many heads of keys and values per thread no thread waits long for the others.
constexpr std::size_t heads_per_thread = 2;

}  // namespace

AttentionPass::AttentionPass(const ModelSpec& spec, ThreadPool& pool) : spec_(spec), pool_(pool) {
  for (const LayerSpec& layer : spec.layers) {
    const RopeSpec& rope = layer.attention.rope;
    auto same = std::ranges::find(angles_, rope, &Angles::rope);
    if (same == angles_.end()) {
      angles_.push_back({rope});
      same = angles_.end() - 1;
    }
    angles_of_.push_back(static_cast<std::size_t>(same - angles_.begin()));
  }
}

void AttentionPass::reserve(std::size_t rows) {
  std::vector<Angles> larger;
  std::size_t max_group = 1;
  for (const LayerSpec& layer : spec_.layers)
    max_group = std::max(max_group, layer.attention.heads / layer.attention.kv_heads);
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
  for (Angles& angles : angles_) {
    const std::size_t half = angles.rope.frequencies.size();
    for (std::size_t r = 0; r < batch.rows(); ++r) {
      for (std::size_t i = 0; i < half; ++i) {
        const double angle =
            static_cast<double>(batch.positions[r]) * static_cast<double>(angles.rope.frequencies[i]);
        angles.cosines[r * half + i] = static_cast<float>(std::cos(angle));
        angles.sines[r * half + i] = static_cast<float>(std::sin(angle));
      }
    }
  }
  // Room for the scores of each thread. What a sequence does not need takes no memory: it is not filled.
  std::size_t max_slots = 0, max_dim = 0;
  for (std::size_t r = 0; r < batch.rows(); ++r) max_slots = std::max(max_slots, store_of(r).slots());
  for (const LayerSpec& layer : spec_.layers) max_dim = std::max(max_dim, layer.attention.head_dim);
  const std::size_t needed = attention_scratch(max_slots, max_dim);
  if (needed <= thread_scores_) return;
  scores_ = std::make_unique_for_overwrite<float[]>(needed * static_cast<std::size_t>(pool_.threads()));
  thread_scores_ = needed;
}

/// Neighbouring queries of one cache, as many as attend together, but so few that all threads have some.
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

void AttentionPass::apply_rope(std::size_t layer, std::size_t kv_head, const NormNumbers* q_norm,
                               const NormNumbers* k_norm, const AttentionBuffers& buffers) {
  const AttentionSpec& spec = spec_.layers[layer].attention;
  const Angles& angles = angles_[angles_of_[layer]];
  const std::size_t dim = spec.head_dim, half = angles.rope.frequencies.size();
  for (std::size_t r = 0; r < batch_->rows(); ++r) {
    const auto turned = [&](const NormNumbers* norm, const std::optional<NormSpec>& kind,
                            std::span<float> head) {
      if (norm != nullptr) normalize(kind->kind, *norm, head, head);
      rope(head, {angles.cosines.get() + r * half, half}, {angles.sines.get() + r * half, half},
           angles.rope.interleaved);
      return head;
    };
    for (std::size_t h = kv_head * group_; h < (kv_head + 1) * group_; ++h) {
      turned(q_norm, spec.q_norm, buffers.query[r].subspan(h * dim, dim));
    }
    const std::span<float> key = turned(k_norm, spec.k_norm, buffers.key[r].subspan(kv_head * dim, dim));
    store_of(r).write(layer, kv_head, static_cast<std::size_t>(batch_->slots[r]), key,
                      buffers.value[r].subspan(kv_head * dim, dim));
  }
}

void AttentionPass::attend(std::size_t layer, std::size_t kv_head, const Job& job,
                           const AttentionBuffers& buffers, ReadFrom from, std::size_t thread) {
  const AttentionSpec& spec = spec_.layers[layer].attention;
  std::array<Query, max_queries> queries;
  for (std::size_t i = 0; i < job.size; ++i) {
    const std::size_t r = (job.begin + i) / group_, head = kv_head * group_ + (job.begin + i) % group_;
    const std::size_t seen = batch_->attended(r);
    queries[i] = {buffers.query[r].data() + head * spec.head_dim,
                  static_cast<std::size_t>(batch_->prefixes[r]), batch_->ancestors(r),
                  buffers.attended[r].data() + head * spec.head_dim,
                  spec.window > 0 && seen > spec.window ? seen - spec.window : 0};
  }
  store_of(job.begin / group_)
      .attend(layer, kv_head, std::span(queries).first(job.size), {spec.scale, spec.score_cap},
              {scores_.get() + thread * thread_scores_, thread_scores_}, from);
}

void AttentionPass::run(std::size_t layer, const NormNumbers* q_norm, const NormNumbers* k_norm,
                        const AttentionBuffers& buffers) {
  const AttentionSpec& spec = spec_.layers[layer].attention;
  partition(spec.heads, spec.heads / spec.kv_heads);
  const std::size_t jobs = jobs_.size(), threads = static_cast<std::size_t>(pool_.threads());
  // Jobs that read the same keys and values one after the other.
  const auto attend_all = [&](std::size_t begin, std::size_t end, std::size_t thread) {
    const auto cache = [&](std::size_t i) { return batch_->caches[jobs_[i % jobs].begin / group_]; };
    for (std::size_t i = begin; i < end; ++i) {
      const bool again = i > begin && i % jobs > 0 && cache(i) == cache(i - 1);
      attend(layer, i / jobs, jobs_[i % jobs], buffers, again ? ReadFrom::caches : ReadFrom::memory, thread);
    }
  };
  if (spec.kv_heads >= heads_per_thread * threads) {
    // A thread attends to a head at once, while it has the new keys at hand.
    pool_.parallel_for(spec.kv_heads, 1, [&](std::size_t begin, std::size_t end, std::size_t thread) {
      for (std::size_t h = begin; h < end; ++h) {
        apply_rope(layer, h, q_norm, k_norm, buffers);
        attend_all(h * jobs, (h + 1) * jobs, thread);
      }
    });
  } else {
    const std::size_t numbers = batch_->rows() * (group_ + 1) * spec.head_dim;
    pool_.parallel_for(spec.kv_heads, std::max<std::size_t>(1, rope_numbers / numbers),
                       [&](std::size_t begin, std::size_t end) {
                         for (std::size_t h = begin; h < end; ++h)
                           apply_rope(layer, h, q_norm, k_norm, buffers);
                       });
    pool_.parallel_for(spec.kv_heads * jobs, 1, attend_all);
  }
}

}  // namespace spectr
