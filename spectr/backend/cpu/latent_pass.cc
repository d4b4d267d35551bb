#include "spectr/backend/cpu/latent_pass.h"

#include <algorithm>
#include <utility>

#include "spectr/backend/cpu/for_each_row.h"

namespace spectr {

LatentPass::LatentPass(const ModelSpec& spec, const CpuWeights& weights, ThreadPool& pool)
    : spec_(spec), weights_(weights), pool_(pool) {
  for (const LayerSpec& layer : spec.layers) {
    const AttentionSpec* attention = layer.attention();
    if (attention == nullptr || !attention->latent) continue;
    const LatentSpec& latent = *attention->latent;
    max_in_ = std::max(max_in_, attention->heads * std::max(latent.q_dim, latent.rank));
    max_out_ = std::max(max_out_, attention->heads * std::max(latent.rank, latent.value_dim));
    max_heads_ = std::max(max_heads_, attention->heads);
  }
}

void LatentPass::reserve(std::size_t rows, MatmulScratch& scratch) {
  if (max_heads_ == 0) return;
  for (const LayerSpec& layer : spec_.layers) {
    const AttentionSpec* attention = layer.attention();
    if (attention == nullptr || !attention->latent) continue;
    for (const auto* heads : {&attention->latent->keys_up, &attention->latent->values_up})
      scratch.reserve(weights_.matrix(heads->front().weight), rows * attention->heads, attention->heads);
  }
  products_.reserve(max_heads_);
  groups_.reserve(max_heads_);
  auto inputs = std::make_unique_for_overwrite<float[]>(rows * max_in_);
  outputs_ = std::make_unique_for_overwrite<float[]>(rows * max_out_);
  inputs_ = std::move(inputs);
}

void LatentPass::multiply(const std::vector<LinearSpec>& heads, Span2d<const float> x, std::size_t x_stride,
                          Span2d<float> y, std::size_t y_stride, MatmulScratch& scratch) {
  const std::size_t rows = x.rows(), in = heads.front().in, out = heads.front().out;
  const auto input = [&](std::size_t h) { return Span2d<float>(inputs_.get() + h * rows * in, rows, in); };
  const auto output = [&](std::size_t h) {
    return Span2d<float>(outputs_.get() + h * rows * out, rows, out);
  };
  products_.clear();
  groups_.clear();
  for_each_row(rows, heads.size() * in, pool_, [&](std::size_t r) {
    for (std::size_t h = 0; h < heads.size(); ++h)
      std::ranges::copy(x[r].subspan(h * x_stride, in), input(h)[r].begin());
  });
  for (std::size_t h = 0; h < heads.size(); ++h) {
    products_.push_back({weights_.matrix(heads[h].weight), output(h)});
    groups_.push_back({std::span(products_).last(1), input(h)});
  }
  matmul(groups_, pool_, scratch);
  for_each_row(rows, heads.size() * out, pool_, [&](std::size_t r) {
    for (std::size_t h = 0; h < heads.size(); ++h)
      std::ranges::copy(output(h)[r], y[r].subspan(h * y_stride, out).begin());
  });
}

void LatentPass::queries(const AttentionSpec& spec, Span2d<const float> in, Span2d<float> query,
                         MatmulScratch& scratch) {
  const LatentSpec& latent = *spec.latent;
  const std::size_t stride = in.cols() / spec.heads, rotated = stride - latent.q_dim;
  multiply(latent.keys_up, in, stride, query, spec.head_dim, scratch);
  for_each_row(in.rows(), in.cols(), pool_, [&](std::size_t r) {
    for (std::size_t h = 0; h < spec.heads; ++h) {
      std::ranges::copy(in[r].subspan(h * stride + latent.q_dim, rotated),
                        query[r].subspan(h * spec.head_dim + latent.rank).begin());
    }
  });
}

void LatentPass::values(const AttentionSpec& spec, Span2d<const float> attended, Span2d<float> out,
                        MatmulScratch& scratch) {
  multiply(spec.latent->values_up, attended, spec.head_dim, out, spec.latent->value_dim, scratch);
}

}  // namespace spectr
