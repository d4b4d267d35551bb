// The end of a pass: the model's head.
#include "spectr/backend/device/device_ops.h"

namespace spectr {

void DeviceOps::head(const HeadSpec& spec) {
  if (shape_.wanted == 0) return;
  const std::size_t cols = spec.output.out;
  const call::Rows logits = logits_[shape_.logits].logit_rows(), normed = view(Buffer::normed);
  const bool shortens = !spec.shortlist.empty();
  const call::Rows y = shortens ? call::Rows{{shortlist_.get()}, cols} : logits;
  norm(*spec.norm, Buffer::stream, Buffer::normed);
  if (records_) {
    call::Norm& of_wanted = std::get<call::Norm>(calls_.back());
    of_wanted.picked = data_.wanted();
    of_wanted.rows = shape_.wanted;
  }
  product(spec.output, normed, y, shape_.wanted);
  if (spec.output.bias) record(call::Add{y, {weights_.vector(*spec.output.bias)}, shape_.wanted, cols});
  if (spec.scale != 1.0f) record(call::Scale{y, shape_.wanted, cols, spec.scale});
  if (spec.cap > 0.0f) record(call::Cap{y, shape_.wanted, cols, spec.cap});
  if (shortens) spread(spec, y, logits);
  if (const Slice forbids = weights_.forbids())
    record(call::Add{logits, {forbids}, shape_.wanted, spec_.vocabulary});
}

/// Expands shortlist logits to the vocabulary, and computes those of sequences' extra tokens.
void DeviceOps::spread(const HeadSpec& spec, const call::Rows& shortlist, const call::Rows& out) {
  record(call::Spread{shortlist, out, weights_.columns(), shape_.wanted, spec_.vocabulary});
  record(call::ExtraTokenLogits{.x = view(Buffer::normed),
                                .out = out,
                                .rows = shape_.wanted,
                                .words = data_.words(),
                                .count = shape_.words,
                                .weights = data_.extra_head_rows(),
                                .cols = spec.output.in,
                                .scale = spec.scale,
                                .cap = spec.cap});
}

}  // namespace spectr
