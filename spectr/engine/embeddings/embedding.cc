#include "spectr/engine/embeddings/embedding.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

namespace spectr {
namespace {

/// Returns y = W x + b, computed in double precision, for W [rows, x.size()].
std::vector<float> product(std::span<const float> matrix, std::span<const float> bias,
                           std::span<const float> x) {
  std::vector<float> y(matrix.size() / x.size());
  for (std::size_t r = 0; r < y.size(); ++r) {
    double sum = bias.empty() ? 0.0 : static_cast<double>(bias[r]);
    for (std::size_t j = 0; j < x.size(); ++j)
      sum += static_cast<double>(matrix[r * x.size() + j]) * static_cast<double>(x[j]);
    y[r] = static_cast<float>(sum);
  }
  return y;
}

std::vector<float> scores_of(const ClassifierSpec& classifier, std::span<const float> state) {
  if (classifier.dense.empty()) return product(classifier.output, classifier.output_bias, state);
  std::vector<float> hidden = product(classifier.dense, classifier.dense_bias, state);
  for (float& number : hidden) number = std::tanh(number);
  return product(classifier.output, classifier.output_bias, hidden);
}

std::vector<float> mean_of(std::span<const float> states, std::size_t width) {
  std::vector<double> sums(width);
  for (std::size_t i = 0; i < states.size(); ++i) sums[i % width] += static_cast<double>(states[i]);
  const auto rows = static_cast<double>(states.size() / width);
  std::vector<float> mean(width);
  std::ranges::transform(sums, mean.begin(), [rows](double sum) { return static_cast<float>(sum / rows); });
  return mean;
}

std::unexpected<Error> no_memory(const Transformer& model, std::size_t tokens) {
  return error(ErrorCode::out_of_memory, "{}: there is no memory for an input of {} tokens",
               model.spec().file, tokens);
}

}  // namespace

Result<Pooling> pooling_of(const ModelSpec& spec, const EmbeddingOptions& options) {
  const Pooling usual = spec.bidirectional ? Pooling::mean : Pooling::last;
  const Pooling pooling = options.pooling.value_or(spec.pooling.value_or(usual));
  if (pooling != Pooling::rank || spec.classifier) return pooling;
  return error(ErrorCode::unsupported, "{}: pooling by rank needs a classifier, and the file has none",
               spec.file);
}

void normalize(std::span<float> vector, int norm) {
  if (norm < 0) return;
  double sum = 0.0;
  for (const float number : vector) {
    const double size = std::abs(static_cast<double>(number));
    sum = norm == 0 ? std::max(sum, size) : sum + (norm == 2 ? size * size : std::pow(size, norm));
  }
  const double length = norm == 0 ? sum / 32760.0 : norm == 2 ? std::sqrt(sum) : std::pow(sum, 1.0 / norm);
  if (length == 0.0) return;
  for (float& number : vector) number = static_cast<float>(static_cast<double>(number) / length);
}

Result<std::vector<std::vector<float>>> embed(const Transformer& model, std::span<const Token> tokens,
                                              const EmbeddingOptions& options) {
  SPECTR_TRY(const Pooling pooling, pooling_of(model.spec(), options));
  const std::size_t width = model.spec().width;
  try {
    SPECTR_TRY(const std::vector<float> states, model.embed(tokens));
    const auto row = [&](std::size_t i) { return std::span(states).subspan(i * width, width); };
    std::vector<std::vector<float>> vectors;
    switch (pooling) {
      case Pooling::none:
        for (std::size_t i = 0; i < tokens.size(); ++i) vectors.emplace_back(row(i).begin(), row(i).end());
        return vectors;
      case Pooling::rank:
        vectors.push_back(scores_of(*model.spec().classifier, row(0)));
        return vectors;
      case Pooling::mean:
        vectors.push_back(mean_of(states, width));
        break;
      case Pooling::cls:
      case Pooling::last: {
        const std::span<const float> state = row(pooling == Pooling::cls ? 0 : tokens.size() - 1);
        vectors.emplace_back(state.begin(), state.end());
        break;
      }
    }
    normalize(vectors.front(), options.norm);
    return vectors;
  } catch (const std::bad_alloc&) {
    return no_memory(model, tokens.size());
  }
}

Result<void> check_ranks(const ModelSpec& spec) {
  if (!spec.classifier) {
    return error(ErrorCode::unsupported, "{}: reranking needs a classifier, and the file has none",
                 spec.file);
  }
  const std::size_t scores = spec.classifier->output.size() / spec.width;
  if (scores == 1) return {};
  return error(ErrorCode::unsupported,
               "{}: tensor cls.output.weight has {} rows, but reranking needs a classifier of one score",
               spec.file, scores);
}

Result<float> relevance(const Transformer& model, const TextPair& pair) {
  SPECTR_TRY_VOID(check_ranks(model.spec()));
  try {
    SPECTR_TRY(const std::vector<float> states, model.embed(pair.tokens, pair.second));
    return scores_of(*model.spec().classifier, std::span(states).first(model.spec().width)).front();
  } catch (const std::bad_alloc&) {
    return no_memory(model, pair.tokens.size());
  }
}

TextPair join(const Tokenizer& tokenizer, std::string_view query, std::string_view document) {
  std::vector<Token> tokens = tokenizer.encode(query, {.add_eos = true});
  const std::size_t second = tokens.size();
  const std::vector<Token> rest = tokenizer.encode(document, {.add_bos = false, .add_eos = true});
  tokens.insert(tokens.end(), rest.begin(), rest.end());
  return {std::move(tokens), second};
}

}  // namespace spectr
