#include "spectr/backend/cpu/experts_pass.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "spectr/backend/cpu/activate.h"
#include "spectr/backend/cpu/for_each_row.h"
#include "spectr/backend/cpu/kernels/state_ops.h"
#include "spectr/backend/cpu/kernels/vector_ops.h"

namespace spectr {
namespace {

/// Chooses the `chosen.size()` experts with the largest scores; ties go to the lower index.
template <class Score>
void choose_largest(std::size_t experts, const Score& score, std::span<ChosenExpert> chosen) {
  std::size_t count = 0;
  for (std::size_t e = 0; e < experts; ++e) {
    std::size_t at = count;
    while (at > 0 && score(chosen[at - 1].expert) < score(e)) --at;
    if (at == chosen.size()) continue;
    if (count < chosen.size()) ++count;
    for (std::size_t i = count - 1; i > at; --i) chosen[i] = chosen[i - 1];
    chosen[at].expert = static_cast<std::uint32_t>(e);
  }
}

/// Sets the scores of experts outside the best groups to −∞. A group's score is the sum of its two best
/// experts; ties go to the lower index.
void keep_best_groups(const ExpertsSpec& spec, std::span<float> scores) {
  constexpr float nothing = -std::numeric_limits<float>::infinity();
  const std::size_t size = scores.size() / spec.groups;
  std::vector<float> sums;
  for (std::size_t g = 0; g < spec.groups; ++g) {
    float best = nothing, second = nothing;
    for (const float score : scores.subspan(g * size, size)) {
      second = std::max(second, std::min(best, score));
      best = std::max(best, score);
    }
    sums.push_back(size > 1 ? best + second : best);
  }
  std::vector<ChosenExpert> best(spec.groups_used);
  choose_largest(spec.groups, [&](std::size_t g) { return sums[g]; }, best);
  for (std::size_t g = 0; g < spec.groups; ++g) {
    if (std::ranges::find(best, g, &ChosenExpert::expert) == best.end())
      std::ranges::fill(scores.subspan(g * size, size), nothing);
  }
}

void apply_softmax(std::span<ChosenExpert> chosen) {
  const float max = std::ranges::max(chosen, {}, &ChosenExpert::weight).weight;
  float sum = 0.0f;
  for (ChosenExpert& one : chosen) sum += one.weight = std::exp(one.weight - max);
  for (ChosenExpert& one : chosen) one.weight /= sum;
}

}  // namespace

void choose_experts(const ExpertsSpec& spec, std::span<const float> bias, std::span<float> z,
                    std::span<ChosenExpert> chosen) {
  using Gating = ExpertsSpec::Gating;
  // Gating preserves the order of z up to rounding: without a bias and groups, z itself is compared.
  const bool by_outputs = bias.empty() && spec.groups == 1;
  if (by_outputs) choose_largest(z.size(), [z](std::size_t e) { return z[e]; }, chosen);
  if (spec.gating == Gating::softmax) softmax(z);
  if (spec.gating == Gating::sigmoid) std::ranges::transform(z, z.begin(), sigmoid);
  if (!by_outputs) {
    std::vector<float> scores(z.begin(), z.end());
    if (!bias.empty()) add(scores, bias);
    if (spec.groups > 1) keep_best_groups(spec, scores);
    choose_largest(z.size(), [&scores](std::size_t e) { return scores[e]; }, chosen);
  }
  for (ChosenExpert& one : chosen) one.weight = z[one.expert];
  if (spec.gating == Gating::softmax_of_chosen) apply_softmax(chosen);
  float factor = spec.weights_scale;
  if (spec.normalized) {
    float sum = 0.0f;
    for (const ChosenExpert& one : chosen) sum += one.weight;
    factor /= std::max(sum, std::numeric_limits<float>::min());
  }
  for (ChosenExpert& one : chosen) one.weight *= factor;
}

ExpertsPass::ExpertsPass(const ModelSpec& spec, const CpuWeights& weights, ThreadPool& pool)
    : spec_(spec), weights_(weights), pool_(pool) {
  for (const LayerSpec& layer : spec.layers) {
    if (!layer.experts) continue;
    max_experts_ = std::max(max_experts_, layer.experts->router.out);
    max_used_ = std::max(max_used_, layer.experts->used);
    for (const DenseSpec& block : layer.experts->blocks) max_block_ = std::max(max_block_, block.width);
  }
  counts_.resize(max_experts_);
}

void ExpertsPass::reserve(std::size_t rows, MatmulScratch& scratch) {
  if (max_experts_ == 0) return;
  const std::size_t all = rows * max_used_, groups = std::min(all, max_experts_), width = spec_.width;
  for (const LayerSpec& layer : spec_.layers) {
    if (!layer.experts) continue;
    const DenseSpec& block = layer.experts->blocks.front();
    for (const LinearSpec* linear : {&block.up, &block.down, block.gate ? &*block.gate : &block.up})
      scratch.reserve(weights_.matrix(linear->weight), all, groups);
  }
  chosen_.reserve(all);
  places_.reserve(all);
  groups_.reserve(groups);
  products_.reserve(2 * groups);
  product_groups_.reserve(groups);
  auto router = std::make_unique_for_overwrite<float[]>(rows * max_experts_);
  auto inputs = std::make_unique_for_overwrite<float[]>(all * width);
  auto outputs = std::make_unique_for_overwrite<float[]>(all * width);
  auto gates = std::make_unique_for_overwrite<float[]>(all * max_block_);
  ups_ = std::make_unique_for_overwrite<float[]>(all * max_block_);
  router_ = std::move(router);
  inputs_ = std::move(inputs);
  outputs_ = std::move(outputs);
  gates_ = std::move(gates);
}

/// Chooses every row's experts.
void ExpertsPass::choose(const ExpertsSpec& spec, Span2d<const float> x, MatmulScratch& scratch) {
  const Span2d<float> z(router_.get(), x.rows(), spec.router.out);
  const Product product{weights_.matrix(spec.router.weight), z};
  matmul({&product, 1}, x, pool_, scratch);
  weights_.add_bias(spec.router, z);
  if (spec.router_scale != 1.0f) scale({z[0].data(), z.rows() * z.cols()}, spec.router_scale);
  const auto bias = spec.selection_bias ? weights_.vector(*spec.selection_bias) : std::span<const float>();
  chosen_.resize(x.rows() * spec.used);
  for (std::size_t r = 0; r < x.rows(); ++r)
    choose_experts(spec, bias, z[r], std::span(chosen_).subspan(r * spec.used, spec.used));
  if (!spec.scales) return;
  const std::span<const float> scales = weights_.vector(*spec.scales);
  for (ChosenExpert& one : chosen_) one.weight *= scales[one.expert];
}

/// Assigns places to the choices of local experts, ordered by expert, then by row. Returns the number of
/// places.
std::size_t ExpertsPass::group(const ExpertsSpec& spec) {
  std::ranges::fill(counts_, 0);
  for (const ChosenExpert& one : chosen_) ++counts_[one.expert];
  groups_.clear();
  std::size_t begin = 0;
  for (std::size_t block = 0; block < spec.blocks.size(); ++block) {
    const std::size_t size = std::exchange(counts_[spec.first + block], begin);  // place of next choice
    if (size > 0) groups_.push_back({block, begin, size});
    begin += size;
  }
  places_.resize(chosen_.size());
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const std::size_t expert = chosen_[i].expert;
    const bool is_here = expert >= spec.first && expert - spec.first < spec.blocks.size();
    places_[i] = is_here ? counts_[expert]++ : elsewhere;
  }
  return begin;
}

void ExpertsPass::multiply(const ExpertsSpec& spec, std::span<const Target> targets, Span2d<const float> in,
                           MatmulScratch& scratch) {
  products_.clear();
  product_groups_.clear();
  for (const Group& group : groups_) {
    for (const auto& [linear_of, out] : targets) {
      const LinearSpec& linear = *linear_of(spec.blocks[group.block]);
      products_.push_back({weights_.matrix(linear.weight), out.rows(group.begin, group.size)});
    }
    product_groups_.push_back({std::span(products_).last(targets.size()), in.rows(group.begin, group.size)});
  }
  matmul(product_groups_, pool_, scratch);
  for (const Group& group : groups_) {
    for (const auto& [linear_of, out] : targets)
      weights_.add_bias(*linear_of(spec.blocks[group.block]), out.rows(group.begin, group.size));
  }
}

std::size_t ExpertsPass::run(const ExpertsSpec& spec, Span2d<const float> x, Span2d<const float> stream,
                             Span2d<float> out, MatmulScratch& scratch) {
  if (spec.router_norm) {
    const NormNumbers norm = weights_.numbers_of(*spec.router_norm);
    const Span2d<float> normed(outputs_.get(), x.rows(), x.cols());
    for_each_row(x.rows(), x.cols(), pool_,
                 [&](std::size_t r) { normalize(spec.router_norm->kind, norm, stream[r], normed[r]); });
    choose(spec, normed, scratch);
  } else {
    choose(spec, x, scratch);
  }
  const std::size_t all = group(spec);
  const DenseSpec& block = spec.blocks.front();
  const Span2d<float> inputs(inputs_.get(), all, x.cols()), outputs(outputs_.get(), all, x.cols());
  const Span2d<float> gates(gates_.get(), all, block.width), ups(ups_.get(), all, block.width);
  const auto places_of = [&](std::size_t r) { return std::span(places_).subspan(r * spec.used, spec.used); };

  for_each_row(x.rows(), spec.used * x.cols(), pool_, [&](std::size_t r) {
    for (const std::size_t place : places_of(r)) {
      if (place != elsewhere) std::ranges::copy(x[r], inputs[place].begin());
    }
  });
  const std::array hidden = {Target{[](const DenseSpec& one) { return &one.up; }, ups},
                             Target{[](const DenseSpec& one) { return &*one.gate; }, gates}};
  const Target down{[](const DenseSpec& one) { return &one.down; }, outputs};
  if (all > 0) {
    multiply(spec, std::span(hidden).first(block.gate ? 2 : 1), inputs, scratch);
    activate(block, gates, ups, pool_);
    multiply(spec, {&down, 1}, block.gate ? gates : ups, scratch);
  }
  for_each_row(x.rows(), spec.used * x.cols(), pool_, [&](std::size_t r) {
    const std::span<const std::size_t> places = places_of(r);
    std::ranges::fill(out[r], 0.0f);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] != elsewhere) add_scaled(out[r], chosen_[r * spec.used + i].weight, outputs[places[i]]);
    }
  });
  return groups_.size();
}

}  // namespace spectr
