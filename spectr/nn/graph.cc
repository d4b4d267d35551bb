#include "spectr/nn/graph.h"

#include <array>
#include <span>

#include "spectr/base/check.h"

namespace spectr {
namespace {

/// Walks through one model's layers. A block reads the stream through its norm; a norm that follows an
/// addition is fused with it.
class Walk {
 public:
  Walk(const ModelSpec& spec, Ops& ops) : spec_(spec), ops_(ops) {}

  void layers() {
    if (spec_.layers.empty()) return;
    if (spec_.embed.by_layer) {
      const LinearTarget all{&spec_.embed.by_layer->projection, Buffer::layer_inputs};
      ops_.linear(LinearRole::layer_inputs, {&all, 1}, Buffer::stream);
      ops_.layer_inputs(*spec_.embed.by_layer);
    }
    if (spec_.pair && !spec_.pair->projection) {
      input_ = Buffer::pair;
    } else {
      prepare(spec_.layers.front(), spec_.layers.front().mixer_norm);
    }
    for (std::size_t i = 0; i < spec_.layers.size(); ++i) {
      const LayerSpec& layer = spec_.layers[i];
      tap(i);
      mix(layer, i);
      if (layer.parallel) {
        // Both blocks read the same stream: it is normalized before the first one's output is added.
        // Without a norm of its own the second reads what the first has read.
        SPECTR_CHECK(input_ == Buffer::normed);
        if (layer.ffn_norm) prepare(layer, layer.ffn_norm);
        ops_.add(Buffer::stream, Buffer::branch);
      } else {
        add_and_prepare(layer, layer.ffn_norm);
      }
      feed_forward(layer);
      const bool ends_here = !layer.input && layer.output_scale == 1.0F;
      if (ends_here && i + 1 < spec_.layers.size()) {
        add_and_prepare(spec_.layers[i + 1], spec_.layers[i + 1].mixer_norm);
        continue;
      }
      ops_.add(Buffer::stream, Buffer::branch);
      if (layer.input) add_input(*layer.input, i);
      if (layer.output_scale != 1.0F) ops_.scale(Buffer::stream, layer.output_scale);
      if (i + 1 < spec_.layers.size()) prepare(spec_.layers[i + 1], spec_.layers[i + 1].mixer_norm);
    }
    tap(spec_.layers.size());
  }

  /// Computes the stream of a drafter's rows from tokens and states.
  void pair(bool fuses) {
    if (fuses) {
      fuse();
    } else {
      ops_.load_features();
    }
    ops_.join(*spec_.pair, spec_.embed, fuses ? Buffer::stream : Buffer::features);
    if (spec_.pair->projection)
      linear(LinearRole::drafter_input, *spec_.pair->projection, Buffer::pair, Buffer::stream);
  }

  /// Computes the keys and values of a drafter's context from features of the target.
  void context() {
    fuse();
    for (std::size_t i = 0; i < spec_.layers.size(); ++i) {
      const AttentionSpec& a = *spec_.layers[i].attention();
      const std::array both = {LinearTarget{&a.k, Buffer::key}, LinearTarget{&a.v, Buffer::value}};
      linear(LinearRole::query_key_value, both, Buffer::stream);
      ops_.store_keys(i);
    }
    ops_.tap(Buffer::stream, spec_.width, 0);
  }

 private:
  /// stream = the rows' states, from features of the target.
  void fuse() {
    ops_.load_features();
    const FusionSpec& fusion = *spec_.fusion;
    if (fusion.norm_before) ops_.norm(*fusion.norm_before, Buffer::features, Buffer::features);
    linear(LinearRole::drafter_input, fusion.linear, Buffer::features, Buffer::stream);
    if (fusion.norm_after) ops_.norm(*fusion.norm_after, Buffer::stream, Buffer::stream);
  }

  /// Outputs the stream at the model's taps: as the input of layer `layer`, or after the last layer.
  void tap(std::size_t layer) {
    for (std::size_t i = 0; i < spec_.taps.size(); ++i) {
      const TapSpec& one = spec_.taps[i];
      if (one.layer != layer) continue;
      if (one.normed) ops_.norm(*spec_.head.norm, Buffer::stream, Buffer::normed);
      const Buffer state = one.normed ? Buffer::normed : Buffer::stream;
      if (spec_.pair && spec_.pair->next_state) {
        linear(LinearRole::drafter_input, *spec_.pair->next_state, state, Buffer::features);
        ops_.tap(Buffer::features, spec_.pair->next_state->out, 0);
      } else {
        ops_.tap(state, spec_.width, i * spec_.width);
      }
    }
  }

  /// Sets the input of the following blocks: the stream through this norm, or the stream itself.
  void prepare(const LayerSpec& layer, const std::optional<NormSpec>& norm) {
    input_ = norm && !layer.norms_stream ? Buffer::normed : Buffer::stream;
    if (norm) ops_.norm(*norm, Buffer::stream, input_);
  }

  void add_and_prepare(const LayerSpec& layer, const std::optional<NormSpec>& norm) {
    if (norm && !layer.norms_stream) {
      ops_.add_norm(*norm);
      input_ = Buffer::normed;
    } else {
      ops_.add(Buffer::stream, Buffer::branch);
      prepare(layer, norm);
    }
  }

  void linear(LinearRole role, const LinearSpec& one, Buffer in, Buffer out) {
    const LinearTarget target{&one, out};
    linear(role, {&target, 1}, in);
  }

  void linear(LinearRole role, std::span<const LinearTarget> targets, Buffer in) {
    ops_.linear(role, targets, in);
    for (const auto& [one, out] : targets)
      if (one->scale != 1.0F) ops_.scale(out, one->scale);
  }

  /// Computes a convolution's factors from the block's input and applies its first side to that input.
  void convolve_input(const std::optional<BlockConvolutionSpec>& convolution) {
    if (!convolution) return;
    linear(LinearRole::drafter_input, convolution->factors, input_, Buffer::factors);
    ops_.convolve(*convolution, 0, input_);
  }
  void convolve_output(const std::optional<BlockConvolutionSpec>& convolution) {
    if (convolution) ops_.convolve(*convolution, 1, Buffer::branch);
  }

  void mix(const LayerSpec& layer, std::size_t index) {
    convolve_input(layer.mixer_convolution);
    if (const AttentionSpec* attention = layer.attention()) {
      attend(*attention, index);
    } else if (const DeltaNetSpec* delta = layer.delta_net()) {
      const std::array inputs = {
          LinearTarget{&delta->qkv, Buffer::query}, LinearTarget{&delta->beta, Buffer::key},
          LinearTarget{&delta->alpha, Buffer::value}, LinearTarget{&delta->z, Buffer::gate}};
      ops_.linear(LinearRole::query_key_value, inputs, input_);
      ops_.delta_net(index);
      linear(LinearRole::attention_output, delta->out, Buffer::attended, Buffer::branch);
    } else {
      const ShortConvolutionSpec& convolution = *layer.short_convolution();
      linear(LinearRole::query_key_value, convolution.in, input_, Buffer::query);
      ops_.short_convolution(index);
      linear(LinearRole::attention_output, convolution.out, Buffer::attended, Buffer::branch);
    }
    convolve_output(layer.mixer_convolution);
    finish_branch(layer.mixer_post_norm, layer.residual_scale);
  }

  void attend(const AttentionSpec& a, std::size_t index) {
    std::array<LinearTarget, 4> inputs;
    std::size_t count = 0;
    const auto add = [&](const LinearSpec& linear, Buffer out) { inputs[count++] = {&linear, out}; };
    if (a.latent) {
      if (a.latent->q_down) {
        add(*a.latent->q_down, Buffer::gate);
      } else {
        add(a.q, Buffer::up);
      }
    } else {
      add(a.q, Buffer::query);
    }
    if (!a.kv_from) add(a.k, Buffer::key);
    if (!a.kv_from && !a.latent) add(a.v, Buffer::value);
    if (a.gate) add(*a.gate, Buffer::gate);
    linear(LinearRole::query_key_value, std::span(inputs).first(count), input_);
    if (a.latent) {
      if (a.latent->q_down) {
        ops_.norm(*a.latent->q_norm, Buffer::gate, Buffer::gate);
        linear(LinearRole::query_key_value, a.q, Buffer::gate, Buffer::up);
      }
      ops_.latent_queries(index);
    }
    ops_.attention(index);
    if (a.latent) ops_.latent_values(index);
    if (a.gate) ops_.gate(Buffer::attended, a.gate->out, a.gate->out);
    linear(LinearRole::attention_output, a.out, a.latent ? Buffer::up : Buffer::attended, Buffer::branch);
    if (a.output_scale != 1.0F) ops_.scale(Buffer::branch, a.output_scale);
  }

  void feed_forward(const LayerSpec& layer) {
    if (!layer.experts) {
      convolve_input(layer.ffn_convolution);
      dense(*layer.ffn, Buffer::branch);
      convolve_output(layer.ffn_convolution);
      return finish_branch(layer.ffn_post_norm, layer.residual_scale);
    }
    if (layer.ffn) {
      dense(*layer.ffn, Buffer::beside);
      if (layer.ffn_gate) {
        linear(LinearRole::gate_up, *layer.ffn_gate, input_, Buffer::gate);
        ops_.gate(Buffer::beside, layer.ffn->down.out, 1);
      }
      if (layer.dense_post_norm) ops_.norm(*layer.dense_post_norm, Buffer::beside, Buffer::beside);
    }
    if (layer.experts_norm) prepare(layer, layer.experts_norm);
    ops_.experts(*layer.experts, input_);
    if (layer.experts_post_norm) ops_.norm(*layer.experts_post_norm, Buffer::branch, Buffer::branch);
    if (layer.ffn) ops_.add(Buffer::branch, Buffer::beside);
    finish_branch(layer.ffn_post_norm, layer.residual_scale);
  }

  void dense(const DenseSpec& ffn, Buffer out) {
    const std::array both = {LinearTarget{ffn.gate ? &*ffn.gate : nullptr, Buffer::gate},
                             LinearTarget{&ffn.up, Buffer::up}};
    linear(LinearRole::gate_up, ffn.gate ? std::span(both) : std::span(both).last(1), input_);
    ops_.activate(ffn);
    linear(LinearRole::down, ffn.down, ffn.gate ? Buffer::gate : Buffer::up, out);
  }

  void add_input(const LayerInputSpec& input, std::size_t index) {
    linear(LinearRole::layer_inputs, input.gate, Buffer::stream, Buffer::gate);
    ops_.layer_input(index);
    linear(LinearRole::layer_inputs, input.out, Buffer::gate, Buffer::branch);
    ops_.norm(input.norm, Buffer::branch, Buffer::branch);
    ops_.add(Buffer::stream, Buffer::branch);
  }

  /// Applies the post-norm and the scale to a block's output.
  void finish_branch(const std::optional<NormSpec>& norm, float scale) {
    if (norm) ops_.norm(*norm, Buffer::branch, Buffer::branch);
    if (scale != 1.0F) ops_.scale(Buffer::branch, scale);
  }

  const ModelSpec& spec_;
  Ops& ops_;
  Buffer input_ = Buffer::stream;
};

}  // namespace

Result<HeldLogits> run_pass(const ModelSpec& spec, const PassBatch& batch, Ops& ops) {
  ops.begin(batch);
  Walk walk(spec, ops);
  if (spec.pair) {
    walk.pair(batch.fuses);
  } else {
    ops.embed(spec.embed);
  }
  walk.layers();
  ops.head(spec.head);
  return ops.finish();
}

Result<HeldLogits> run_context_pass(const ModelSpec& spec, const PassBatch& batch, Ops& ops) {
  ops.begin(batch);
  Walk(spec, ops).context();
  return ops.finish();
}

}  // namespace spectr
