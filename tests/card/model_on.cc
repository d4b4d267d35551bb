// Random models on a device, and the times of their passes.
#include "tests/card/model_on.h"

#include <fmt/format.h>

#include <algorithm>

#include "spectr/backend/device/device_backend.h"
#include "spectr/base/stopwatch.h"
#include "spectr/lm/flat_tree.h"
#include "tests/support/value_of.h"

namespace spectr::card {

std::vector<LlamaFormats> llama_formats() {
  using enum TensorType;
  return {{"Q8_0", q8_0, q8_0, q8_0},
          {"Q4_K_M", q4_k, q6_k, q6_k},
          {"Q4_0", q4_0, q4_0, q4_0},
          {"F16", f16, f16, f16}};
}

LlamaShape target_shape(const Extent& extent) {
  if (!extent.dry) return {};
  return {
      .width = 256, .layers = 2, .heads = 4, .kv_heads = 2, .ffn = 256, .vocabulary = 512, .context = 1024};
}

LlamaShape draft_shape(const Extent& extent) {
  LlamaShape shape = target_shape(extent);
  shape.layers = 1;
  return shape;
}

std::unique_ptr<Transformer> load_random(const std::shared_ptr<Device>& device, const Extent& extent,
                                         const LlamaShape& shape, const LlamaFormats& formats) {
  const std::filesystem::path file =
      extent.folder / fmt::format("random-{}-{}x{}.gguf", formats.name, shape.width, shape.layers);
  if (!std::filesystem::exists(file)) {
    const std::filesystem::path part = file.string() + ".part";
    write_random_llama(part, shape, formats);
    std::filesystem::rename(part, file);
  }
  return test::value_of(Transformer::load(test::value_of(Gguf::open(file)),
                                          std::make_shared<DeviceBackend>(device, extent.pool)));
}

TimedSession::TimedSession(const Transformer& model, std::size_t depth, std::size_t widest)
    : session_(test::value_of(model.start(depth + 2, widest))) {
  for (std::size_t i = 0; i <= depth; ++i)
    text_.push_back(static_cast<Token>(i * 2654435761u % model.vocabulary()));
  test::value_of(session_->score(text_, TokenTree(text_.back())));
}

double TimedSession::median(std::size_t width, std::size_t passes,
                            const std::function<void(const Session&)>& ask) {
  constexpr std::size_t warm_up = 2;  // plans are tried and passes recorded
  const TokenTree tree = flat_tree(width);
  std::vector<double> seconds;
  text_.back() = tree.token(TokenTree::root);
  for (std::size_t i = 0; i < warm_up + passes; ++i) {
    session_->rewind(text_.size() - 1);  // the last token is the root of the tree
    Stopwatch watch;
    test::value_of(session_->score(text_, tree));
    ask(*session_);
    if (i >= warm_up) seconds.push_back(watch.lap());
  }
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

}  // namespace spectr::card
