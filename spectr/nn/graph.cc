#include "spectr/nn/graph.h"

#include <array>

#include "spectr/base/check.h"

namespace spectr {
namespace {

/// The walk through one model's layers. A block reads the stream through its norm; where a norm follows an
/// addition, both are one operation.
class Walk {
 public:
  Walk(const ModelSpec& spec, Ops& ops) : spec_(spec), ops_(ops) {}

  void layers() {
    prepare(spec_.layers.front().attention_norm);
    for (std::size_t i = 0; i < spec_.layers.size(); ++i) {
      const LayerSpec& layer = spec_.layers[i];
      attention(layer, i);
      if (layer.parallel) {
        // Both blocks read the same stream: it is normalized before the first one's output is added.
        // Without a norm of its own the second reads what the first has read.
        SPECTR_CHECK(input_ == Buffer::normed);
        if (layer.ffn_norm) prepare(layer.ffn_norm);
        ops_.add();
      } else {
        add_and_prepare(layer.ffn_norm);
      }
      feed_forward(layer);
      if (i + 1 < spec_.layers.size()) {
        add_and_prepare(spec_.layers[i + 1].attention_norm);
      } else {
        ops_.add();
      }
    }
  }

 private:
  /// From here on blocks read the stream through this norm, or as it is.
  void prepare(const std::optional<NormSpec>& norm) {
    if (norm) ops_.norm(*norm, Buffer::stream, Buffer::normed);
    input_ = norm ? Buffer::normed : Buffer::stream;
  }

  void add_and_prepare(const std::optional<NormSpec>& norm) {
    if (norm) {
      ops_.add_norm(*norm);
    } else {
      ops_.add();
    }
    input_ = norm ? Buffer::normed : Buffer::stream;
  }

  void attention(const LayerSpec& layer, std::size_t index) {
    const AttentionSpec& a = layer.attention;
    const std::array inputs = {LinearTarget{&a.q, Buffer::query}, LinearTarget{&a.k, Buffer::key},
                               LinearTarget{&a.v, Buffer::value}};
    ops_.linear(LinearRole::query_key_value, inputs, input_);
    ops_.attention(index);
    const LinearTarget output{&a.out, Buffer::branch};
    ops_.linear(LinearRole::attention_output, {&output, 1}, Buffer::attended);
    finish_branch(layer.attention_post_norm, layer.residual_scale);
  }

  void feed_forward(const LayerSpec& layer) {
    if (layer.experts) {
      ops_.experts(*layer.experts, input_);
      return finish_branch(layer.ffn_post_norm, layer.residual_scale);
    }
    const DenseSpec& ffn = *layer.ffn;
    const std::array both = {LinearTarget{ffn.gate ? &*ffn.gate : nullptr, Buffer::gate},
                             LinearTarget{&ffn.up, Buffer::up}};
    ops_.linear(LinearRole::gate_up, ffn.gate ? std::span(both) : std::span(both).last(1), input_);
    ops_.activate(ffn);
    const LinearTarget down{&ffn.down, Buffer::branch};
    ops_.linear(LinearRole::down, {&down, 1}, ffn.gate ? Buffer::gate : Buffer::up);
    finish_branch(layer.ffn_post_norm, layer.residual_scale);
  }

  /// What is done to a block's output before it is added.
  void finish_branch(const std::optional<NormSpec>& norm, float scale) {
    if (norm) ops_.norm(*norm, Buffer::branch, Buffer::branch);
    if (scale != 1.0f) ops_.scale(Buffer::branch, scale);
  }

  const ModelSpec& spec_;
  Ops& ops_;
  Buffer input_ = Buffer::stream;
};

}  // namespace

Result<HeldLogits> run_pass(const ModelSpec& spec, const PassBatch& batch, Ops& ops) {
  ops.begin(batch);
  ops.embed(spec.embed);
  Walk(spec, ops).layers();
  ops.head(spec.head);
  return ops.finish();
}

}  // namespace spectr
