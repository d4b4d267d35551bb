#include "spectr/model/transformer.h"

#include <new>
#include <utility>

#include "spectr/model/transformer_session.h"
#include "spectr/model/weights.h"

namespace spectr {
Transformer::Transformer(Gguf file, ModelConfig config, std::unique_ptr<Weights> weights, ThreadPool& pool)
    : file_(std::move(file)), config_(std::move(config)), weights_(std::move(weights)), pool_(pool) {}

Transformer::~Transformer() = default;

Result<std::unique_ptr<Transformer>> Transformer::load(Gguf file, ThreadPool& pool) {
  SPECTR_TRY(ModelConfig config, ModelConfig::load(file));
  try {
    SPECTR_TRY(Weights weights, Weights::load(file, config, pool));
    auto own_weights = std::make_unique<Weights>(std::move(weights));
    return std::unique_ptr<Transformer>(
        new Transformer(std::move(file), std::move(config), std::move(own_weights), pool));
  } catch (const std::bad_alloc&) {
    return error("{}: there is no memory for the weights, which take {} bytes in the file", file.name(),
                 file.tensor_bytes());
  }
}

std::size_t Transformer::weight_bytes() const {
  std::size_t bytes = 0;
  weights_->for_each_matrix([&bytes](const Matrix& w) { bytes += w.bytes(); });
  return bytes;
}

std::size_t Transformer::products_per_token() const {
  std::size_t products = 0;
  weights_->for_each_matrix([&products](const Matrix& w) { products += w.rows() * w.cols(); });
  return products;
}

Result<std::unique_ptr<Session>> Transformer::start(std::size_t context, std::size_t nodes,
                                                    PassProfile* profile) const {
  if (context == 0) context = config_.context;
  if (context > config_.context) {
    return error("{}: the context of {} tokens exceeds the model's {}", config_.file, context,
                 config_.context);
  }
  try {
    return std::make_unique<TransformerSession>(*this, context, nodes, profile);
  } catch (const std::bad_alloc&) {
    return error(
        "{}: there is no memory for a text of {} tokens, whose keys and values take {} bytes (context_length "
        "is {}); give a smaller context",
        config_.file, context, TransformerText::cache_bytes(*this, context, nodes), config_.context);
  }
}

}  // namespace spectr
