#include "spectr/model/model_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "spectr/base/find_named.h"
#include "spectr/base/quote.h"
#include "spectr/model/hyperparameters.h"
#include "spectr/model/split_file.h"

namespace spectr {
namespace {

constexpr std::array families = {
    Family{.architecture = Architecture::llama, .name = "llama", .rope_interleaved = true},
    Family{.architecture = Architecture::qwen2, .name = "qwen2", .biases = Biases::of_queries_keys_values},
    Family{.architecture = Architecture::qwen3, .name = "qwen3", .head_norms = true},
    Family{.architecture = Architecture::gpt2,
           .name = "gpt2",
           .rotates = false,
           .layer_norms = true,
           .fused_qkv = true,
           .gated = false,
           .biases = Biases::of_all},
    Family{.architecture = Architecture::gptneox,
           .name = "gptneox",
           .layer_norms = true,
           .fused_qkv = true,
           .gated = false,
           .may_tie = false,
           .biases = Biases::of_all},
};

// Larger than any model of these families, small enough that no product of a few of them overflows.
struct Limits {
  static constexpr std::uint64_t vocabulary = 1 << 24, context = 1 << 24, width = 1 << 18, layers = 512,
                                 heads = 1 << 12, head_dim = 1 << 12, ffn = 1 << 18;
};

Result<Family> family_of(const Gguf& file) {
  SPECTR_TRY(const auto name, file.string("general.architecture"));
  const auto found = std::ranges::find(families, name, &Family::name);
  if (found == families.end()) {
    return error("{}: general.architecture is {}, but {} are supported", file.name(), quote(name),
                 names_of(families, ", "));
  }
  return *found;
}

/// Refuses what would change the computation and is not implemented.
Result<void> refuse_variants(const Gguf& file, const Hyperparameters& keys, const ModelConfig& config) {
  SPECTR_TRY(const auto experts, file.integer(keys.key("expert_count"), 0));
  if (experts > 0) {
    return error("{}: {} is {}: mixtures of experts are not supported", file.name(), keys.key("expert_count"),
                 experts);
  }
  const std::string window_key = keys.key("attention.sliding_window");
  SPECTR_TRY(const auto window, file.integer(window_key, 0));
  if (window > 0 && window < config.context) {
    return error("{}: {} is {}, less than the context of {}: sliding windows are not supported", file.name(),
                 window_key, window, config.context);
  }
  SPECTR_TRY(const bool causal, file.boolean(keys.key("attention.causal"), true));
  if (!causal) {
    return error("{}: {} is false: this model does not generate", file.name(), keys.key("attention.causal"));
  }
  struct Neutral {
    std::string_view name;
    double value;  ///< that leaves the computation as it is
  };
  const Neutral neutrals[] = {{"attention.clamp_kqv", 0},
                              {"attention.max_alibi_bias", 0},
                              {"attention.scale", 1 / std::sqrt(static_cast<double>(config.head_dim))},
                              {"attention.output_scale", 1},
                              {"attention.temperature_scale", 0},
                              {"attn_logit_softcapping", 0},
                              {"final_logit_softcapping", 0},
                              {"embedding_scale", 1},
                              {"residual_scale", 1},
                              {"logit_scale", 1},
                              {"rope.scaling.attn_factor", 1},
                              {"rope.scaling.yarn_attn_factor", 1},
                              {"rope.scaling.yarn_ext_factor", 0},
                              {"rope.scaling.yarn_log_multiplier", 0}};
  for (const auto& [name, neutral] : neutrals) {
    SPECTR_TRY(const double value, file.real(keys.key(name), neutral));
    const double rounding = 1e-6 * neutral;  // of floats
    if (!(std::abs(value - neutral) <= rounding)) {
      return error("{}: {} is {}, which is not supported", file.name(), keys.key(name), value);
    }
  }
  return {};
}

/// The rows of token_embd.weight: one for each token, so that every id that the model gives has a text.
Result<std::size_t> vocabulary_size(const Gguf& file, std::size_t width) {
  constexpr std::string_view name = "token_embd.weight";
  const GgufTensor* tensor = file.tensor(name);
  if (file.tensors().empty()) return error("{}: there are no tensors, a vocabulary at most", file.name());
  if (!tensor) return error("{}: tensor {} is missing", file.name(), name);
  if (tensor->cols() != width || tensor->rows() != tensor->shape[1]) {
    return error("{}: tensor {} has the shape {} x {} x {} x {}, but must be {} x vocabulary", file.name(),
                 name, tensor->shape[0], tensor->shape[1], tensor->shape[2], tensor->shape[3], width);
  }
  if (tensor->rows() > Limits::vocabulary) {
    return error("{}: tensor {} has {} rows, but {} is the limit", file.name(), name, tensor->rows(),
                 Limits::vocabulary);
  }
  constexpr std::string_view tokens_key = "tokenizer.ggml.tokens";
  SPECTR_TRY(const auto tokens, file.strings(tokens_key));
  if (!tokens.empty() && tokens.size() != tensor->rows()) {
    return error("{}: tensor {} has {} rows for the {} tokens of {}", file.name(), name, tensor->rows(),
                 tokens.size(), tokens_key);
  }
  return static_cast<std::size_t>(tensor->rows());
}

Result<void> read_heads(const Gguf& file, const Hyperparameters& keys, ModelConfig& config) {
  SPECTR_TRY(config.heads, keys.count("attention.head_count", Limits::heads));
  SPECTR_TRY(config.kv_heads, keys.count("attention.head_count_kv", Limits::heads, config.heads));
  if (config.heads % config.kv_heads != 0) {
    return error("{}: {} is {}, which does not divide the {} heads", file.name(),
                 keys.key("attention.head_count_kv"), config.kv_heads, config.heads);
  }
  if (!keys.has("attention.key_length") && config.width % config.heads != 0) {
    return error("{}: {} is {}, not a multiple of the {} heads", file.name(), keys.key("embedding_length"),
                 config.width, config.heads);
  }
  SPECTR_TRY(config.head_dim,
             keys.count("attention.key_length", Limits::head_dim, config.width / config.heads));
  if (config.head_dim < 1 || config.head_dim > Limits::head_dim) {
    return error("{}: {} is {} and {} is {}: heads of {} dimensions, but {} is the limit", file.name(),
                 keys.key("embedding_length"), config.width, keys.key("attention.head_count"), config.heads,
                 config.head_dim, Limits::head_dim);
  }
  if (config.heads * config.head_dim > Limits::width) {
    return error("{}: {} is {}: heads of {} dimensions have {} in all, but {} is the limit", file.name(),
                 keys.key("attention.head_count"), config.heads, config.head_dim,
                 config.heads * config.head_dim, Limits::width);
  }
  SPECTR_TRY(const auto values, keys.count("attention.value_length", Limits::head_dim, config.head_dim));
  if (values != config.head_dim) {
    return error("{}: {} is {}, but keys have {}; both must be equal", file.name(),
                 keys.key("attention.value_length"), values, config.head_dim);
  }
  if (config.fused_qkv &&
      (config.kv_heads != config.heads || config.heads * config.head_dim != config.width)) {
    return error("{}: {} is {} and {} is {}, of {} dimensions: must be equally many and make up the {} of {}",
                 file.name(), keys.key("attention.head_count"), config.heads,
                 keys.key("attention.head_count_kv"), config.kv_heads, config.head_dim,
                 keys.key("embedding_length"), config.width);
  }
  return {};
}

Result<float> rope_scale(const Gguf& file, const Hyperparameters& keys) {
  SPECTR_TRY(const auto type, file.string(keys.key("rope.scaling.type"), "linear"));
  if (type == "none") return 1.0F;
  if (type != "linear") {
    return error("{}: {} is {}, but none and linear are supported", file.name(),
                 keys.key("rope.scaling.type"), quote(type));
  }
  const std::string_view name = keys.has("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear";
  SPECTR_TRY(const auto factor, file.real(keys.key(name), 1.0));
  if (factor == 0.0) return 1.0F;  // as some writers say that there is none
  return keys.real(name, 1e-6, 1e6, 1);
}

Result<void> read_rope(const Gguf& file, const Hyperparameters& keys, ModelConfig& config) {
  SPECTR_TRY(config.rope_dims, keys.count("rope.dimension_count", config.head_dim, config.head_dim));
  if (config.rope_dims % 2 != 0) {
    return error("{}: {} is {}, but must be even", file.name(), keys.key("rope.dimension_count"),
                 config.rope_dims);
  }
  SPECTR_TRY(config.rope_base, keys.real("rope.freq_base", 1, 1e12, 10000));
  SPECTR_TRY(config.rope_scale, rope_scale(file, keys));
  return {};
}

}  // namespace

std::string_view name_of(Architecture architecture) {
  return std::ranges::find(families, architecture, &Family::architecture)->name;
}

Result<ModelConfig> ModelConfig::load(const Gguf& file) {
  SPECTR_TRY_VOID(refuse_split(file));
  SPECTR_TRY(const auto family, family_of(file));
  const Hyperparameters keys(file, family.name);

  ModelConfig config{};
  static_cast<Family&>(config) = family;
  config.file = file.name();
  const std::string stem = std::filesystem::path(file.name()).stem();
  SPECTR_TRY(const auto name, file.string("general.name", stem));
  config.name = escape(name);
  SPECTR_TRY(config.context, keys.count("context_length", Limits::context));
  SPECTR_TRY(config.width, keys.count("embedding_length", Limits::width));
  SPECTR_TRY(config.layers, keys.count("block_count", Limits::layers));
  SPECTR_TRY(config.ffn, keys.count("feed_forward_length", Limits::ffn));
  SPECTR_TRY_VOID(read_heads(file, keys, config));
  SPECTR_TRY_VOID(refuse_variants(file, keys, config));

  constexpr std::string_view rms = "attention.layer_norm_rms_epsilon", mean = "attention.layer_norm_epsilon";
  SPECTR_TRY(config.norm_epsilon, keys.real(config.layer_norms ? mean : rms, 1e-30, 1));
  config.rope_base = config.rope_scale = 1;
  if (family.rotates) SPECTR_TRY_VOID(read_rope(file, keys, config));
  if (family.architecture == Architecture::gptneox) {
    SPECTR_TRY(config.parallel_residual, file.boolean(keys.key("use_parallel_residual"), true));
  }
  SPECTR_TRY(config.vocabulary, vocabulary_size(file, config.width));
  return config;
}

}  // namespace spectr
