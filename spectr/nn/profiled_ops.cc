#include "spectr/nn/profiled_ops.h"

#include <algorithm>
#include <array>

namespace spectr {
namespace {

Operation operation_of(LinearRole role) {
  switch (role) {
    case LinearRole::query_key_value:
      return Operation::query_key_value;
    case LinearRole::attention_output:
      return Operation::attention_output;
    case LinearRole::gate_up:
      return Operation::gate_up;
    case LinearRole::down:
      return Operation::down;
    case LinearRole::layer_inputs:
    case LinearRole::drafter_input:
      return Operation::embedding;
  }
  return {};
}

}  // namespace

void ProfiledOps::begin(const PassBatch& batch) {
  batch_ = &batch;
  profile_.begin(batch.rows());
  ops_.begin(batch);
  profile_.add(Operation::attention);  // moves, and the attention's metadata
}

void ProfiledOps::embed(const EmbedSpec& spec) {
  ops_.embed(spec);
  profile_.add(Operation::embedding);
}

void ProfiledOps::norm(const NormSpec& spec, Buffer in, Buffer out) {
  ops_.norm(spec, in, out);
  profile_.add(Operation::norm);
}

void ProfiledOps::add(Buffer to, Buffer from) {
  ops_.add(to, from);
  profile_.add(Operation::norm);
}

void ProfiledOps::scale(Buffer buffer, float factor) {
  ops_.scale(buffer, factor);
  profile_.add(Operation::norm);
}

void ProfiledOps::add_norm(const NormSpec& spec) {
  ops_.add_norm(spec);
  profile_.add(Operation::norm);
}

void ProfiledOps::gate(Buffer buffer, std::size_t cols, std::size_t gates) {
  ops_.gate(buffer, cols, gates);
  profile_.add(Operation::activation);
}

void ProfiledOps::layer_inputs(const LayerEmbeddingSpec& spec) {
  ops_.layer_inputs(spec);
  profile_.add(Operation::embedding);
}

void ProfiledOps::layer_input(std::size_t layer) {
  ops_.layer_input(layer);
  profile_.add(Operation::activation);
}

Work ProfiledOps::work_of(const LinearSpec& linear, std::size_t rows) const {
  const auto macs = static_cast<double>(rows * linear.out * linear.in);
  const bool integers = format_of(spec_.weight(linear.weight).type).is_quantized();
  return {static_cast<double>(ops_.bytes_of(linear.weight)), macs, integers ? macs : 0.0};
}

std::string_view ProfiledOps::format_name(const LinearSpec& linear) const {
  return format_of(spec_.weight(linear.weight).type).name;
}

void ProfiledOps::add_products(Operation operation, std::span<const LinearTarget> targets, std::size_t rows) {
  Work work;
  std::array<std::string_view, 4> formats;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    work += work_of(*targets[i].linear, rows);
    formats[i] = format_name(*targets[i].linear);
  }
  profile_.add(operation, work, std::span(formats).first(targets.size()));
}

void ProfiledOps::linear(LinearRole role, std::span<const LinearTarget> targets, Buffer in) {
  ops_.linear(role, targets, in);
  add_products(operation_of(role), targets, batch_->rows());
}

/// Returns the work of one layer's attention. The keys and values of a sequence's prefix are read once for
/// all its rows.
Work ProfiledOps::attention_work(const AttentionSpec& spec) const {
  double read = 0.0, attended = 0.0;
  for (std::size_t r = 0; r < batch_->rows(); ++r) {
    const std::size_t seen = batch_->attended(r);
    const auto slots = static_cast<double>(spec.window > 0 ? std::min(seen, spec.window) : seen);
    const bool same_sequence = r > 0 && batch_->caches[r] == batch_->caches[r - 1];
    read += same_sequence ? 1.0 : slots;
    attended += slots;
  }
  const auto dim = static_cast<double>(spec.head_dim), heads = static_cast<double>(spec.heads);
  const double value_dim = spec.latent ? static_cast<double>(spec.latent->rank) : dim;
  const double value_bytes = spec.latent ? 0.0 : rule_of(kv_.values).bytes;  // latent keys contain the values
  return {(rule_of(kv_.keys).bytes + value_bytes) * dim * static_cast<double>(spec.kv_heads) * read,
          (dim + value_dim) * heads * attended, 0.0};
}

void ProfiledOps::attention(std::size_t layer) {
  ops_.attention(layer);
  profile_.add(Operation::attention, attention_work(*spec_.layers[layer].attention()));
}

void ProfiledOps::add_heads(const std::vector<LinearSpec>& heads) {
  Work work;
  for (const LinearSpec& head : heads) work += work_of(head, batch_->rows());
  const std::string_view format = format_name(heads.front());
  profile_.add(Operation::query_key_value, work, {&format, 1});
}

void ProfiledOps::latent_queries(std::size_t layer) {
  ops_.latent_queries(layer);
  add_heads(spec_.layers[layer].attention()->latent->keys_up);
}

void ProfiledOps::latent_values(std::size_t layer) {
  ops_.latent_values(layer);
  add_heads(spec_.layers[layer].attention()->latent->values_up);
}

/// A head's state is read once for all rows of a sequence; every row multiplies it by a key and a query.
void ProfiledOps::delta_net(std::size_t layer) {
  ops_.delta_net(layer);
  const DeltaNetSpec& spec = *spec_.layers[layer].delta_net();
  const auto state = static_cast<double>(spec.inner() * spec.head_dim);
  double sequences = 0.0;
  for (std::size_t r = 0; r < batch_->rows(); ++r)
    sequences += r == 0 || batch_->caches[r] != batch_->caches[r - 1] ? 1.0 : 0.0;
  profile_.add(Operation::attention,
               {sequences * state * sizeof(float), 2.0 * state * static_cast<double>(batch_->rows()), 0.0});
}

void ProfiledOps::short_convolution(std::size_t layer) {
  ops_.short_convolution(layer);
  profile_.add(Operation::attention);
}

void ProfiledOps::activate(const DenseSpec& spec) {
  ops_.activate(spec);
  profile_.add(Operation::activation);
}

/// Adds the work of the router and of each row's chosen experts, whose weights are read once for all rows.
std::size_t ProfiledOps::experts(const ExpertsSpec& spec, Buffer in) {
  const std::size_t chosen = ops_.experts(spec, in);
  const DenseSpec& block = spec.blocks.front();
  Work work = work_of(spec.router, batch_->rows());
  std::array formats = {format_name(spec.router), format_name(block.up), format_name(block.down),
                        std::string_view()};
  const auto add = [&](const LinearSpec& linear) {
    const Work one = work_of(linear, batch_->rows() * spec.used);
    work += {static_cast<double>(chosen) * one.bytes, one.macs, one.integer_macs};
  };
  add(block.up);
  add(block.down);
  if (block.gate) {
    add(*block.gate);
    formats.back() = format_name(*block.gate);
  }
  profile_.add(Operation::experts, work, std::span(formats).first(block.gate ? 4 : 3));
  return chosen;
}

void ProfiledOps::tap(Buffer from, std::size_t cols, std::size_t first) {
  ops_.tap(from, cols, first);
  profile_.add(Operation::norm);
}

void ProfiledOps::load_features() {
  ops_.load_features();
  profile_.add(Operation::embedding);
}

void ProfiledOps::join(const PairSpec& pair, const EmbedSpec& embed, Buffer state) {
  ops_.join(pair, embed, state);
  profile_.add(Operation::embedding);
}

void ProfiledOps::store_keys(std::size_t layer) {
  ops_.store_keys(layer);
  profile_.add(Operation::attention);
}

void ProfiledOps::convolve(const BlockConvolutionSpec& spec, std::size_t side, Buffer buffer) {
  ops_.convolve(spec, side, buffer);
  profile_.add(Operation::attention);
}

void ProfiledOps::head(const HeadSpec& spec) {
  ops_.head(spec);
  if (batch_->wanted.empty()) return;
  const LinearTarget target{&spec.output, Buffer::stream};
  add_products(Operation::head, {&target, 1}, batch_->wanted.size());
}

Result<HeldLogits> ProfiledOps::finish() {
  return ops_.finish();
}

}  // namespace spectr
