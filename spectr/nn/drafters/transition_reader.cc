#include "spectr/nn/drafters/transition_reader.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/gguf/stored_format.h"
#include "spectr/nn/weights.h"

namespace spectr {
namespace {

constexpr std::string_view hidden_name = "selector_hidden.weight", w1_name = "markov_w1.weight",
                           w2_name = "markov_w2.weight", w2_scale = "markov_w2.scale",
                           confidence_name = "conf_proj.weight", confidence_bias = "conf_proj.bias";
constexpr std::uint64_t max_selector_rank = 1 << 14;

/// Returns a matrix [rows, cols] that the host reads row by row.
Result<const GgufTensor*> host_matrix(ArchReader& in, std::string_view name, std::size_t rows,
                                      std::size_t cols) {
  const GgufTensor* tensor = in.file().tensor(name);
  if (tensor == nullptr) return error("{}: tensor {} is missing", in.file().name(), name);
  in.leave_out_tensor(name);
  if (!tensor_format(tensor->type)) {
    return error(ErrorCode::unsupported, "{}: tensor {} is {}; supported are {}", in.file().name(), name,
                 stored_format(tensor->type)->name, supported_formats());
  }
  if (tensor->rows() != rows || tensor->cols() != cols) {
    return error("{}: tensor {} is {} × {}, expected {} × {}", in.file().name(), name, tensor->rows(),
                 tensor->cols(), rows, cols);
  }
  return tensor;
}

/// Returns w2 w1[token] as a model without layers.
Result<ModelSpec> markov_model(ArchReader& in, std::size_t rows) {
  const ModelSpec& spec = in.spec();
  const std::size_t rank = in.file().tensor(w1_name)->cols();
  SPECTR_TRY(const GgufTensor* w1, host_matrix(in, w1_name, spec.vocabulary, rank));
  SPECTR_TRY(const GgufTensor* w2, host_matrix(in, w2_name, rows, rank));
  ModelSpec model{};
  model.file = spec.file;
  model.name = spec.name;
  model.architecture = spec.architecture;
  model.vocabulary = spec.vocabulary;
  model.width = rank;
  model.weights = {{std::string(w1_name), static_cast<TensorType>(w1->type), spec.vocabulary, rank},
                   {std::string(w2_name), static_cast<TensorType>(w2->type), rows, rank}};
  model.embed.tokens = 0;
  model.head.output = {1, {}, rows, rank};
  SPECTR_TRY(const auto scale, in.numbers(w2_scale, 1));
  if (!scale.empty()) model.head.scale = scale.front();
  model.requirements.push_back({Feature::head_without_norm, fmt::format("tensor {} is there", w2_name)});
  return model;
}

Result<ConfidenceSpec> confidence(ArchReader& in, std::size_t rank) {
  ConfidenceSpec spec{{}, 0.0F};
  SPECTR_TRY(spec.weight, in.numbers(confidence_name, in.spec().width + rank));
  SPECTR_TRY(const auto bias, in.numbers(confidence_bias, 1));
  if (!bias.empty()) spec.bias = bias.front();
  return spec;
}

Result<SelectorSpec> selector(ArchReader& in, const TransitionKeys& keys) {
  const ModelSpec& spec = in.spec();
  SelectorSpec selector{
      keys.rank, keys.candidates, "selector_predecessor.weight", "selector_successor.weight", {}};
  for (const std::string& name : {selector.predecessor, selector.successor})
    SPECTR_TRY_VOID(host_matrix(in, name, spec.vocabulary, keys.rank));
  SPECTR_TRY(const GgufTensor* hidden, host_matrix(in, hidden_name, keys.rank, spec.width));
  selector.hidden.resize(keys.rank * spec.width);
  for (std::size_t row = 0; row < keys.rank; ++row)
    read_numbers(*hidden, row, std::span(selector.hidden).subspan(row * spec.width, spec.width));
  return selector;
}

}  // namespace

bool has_selector(const ArchReader& in) {
  return in.has_tensor(hidden_name);
}

Result<TransitionKeys> transition_keys(ArchReader& in) {
  TransitionKeys keys{};
  if (in.has("sample_from_anchor")) {
    SPECTR_TRY(keys.from_anchor, in.boolean("sample_from_anchor", true));
  }
  SPECTR_TRY(keys.has_confidence, in.boolean("has_confidence_head", in.has_tensor(confidence_name)));
  if (has_selector(in)) {
    SPECTR_TRY(keys.rank, in.count("selector_rank", max_selector_rank));
    SPECTR_TRY(keys.candidates, in.count("selector_top_k", in.spec().vocabulary));
  }
  return keys;
}

Result<void> read_transitions(ArchReader& in, const TransitionKeys& keys, std::size_t rows,
                              BlockSpec& block) {
  if (in.has_tensor(w1_name)) {
    SPECTR_TRY(block.markov, markov_model(in, rows));
  }
  block.first_row = keys.from_anchor.value_or(block.markov.has_value()) ? 0 : 1;
  if (keys.has_confidence) {
    if (!block.markov || !in.has_tensor(confidence_name)) {
      return error("{}: {} is true, but tensor {} is missing", in.file().name(),
                   in.key("has_confidence_head"), block.markov ? confidence_name : w1_name);
    }
    SPECTR_TRY(block.confidence, confidence(in, block.markov->width));
  }
  if (keys.candidates > 0) {
    if (block.markov) {
      return error("{}: tensors {} and {} are there, of which a drafter has one", in.file().name(), w1_name,
                   hidden_name);
    }
    SPECTR_TRY(block.selector, selector(in, keys));
  }
  return {};
}

}  // namespace spectr
