#include "spectr/backend/cpu/cpu_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "spectr/backend/cpu/activate.h"
#include "spectr/backend/cpu/for_each_row.h"
#include "spectr/backend/cpu/kernels/vector_ops.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/base/recycled_array.h"

namespace spectr {
namespace {

// Logits scaled and soft-capped in about the time of a thread barrier.
constexpr std::size_t capped_numbers = 2048;

constexpr float nothing = -std::numeric_limits<float>::infinity();

void multiply_by(float factor, std::span<float> x) {
  if (factor == 1.0f) return;
  for (float& number : x) number *= factor;
}

void scale_and_cap(const HeadSpec& spec, std::span<float> logits) {
  multiply_by(spec.scale, logits);
  if (spec.cap != 0.0f) soft_cap(logits, spec.cap);
}

std::vector<KvLayout::Layer> kv_layers(const ModelSpec& spec) {
  std::vector<KvLayout::Layer> layers;
  for (const LayerSpec& layer : spec.layers) {
    const AttentionSpec* attention = layer.attention();
    const bool stores = attention != nullptr && !attention->kv_from;
    if (!stores) {
      layers.push_back({});
      continue;
    }
    const std::size_t value_dim = attention->latent ? attention->latent->rank : 0;
    layers.push_back({attention->kv_heads, attention->head_dim, attention->window, value_dim});
  }
  return layers;
}

std::array<std::size_t, buffer_count> all_cols(const ModelSpec& spec) {
  std::array<std::size_t, buffer_count> cols;
  for (std::size_t i = 0; i < buffer_count; ++i) cols[i] = cols_of(spec, static_cast<Buffer>(i));
  return cols;
}

}  // namespace

CpuOps::CpuOps(const ModelSpec& spec, const KvTypes& kv, ThreadPool& pool)
    : spec_(spec),
      pool_(pool),
      weights_(spec, pool),
      cols_(all_cols(spec)),
      kv_layout_(kv_layers(spec), kv),
      kv_pool_(std::max<std::size_t>(kv_layout_.block_bytes(), 1)),
      attention_(spec, weights_, pool),
      latent_(spec, weights_, pool),
      recurrent_(spec, weights_, pool),
      experts_(spec, weights_, pool),
      logits_pool_(spec.head.shortlist.empty() ? spec.head.output.out : spec.vocabulary,
                   spec.feature_width()) {}

void CpuOps::reserve(std::size_t rows) {
  if (rows <= reserved_) return;
  Memory larger;
  for (std::size_t i = 0; i < buffer_count; ++i)
    larger[i] = std::make_unique_for_overwrite<float[]>(rows * cols_[i]);
  weights_.reserve(rows, scratch_);
  attention_.reserve(rows);
  latent_.reserve(rows, scratch_);
  recurrent_.reserve(rows);
  experts_.reserve(rows, scratch_);
  buffers_ = std::move(larger);
  reserved_ = rows;
}

CacheId CpuOps::open_cache(const CacheSize& size) {
  auto store = std::make_unique<KvStore>(kv_layout_, size, kv_pool_);
  const auto closed = std::ranges::find_if(stores_, [](const auto& one) { return one == nullptr; });
  const auto id = static_cast<CacheId>(closed - stores_.begin());
  if (closed == stores_.end()) {
    stores_.push_back(std::move(store));
  } else {
    *closed = std::move(store);
  }
  recurrent_.open(id, size);
  return id;
}

void CpuOps::close_cache(CacheId cache) {
  stores_[cache].reset();
  recurrent_.close(cache);
}

std::optional<CacheMemory> CpuOps::cache_memory(CacheId cache, std::size_t slots,
                                                std::span<const std::int32_t> frames) const {
  CacheMemory memory{.block_slots = slot_block, .block_bytes = kv_layout_.block_bytes()};
  stores_[cache]->append_windows(slots, memory.rest);
  recurrent_.append_memory(cache, slots, frames, memory.rest);
  return memory;
}

void CpuOps::copy_cache(const CacheCopy& copy) {
  const auto from = cache_memory(copy.from, copy.slots, copy.frames);
  const auto to = cache_memory(copy.to, copy.slots, copy.frames);
  take_blocks(copy.to, share_blocks(copy.from, copy.slots), copy.slots);
  for (std::size_t i = 0; i < to->rest.size(); ++i) std::ranges::copy(from->rest[i], to->rest[i].begin());
}

Span2d<float> CpuOps::view(Buffer buffer, std::size_t cols) const {
  return {buffers_[static_cast<std::size_t>(buffer)].get(), batch_->rows(), cols};
}

/// Makes the slots that the rows write to exclusive to their caches.
void CpuOps::own_slots(const PassBatch& batch) {
  for (std::size_t begin = 0, end = 0; begin < batch.rows(); begin = end) {
    while (end < batch.rows() && batch.caches[end] == batch.caches[begin]) ++end;
    const auto [first, last] = std::ranges::minmax(std::span(batch.slots).subspan(begin, end - begin));
    stores_[batch.caches[begin]]->own(static_cast<std::size_t>(first), static_cast<std::size_t>(last) + 1);
  }
}

void CpuOps::begin(const PassBatch& batch) {
  for (const SlotMove& move : batch.moves) {
    stores_[move.cache]->move(static_cast<std::size_t>(move.from), static_cast<std::size_t>(move.to));
    recurrent_.move(move);
  }
  if (target_stores_ == nullptr) own_slots(batch);
  SPECTR_CHECK(batch.rows() >= 1 && batch.rows() <= reserved_);
  batch_ = &batch;
  host_logits_ = nullptr;
  logits_ = {};
  attention_.begin(batch, target_stores_ != nullptr ? *target_stores_ : stores_);
  recurrent_.begin(batch);
}

void CpuOps::embed_row(const EmbedSpec& spec, std::size_t row, std::span<float> out) const {
  const auto token = static_cast<std::size_t>(batch_->tokens[row]);
  if (token < spec.first || token - spec.first >= weights_.matrix(spec.tokens).rows()) {
    std::ranges::fill(out, 0.0f);
  } else {
    weights_.matrix(spec.tokens).row(token - spec.first, out);
  }
  multiply_by(spec.scale, out);
}

void CpuOps::embed(const EmbedSpec& spec) {
  const Span2d<float> x = view(Buffer::stream), added = view(Buffer::branch);
  const auto add_row = [&](WeightId table, std::int32_t of, std::size_t r) {
    weights_.matrix(table).row(static_cast<std::size_t>(of), added[r]);
    spectr::add(x[r], added[r]);
  };
  for_each_row(x.rows(), x.cols(), pool_, [&](std::size_t r) {
    embed_row(spec, r, x[r]);
    if (spec.segments) add_row(*spec.segments, batch_->segment(r), r);
    if (spec.positions) add_row(*spec.positions, batch_->positions[r], r);
  });
}

void CpuOps::norm(const NormSpec& spec, Buffer in, Buffer out) {
  const NormNumbers numbers = weights_.numbers_of(spec);
  const Span2d<float> x = view(in, numbers.weight.size()), normed = view(out, numbers.weight.size());
  for_each_row(x.rows(), x.cols(), pool_,
               [&](std::size_t r) { normalize(spec.kind, numbers, x[r], normed[r]); });
}

void CpuOps::scale(Buffer buffer, float factor) {
  const Span2d<float> x = view(buffer);
  for_each_row(x.rows(), x.cols(), pool_, [&](std::size_t r) { multiply_by(factor, x[r]); });
}

void CpuOps::add(Buffer to, Buffer from) {
  const Span2d<float> x = view(to), y = view(from);
  for_each_row(x.rows(), x.cols(), pool_, [&](std::size_t r) { spectr::add(x[r], y[r]); });
}

void CpuOps::gate(Buffer buffer, std::size_t cols, std::size_t gates) {
  const Span2d<float> x = view(buffer, cols), by = view(Buffer::gate, gates);
  for_each_row(x.rows(), cols, pool_, [&](std::size_t r) {
    if (gates == 1) {
      multiply_by(sigmoid(by[r].front()), x[r]);
    } else {
      multiply_by_sigmoid(x[r], by[r]);
    }
  });
}

void CpuOps::add_norm(const NormSpec& spec) {
  const Span2d<float> x = view(Buffer::stream), branch = view(Buffer::branch), normed = view(Buffer::normed);
  const NormNumbers numbers = weights_.numbers_of(spec);
  for_each_row(x.rows(), x.cols(), pool_, [&](std::size_t r) {
    spectr::add(x[r], branch[r]);
    normalize(spec.kind, numbers, x[r], normed[r]);
  });
}

void CpuOps::linear(LinearRole, std::span<const LinearTarget> targets, Buffer in) {
  products_.clear();
  for (const auto& [linear, out] : targets)
    products_.push_back({weights_.matrix(linear->weight), view(out, linear->out)});
  matmul(products_, view(in, targets.front().linear->in), pool_, scratch_);
  for (const auto& [linear, out] : targets) weights_.add_bias(*linear, view(out, linear->out));
}

AttentionBuffers CpuOps::attention_buffers(const AttentionSpec& spec) const {
  const std::size_t q_cols = spec.heads * spec.head_dim, kv_cols = spec.kv_heads * spec.head_dim;
  return {view(Buffer::query, q_cols), view(Buffer::key, kv_cols), view(Buffer::value, kv_cols),
          view(Buffer::attended, q_cols)};
}

void CpuOps::attention(std::size_t layer) {
  attention_.run(layer, attention_buffers(*spec_.layers[layer].attention()));
}

void CpuOps::latent_queries(std::size_t layer) {
  const AttentionSpec& spec = *spec_.layers[layer].attention();
  latent_.queries(spec, view(Buffer::up, spec.q.out), view(Buffer::query, spec.heads * spec.head_dim),
                  scratch_);
}

void CpuOps::latent_values(std::size_t layer) {
  const AttentionSpec& spec = *spec_.layers[layer].attention();
  latent_.values(spec, view(Buffer::attended, spec.heads * spec.head_dim), view(Buffer::up, spec.out.in),
                 scratch_);
}

void CpuOps::delta_net(std::size_t layer) {
  const DeltaNetSpec& spec = *spec_.layers[layer].delta_net();
  recurrent_.run(layer, spec,
                 {view(Buffer::query, spec.channels()), view(Buffer::gate, spec.inner()),
                  view(Buffer::key, spec.value_heads), view(Buffer::value, spec.value_heads),
                  view(Buffer::attended, spec.inner())});
}

void CpuOps::short_convolution(std::size_t layer) {
  const ShortConvolutionSpec& spec = *spec_.layers[layer].short_convolution();
  recurrent_.run(layer, spec, view(Buffer::query, spec.in.out), view(Buffer::attended, spec.out.in));
}

void CpuOps::activate(const DenseSpec& spec) {
  spectr::activate(spec, view(Buffer::gate, spec.width), view(Buffer::up, spec.width), pool_);
}

std::size_t CpuOps::experts(const ExpertsSpec& spec, Buffer in) {
  return experts_.run(spec, view(in), view(Buffer::stream), view(Buffer::branch), scratch_);
}

void CpuOps::layer_inputs(const LayerEmbeddingSpec& spec) {
  const Span2d<float> inputs = view(Buffer::layer_inputs);
  const NormNumbers numbers = weights_.numbers_of(spec.norm);
  const float scale = std::sqrt(static_cast<float>(spec.dim)), half = std::sqrt(0.5f);
  const std::size_t cols = inputs.cols(), grain = div_up(numbers_per_thread, cols);
  RecycledArray<float> embeddings(static_cast<std::size_t>(pool_.threads()) * cols);  // one per thread
  pool_.parallel_for(inputs.rows(), grain, [&](std::size_t begin, std::size_t end, std::size_t thread) {
    const std::span<float> embedding(embeddings.data() + thread * cols, cols);
    for (std::size_t r = begin; r < end; ++r) {
      weights_.matrix(spec.tokens).row(static_cast<std::size_t>(batch_->tokens[r]), embedding);
      for (std::size_t from = 0; from < cols; from += spec.dim) {
        const std::span<float> part = inputs[r].subspan(from, spec.dim);
        normalize(spec.norm.kind, numbers, part, part);
        for (std::size_t j = 0; j < spec.dim; ++j) part[j] = (part[j] + scale * embedding[from + j]) * half;
      }
    }
  });
}

void CpuOps::layer_input(std::size_t layer) {
  const LayerInputSpec& spec = *spec_.layers[layer].input;
  const std::size_t dim = spec.gate.out;
  const Span2d<float> gate = view(Buffer::gate, dim), inputs = view(Buffer::layer_inputs);
  for_each_row(gate.rows(), dim, pool_, [&](std::size_t r) {
    spectr::activate(spec.activation, 0, gate[r], inputs[r].subspan(layer * dim, dim));
  });
}

std::span<float> CpuOps::numbers(Buffer buffer) {
  const Span2d<float> x = view(buffer, spec_.width);
  return {x[0].data(), x.rows() * x.cols()};
}

void CpuOps::head(const HeadSpec& spec) {
  const std::size_t rows = batch_->wanted.size();
  if (rows == 0) return;
  const Span2d<float> x = view(Buffer::stream), normed = view(Buffer::normed);
  for_each_row(rows, x.cols(), pool_, [&](std::size_t i) {
    const std::span<const float> wanted = x[static_cast<std::size_t>(batch_->wanted[i])];
    if (spec.norm) {
      normalize(spec.norm->kind, weights_.numbers_of(*spec.norm), wanted, normed[i]);
    } else {
      std::ranges::copy(wanted, normed[i].begin());
    }
  });
  HostLogits& logits = take_logits();
  const bool shortens = !spec.shortlist.empty();
  if (shortens) shortlist_logits_.resize(std::max(shortlist_logits_.size(), rows * spec.output.out));
  const Span2d<float> y =
      shortens ? Span2d<float>(shortlist_logits_.data(), rows, spec.output.out) : logits.rows(rows);
  const Product product[] = {{weights_.matrix(spec.output.weight), y}};
  matmul(product, normed.rows(0, rows), pool_, scratch_);
  weights_.add_bias(spec.output, y);
  finish_logits(spec, y);
  if (shortens) spread(spec, normed, y, logits.rows(rows));
  for (std::size_t i = 0; i < rows; ++i) {
    for (const Token token : spec.forbidden) logits.rows(rows)[i][static_cast<std::size_t>(token)] = nothing;
  }
}

/// Returns the memory for the logits and features of the pass, taken at the first call.
HostLogits& CpuOps::take_logits() {
  if (host_logits_ == nullptr) {
    host_logits_ = &logits_pool_.take(std::max<std::size_t>(batch_->wanted.size(), 1));
    logits_ = HeldLogits(*host_logits_);
  }
  return *host_logits_;
}

/// Applies scale and soft cap to the head's logits.
void CpuOps::finish_logits(const HeadSpec& spec, Span2d<float> logits) {
  if (spec.scale == 1.0f && spec.cap == 0.0f) return;
  const std::size_t parts = div_up(logits.cols(), capped_numbers);  // per row
  pool_.parallel_for(logits.rows() * parts, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t task = begin; task < end; ++task) {
      const std::size_t part = task % parts, from = part * logits.cols() / parts;
      scale_and_cap(spec, logits[task / parts].subspan(from, (part + 1) * logits.cols() / parts - from));
    }
  });
}

/// Expands shortlist logits to the vocabulary, and computes those of sequences' extra tokens.
void CpuOps::spread(const HeadSpec& spec, Span2d<const float> normed, Span2d<const float> shortlist,
                    Span2d<float> out) {
  for_each_row(out.rows(), out.cols(), pool_, [&](std::size_t i) {
    const std::span<float> row = out[i];
    std::ranges::fill(row, nothing);
    for (std::size_t j = 0; j < spec.shortlist.size(); ++j)
      row[static_cast<std::size_t>(spec.shortlist[j])] = shortlist[i][j];
    const ExtraTokens& own = *batch_->extra_tokens[i];
    for (std::size_t j = 0; j < own.tokens.size(); ++j) {
      float logit = dot(std::span(own.rows).subspan(j * spec_.width, spec_.width), normed[i]);
      if (!own.biases.empty()) logit += own.biases[j];
      scale_and_cap(spec, {&logit, 1});
      row[static_cast<std::size_t>(own.tokens[j])] = logit;
    }
  });
}

Result<HeldLogits> CpuOps::finish() {
  return std::move(logits_);
}

}  // namespace spectr
