#include "spectr/model/transformer.h"

#include <utility>

#include "spectr/model/transformer_session.h"
#include "spectr/model/weights.h"

namespace spectr {

Transformer::Transformer(Gguf file, ModelConfig config, std::unique_ptr<Weights> weights, ThreadPool& pool)
    : file_(std::move(file)), config_(std::move(config)), weights_(std::move(weights)), pool_(pool) {}

Transformer::~Transformer() = default;

Result<std::unique_ptr<Transformer>> Transformer::load(Gguf file, ThreadPool& pool) {
  SPECTR_TRY(ModelConfig config, ModelConfig::load(file));
  SPECTR_TRY(Weights weights, Weights::load(file, config, pool));
  return std::unique_ptr<Transformer>(new Transformer(std::move(file), std::move(config),
                                                      std::make_unique<Weights>(std::move(weights)), pool));
}

std::size_t Transformer::weight_bytes() const {
  std::size_t bytes = weights_->head().bytes();
  for (const LayerWeights& layer : weights_->layers) {
    for (const Linear* linear :
         {&layer.q, &layer.k, &layer.v, &layer.attention_output, &layer.up, &layer.down}) {
      bytes += linear->weight.bytes();
    }
    if (layer.gate) bytes += layer.gate->weight.bytes();
  }
  return bytes;
}

Result<std::unique_ptr<Session>> Transformer::start(std::size_t context, std::size_t nodes) const {
  if (context == 0) context = config_.context;
  if (context > config_.context) {
    return error("{}: the context of {} tokens exceeds the model's {}", config_.name, context,
                 config_.context);
  }
  return std::make_unique<TransformerSession>(*this, context, nodes);
}

}  // namespace spectr
