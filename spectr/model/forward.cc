#include "spectr/model/forward.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "spectr/base/check.h"
#include "spectr/base/rounding.h"
#include "spectr/kernels/attention.h"
#include "spectr/kernels/vector_ops.h"

namespace spectr {
namespace {

// So many numbers are turned or activated in the time that it takes threads to meet.
constexpr std::size_t rope_numbers = 4096, activation_numbers = 1536;

// With so many heads of keys and values per thread no thread waits long for the others.
constexpr std::size_t heads_per_thread = 2;

/// What one layer's attention takes: the keys and values of a text's prefix are read once for all its rows.
Work attention_work(const ModelConfig& config, std::span<const PassRow> rows) {
  double read = 0.0, attended = 0.0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto prefix = static_cast<double>(rows[r].prefix),
               extra = static_cast<double>(rows[r].extra.size());
    const bool same_text = r > 0 && rows[r].cache == rows[r - 1].cache;
    read += same_text ? 1.0 : prefix + extra;
    attended += prefix + extra;
  }
  const double row_bytes = static_cast<double>(rows.front().cache->row_bytes());
  const auto width = static_cast<double>(config.head_dim);
  return {2.0 * row_bytes * static_cast<double>(config.kv_heads) * read,
          2.0 * width * static_cast<double>(config.heads) * attended, 0.0};
}

}  // namespace

ForwardPass::ForwardPass(const Transformer& model, std::size_t most_rows, PassProfile* profile)
    : config_(model.config()),
      weights_(model.weights()),
      pool_(model.pool()),
      most_rows_(most_rows),
      profile_(profile) {
  const ModelConfig& c = config_;
  const std::size_t q_width = c.heads * c.head_dim, kv_width = c.kv_heads * c.head_dim;
  for (auto [memory, cols] : {std::pair{&x_, c.width},
                              {&normed_, c.width},
                              {&q_, q_width},
                              {&k_, kv_width},
                              {&v_, kv_width},
                              {&heads_, q_width},
                              {&branch_, c.width},
                              {&gate_, c.ffn},
                              {&up_, c.ffn},
                              {&cosines_, c.rope_dims / 2},
                              {&sines_, c.rope_dims / 2}}) {
    *memory = std::make_unique_for_overwrite<float[]>(most_rows * cols);
  }
  weights_.for_each_matrix([&](const Matrix& w) { scratch_.reserve(w, most_rows); });
  parts_.reserve(most_rows * c.heads / c.kv_heads);
  places_.reserve(most_rows);
  for (std::size_t i = 0; i < c.rope_dims / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(c.rope_dims);
    const double factor = weights_.rope_factors.empty() ? 1.0 : static_cast<double>(weights_.rope_factors[i]);
    const double frequency = std::pow(static_cast<double>(c.rope_base), exponent) / factor;
    inverse_frequencies_.push_back(static_cast<float>(frequency / static_cast<double>(c.rope_scale)));
  }
}

Span2d<float> ForwardPass::view(const std::unique_ptr<float[]>& memory, std::size_t cols) {
  return {memory.get(), rows_, cols};
}

void ForwardPass::embed(std::span<const PassRow> rows) {
  const Span2d<float> x = view(x_, config_.width);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    weights_.token_embedding.row(static_cast<std::size_t>(rows[r].token), x[r]);
    if (!weights_.position_embedding) continue;
    const Span2d<float> position = view(branch_, config_.width);
    weights_.position_embedding->row(rows[r].position, position[r]);
    add(x[r], position[r]);
  }
  ends(Operation::embedding);
}

/// Neighbouring queries of one cache, as many as attend together, but so few that all threads have some.
void ForwardPass::divide(std::span<const PassRow> rows) {
  const std::size_t all = rows.size() * config_.heads, threads = static_cast<std::size_t>(pool_.threads());
  const std::size_t most = std::clamp<std::size_t>(all / threads, 1, most_queries);
  const std::size_t group = config_.heads / config_.kv_heads;
  parts_.clear();
  for (std::size_t i = 0; i < rows.size() * group; ++i) {
    const bool joins =
        i > 0 && rows[i / group].cache == rows[(i - 1) / group].cache && parts_.back().size < most;
    if (!joins) parts_.push_back({i, 0});
    ++parts_.back().size;
  }
}

void ForwardPass::prepare_angles(std::span<const PassRow> rows) {
  const std::size_t half = inverse_frequencies_.size();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < half; ++i) {
      const double angle =
          static_cast<double>(rows[r].position) * static_cast<double>(inverse_frequencies_[i]);
      cosines_[r * half + i] = static_cast<float>(std::cos(angle));
      sines_[r * half + i] = static_cast<float>(std::sin(angle));
    }
  }
  ends(Operation::attention);
}

void ForwardPass::normalise_row(const Norm& norm, std::span<const float> x, std::span<float> out) const {
  if (norm.bias.empty()) {
    rms_norm(x, norm.weight, config_.norm_epsilon, out);
  } else {
    layer_norm(x, norm.weight, norm.bias, config_.norm_epsilon, out);
  }
}

void ForwardPass::normalise(const Norm& norm) {
  const Span2d<float> x = view(x_, config_.width), normed = view(normed_, config_.width);
  for (std::size_t r = 0; r < rows_; ++r) normalise_row(norm, x[r], normed[r]);
  ends(Operation::norm);
}

void ForwardPass::add_branch() {
  const Span2d<float> x = view(x_, config_.width), branch = view(branch_, config_.width);
  for (std::size_t r = 0; r < rows_; ++r) add(x[r], branch[r]);
  ends(Operation::norm);
}

void ForwardPass::add_branch_and_normalise(const Norm& norm) {
  const Span2d<float> x = view(x_, config_.width), branch = view(branch_, config_.width),
                      normed = view(normed_, config_.width);
  for (std::size_t r = 0; r < rows_; ++r) {
    add(x[r], branch[r]);
    normalise_row(norm, x[r], normed[r]);
  }
  ends(Operation::norm);
}

void ForwardPass::multiply(Operation operation, std::initializer_list<Target> targets,
                           Span2d<const float> x) {
  std::vector<Product>& products = products_;
  products.clear();
  for (const Target& target : targets) products.push_back({target.linear.weight, target.y});
  matmul(products, x, pool_, scratch_);
  for (const Target& target : targets) {
    if (target.linear.bias.empty()) continue;
    for (std::size_t r = 0; r < target.y.rows(); ++r) add(target.y[r], target.linear.bias);
  }
  ends(operation, std::span<const Product>(products));
}

void ForwardPass::turn(const LayerWeights& layer, std::size_t index, std::size_t kv_head,
                       std::span<const PassRow> rows) {
  const ModelConfig& c = config_;
  const Span2d<float> q = view(q_, c.heads * c.head_dim);
  const Span2d<float> k = view(k_, c.kv_heads * c.head_dim), v = view(v_, c.kv_heads * c.head_dim);
  const std::size_t half = inverse_frequencies_.size(), group = c.heads / c.kv_heads;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto turned = [&](const Norm& norm, std::span<float> head) {
      if (!norm.weight.empty()) normalise_row(norm, head, head);
      rope(head, std::span(cosines_.get() + r * half, half), std::span(sines_.get() + r * half, half),
           c.rope_interleaved);
      return head;
    };
    for (std::size_t h = kv_head * group; h < (kv_head + 1) * group; ++h) {
      turned(layer.q_norm, q[r].subspan(h * c.head_dim, c.head_dim));
    }
    const std::size_t at = kv_head * c.head_dim;
    rows[r].cache->write(index, kv_head, rows[r].slot, turned(layer.k_norm, k[r].subspan(at, c.head_dim)),
                         v[r].subspan(at, c.head_dim));
  }
}

/// Room for the scores of each thread. What a text does not need takes no memory: it is not filled.
void ForwardPass::make_room_for_scores(std::span<const PassRow> rows) {
  std::size_t needed = 0;
  for (const PassRow& row : rows) needed = std::max(needed, row.cache->scratch());
  if (needed <= thread_scores_) return;
  scores_ = std::make_unique_for_overwrite<float[]>(needed * static_cast<std::size_t>(pool_.threads()));
  thread_scores_ = needed;
}

void ForwardPass::attend(std::size_t layer, std::size_t kv_head, Part part, std::span<const PassRow> rows,
                         ReadFrom from, std::size_t thread) {
  const ModelConfig& c = config_;
  const Span2d<float> q = view(q_, c.heads * c.head_dim), heads = view(heads_, c.heads * c.head_dim);
  const std::size_t group = c.heads / c.kv_heads;
  const KvCache& cache = *rows[part.begin / group].cache;
  std::array<Query, most_queries> queries;
  for (std::size_t i = 0; i < part.size; ++i) {
    const std::size_t r = (part.begin + i) / group, head = kv_head * group + (part.begin + i) % group;
    queries[i] = {q[r].data() + head * c.head_dim, rows[r].prefix, rows[r].extra,
                  heads[r].data() + head * c.head_dim};
  }
  const float scale = 1.0f / std::sqrt(static_cast<float>(c.head_dim));
  cache.attend(layer, kv_head, std::span(queries).first(part.size), scale,
               {scores_.get() + thread * thread_scores_, thread_scores_}, from);
}

void ForwardPass::attention(const LayerWeights& layer, std::size_t index, std::span<const PassRow> rows) {
  const ModelConfig& c = config_;
  const Span2d<float> normed = view(normed_, c.width);
  const Span2d<float> heads = view(heads_, c.heads * c.head_dim);
  multiply(Operation::query_key_value,
           {{layer.q, view(q_, c.heads * c.head_dim)},
            {layer.k, view(k_, c.kv_heads * c.head_dim)},
            {layer.v, view(v_, c.kv_heads * c.head_dim)}},
           normed);

  const std::size_t group = c.heads / c.kv_heads, parts = parts_.size(),
                    threads = static_cast<std::size_t>(pool_.threads());
  // Parts that read the same keys and values one after the other.
  const auto attend_all = [&](std::size_t begin, std::size_t end, std::size_t thread) {
    const auto cache = [&](std::size_t i) { return rows[parts_[i % parts].begin / group].cache; };
    for (std::size_t i = begin; i < end; ++i) {
      const bool again = i > begin && i % parts > 0 && cache(i) == cache(i - 1);
      attend(index, i / parts, parts_[i % parts], rows, again ? ReadFrom::caches : ReadFrom::memory, thread);
    }
  };
  if (c.kv_heads >= heads_per_thread * threads) {
    // A thread attends to a head at once, while it has the new keys at hand.
    pool_.parallel_for(c.kv_heads, 1, [&](std::size_t begin, std::size_t end, std::size_t thread) {
      for (std::size_t h = begin; h < end; ++h) {
        turn(layer, index, h, rows);
        attend_all(h * parts, (h + 1) * parts, thread);
      }
    });
  } else {
    const std::size_t numbers = rows.size() * (group + 1) * c.head_dim;
    pool_.parallel_for(c.kv_heads, std::max<std::size_t>(1, rope_numbers / numbers),
                       [&](std::size_t begin, std::size_t end) {
                         for (std::size_t h = begin; h < end; ++h) turn(layer, index, h, rows);
                       });
    pool_.parallel_for(c.kv_heads * parts, 1, attend_all);
  }
  if (profile_ != nullptr) ends(Operation::attention, attention_work(c, rows));
  multiply(Operation::attention_output, {{layer.attention_output, view(branch_, c.width)}}, heads);
}

void ForwardPass::feed_forward(const LayerWeights& layer) {
  const Span2d<float> input = view(normed_, config_.width), out = view(branch_, config_.width),
                      up = view(up_, config_.ffn), gate = view(gate_, config_.ffn);
  if (layer.gate) {
    multiply(Operation::gate_up, {{*layer.gate, gate}, {layer.up, up}}, input);
  } else {
    multiply(Operation::gate_up, {{layer.up, up}}, input);
  }
  const std::size_t parts = div_up(config_.ffn, activation_numbers);  // of a row
  pool_.parallel_for(rows_ * parts, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t task = begin; task < end; ++task) {
      const std::size_t r = task / parts, part = task % parts;
      const std::size_t from = part * config_.ffn / parts, to = (part + 1) * config_.ffn / parts;
      if (layer.gate) {
        swiglu(gate[r].subspan(from, to - from), up[r].subspan(from, to - from));
      } else {
        gelu(up[r].subspan(from, to - from));
      }
    }
  });
  ends(Operation::activation);
  multiply(Operation::down, {{layer.down, out}}, layer.gate ? gate : up);
}

void ForwardPass::run(std::span<const PassRow> rows) {
  SPECTR_CHECK(!rows.empty() && rows.size() <= most_rows_);
  rows_ = rows.size();
  if (profile_ != nullptr) profile_->begin(rows_);

  embed(rows);
  prepare_angles(rows);
  divide(rows);
  make_room_for_scores(rows);
  normalise(weights_.layers.front().attention_norm);
  for (std::size_t i = 0; i < config_.layers; ++i) {
    const LayerWeights& layer = weights_.layers[i];
    attention(layer, i, rows);
    if (config_.parallel_residual) {
      // The feed-forward block reads the same input as the attention: normalise before adding.
      normalise(layer.ffn_norm);
      add_branch();
    } else {
      add_branch_and_normalise(layer.ffn_norm);
    }
    feed_forward(layer);
    if (i + 1 < config_.layers) {
      add_branch_and_normalise(weights_.layers[i + 1].attention_norm);
    } else {
      add_branch();
    }
  }
  head(rows);
}

void ForwardPass::make_room_for_logits(std::size_t rows) {
  if (rows <= logit_rows_) return;
  logits_ = std::make_unique_for_overwrite<float[]>(rows * config_.vocabulary);
  logit_rows_ = rows;
}

void ForwardPass::head(std::span<const PassRow> rows) {
  const std::size_t vocabulary = config_.vocabulary;
  std::vector<float*>& places = places_;
  places.clear();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].logits == nullptr) continue;
    normalise_row(weights_.output_norm, view(x_, config_.width)[r],
                  view(normed_, config_.width)[places.size()]);
    places.push_back(rows[r].logits);
  }
  ends(Operation::norm);
  if (places.empty()) return;
  const auto gap = [vocabulary](const float* a, const float* b) { return b != a + vocabulary; };
  const bool together = std::ranges::adjacent_find(places, gap) == places.end();
  if (!together) make_room_for_logits(places.size());
  const Span2d<float> logits(together ? places.front() : logits_.get(), places.size(), vocabulary);
  const Product product[] = {{weights_.head(), logits}};
  matmul(product, view(normed_, config_.width).rows(0, places.size()), pool_, scratch_);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (weights_.output && !weights_.output->bias.empty()) add(logits[i], weights_.output->bias);
    if (!together) std::ranges::copy(logits[i], places[i]);
  }
  ends(Operation::head, std::span(product));
}

}  // namespace spectr
