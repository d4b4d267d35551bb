#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "spectr/nn/transformer.h"
#include "tests/card/card.h"
#include "tests/card/random_llama.h"

namespace spectr::card {

/// Returns the formats of the random models, the most important first.
std::vector<LlamaFormats> llama_formats();
/// Returns the shape of the random target: 1.1 billion weights, or a tiny one in a dry run.
LlamaShape target_shape(const Extent& extent);
/// Returns the target's shape with one layer.
LlamaShape draft_shape(const Extent& extent);

/// Loads a random model, whose file is written first if it is absent. Throws errors.
std::unique_ptr<Transformer> load_random(const std::shared_ptr<Device>& device, const Extent& extent,
                                         const LlamaShape& shape, const LlamaFormats& formats);

/// A sequence that is computed, after which passes are timed.
class TimedSession {
 public:
  /// Computes a sequence of `depth` tokens. Throws errors.
  TimedSession(const Transformer& model, std::size_t depth, std::size_t widest);

  /// Returns the median seconds of passes of `width` rows, of which the first are not counted. `ask` is
  /// called within the time of each pass.
  double median(
      std::size_t width, std::size_t passes,
      const std::function<void(const Session&)>& ask = [](const Session&) {});

 private:
  std::unique_ptr<Session> session_;
  std::vector<Token> text_;
};

}  // namespace spectr::card
