#include "spectr/nn/drafters/drafter_reader.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "spectr/gguf/tensor_type.h"

namespace spectr {
namespace {

constexpr std::size_t max_taps = 64;

/// Fails if the drafter's width differs from that of the target, whose matrix it needs.
Result<void> fits(ArchReader& in, std::string_view tensor, const ModelSpec& target) {
  const ModelSpec& spec = in.spec();
  if (spec.width == target.width) return {};
  return error("{}: tensor {} is missing: {} is {}, but the target {} has {}", spec.file, tensor,
               in.key("embedding_length"), spec.width, target.file, target.width);
}

/// Reads d2t: the target's token of each row of the drafter's head.
Result<std::vector<Token>> head_tokens(ArchReader& in, std::size_t rows) {
  constexpr std::string_view name = "d2t";
  const ModelSpec& spec = in.spec();
  const GgufTensor& tensor = *in.file().tensor(name);
  in.leave_out_tensor(name);
  if (tensor.type != static_cast<std::uint32_t>(TensorType::i64) || tensor.rows() != 1 ||
      tensor.cols() != rows) {
    return error("{}: tensor {} has {} numbers of type {}, expected {} of type I64", spec.file, name,
                 tensor.rows() * tensor.cols(), tensor.type, rows);
  }
  std::vector<Token> tokens;
  std::vector<bool> seen(spec.vocabulary);
  for (std::size_t row = 0; row < rows; ++row) {
    std::int64_t token = 0;
    std::memcpy(&token, tensor.bytes.data() + row * sizeof token, sizeof token);
    if (token < 0 || std::cmp_greater_equal(token, spec.vocabulary)) {
      return error("{}: tensor {} is {} in row {}, outside the target's vocabulary of {}", spec.file, name,
                   token, row, spec.vocabulary);
    }
    if (seen[static_cast<std::size_t>(token)]) {
      return error("{}: tensor {} is {} in row {}, which an earlier row has, too", spec.file, name, token,
                   row);
    }
    seen[static_cast<std::size_t>(token)] = true;
    tokens.push_back(static_cast<Token>(token));
  }
  return tokens;
}

}  // namespace

WeightId weight_of_target(ModelSpec& spec, const ModelSpec& target, WeightId id) {
  WeightSpec weight = target.weight(id);
  weight.of_target = true;
  spec.weights.push_back(std::move(weight));
  return static_cast<WeightId>(spec.weights.size() - 1);
}

Result<std::vector<TapSpec>> target_taps(const Gguf& file, std::string_view architecture) {
  const std::string key = std::string(architecture) + ".target_layers";
  SPECTR_TRY(const auto layers, file.integers(key));
  if (layers.empty()) return error("{}: {} is missing", file.name(), key);
  if (layers.size() > max_taps)
    return error("{}: {} has {} values, at most {} are supported", file.name(), key, layers.size(), max_taps);
  std::vector<TapSpec> taps;
  for (const std::int64_t layer : layers) {
    if (layer < 0) return error("{}: {} has {}, but must have no negative values", file.name(), key, layer);
    taps.push_back({static_cast<std::size_t>(layer)});
  }
  return taps;
}

Result<void> check_taps(ArchReader& in, const std::vector<TapSpec>& taps, const ModelSpec& target) {
  in.ignore({"target_layers"});
  for (const TapSpec& tap : taps) {
    if (tap.layer <= target.layers.size()) continue;
    return error("{}: {} has {}, but the target {} has {} layers", in.file().name(), in.key("target_layers"),
                 tap.layer, target.file, target.layers.size());
  }
  return {};
}

Result<void> same_as_target(ArchReader& in, std::string_view name, std::size_t of_target,
                            std::string_view what, const ModelSpec& target) {
  if (!in.has(name)) return {};
  SPECTR_TRY(const std::size_t own, in.count(name, std::uint64_t{1} << 32));
  if (own == of_target) return {};
  return error("{}: {} is {}, but {} of the target {} is {}", in.file().name(), in.key(name), own, what,
               target.file, of_target);
}

Result<void> drafter_embedding(ArchReader& in, const ModelSpec& target) {
  constexpr std::string_view name = "token_embd.weight";
  ModelSpec& spec = in.spec();
  if (in.has_tensor(name)) {
    SPECTR_TRY(spec.embed.tokens, in.matrix(name, spec.vocabulary, spec.width));
    return {};
  }
  SPECTR_TRY_VOID(fits(in, name, target));
  spec.embed.tokens = weight_of_target(spec, target, target.embed.tokens);
  return {};
}

Result<void> drafter_head(ArchReader& in, const ModelSpec& target, bool may_be_tied) {
  constexpr std::string_view name = "output.weight";
  ModelSpec& spec = in.spec();
  const bool has_map = in.has_tensor("d2t");
  if (const GgufTensor* own = in.file().tensor(name)) {
    const std::size_t rows = has_map ? own->rows() : spec.vocabulary;
    SPECTR_TRY(spec.head.output, in.linear("output", rows, spec.width, ArchReader::Bias::optional));
    if (has_map) {
      SPECTR_TRY(spec.head.shortlist, head_tokens(in, rows));
    }
    return {};
  }
  if (has_map) return error("{}: tensor {} is missing, whose rows d2t names", spec.file, name);
  if (may_be_tied && in.has_tensor("token_embd.weight")) {
    spec.head.output = {spec.embed.tokens, {}, spec.vocabulary, spec.width};
    return {};
  }
  SPECTR_TRY_VOID(fits(in, name, target));
  const LinearSpec& shared = target.head.output;
  spec.head.output = {weight_of_target(spec, target, shared.weight), {}, shared.out, shared.in};
  return {};
}

Result<void> read_scale(ArchReader& in, const std::string& prefix, LinearSpec& linear) {
  SPECTR_TRY(const auto scale, in.numbers(prefix + ".scale", 1));
  if (scale.empty()) return {};
  if (linear.bias) {
    return error(ErrorCode::unsupported,
                 "{}: tensors {}.scale and {}.bias are there, of which one is supported", in.file().name(),
                 prefix, prefix);
  }
  linear.scale = scale.front();
  return {};
}

Result<LinearSpec> feature_projection(ArchReader& in, std::size_t taps, const ModelSpec& target) {
  return in.linear("fc", in.spec().width, taps * target.width, ArchReader::Bias::optional);
}

}  // namespace spectr
