#include "spectr/nn/arch/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "spectr/base/names.h"

namespace spectr {
namespace {

constexpr std::uint64_t max_context = 1 << 24;

/// Reads rope.scaling.factor, or its name in older files. Some writers use 0 for no scaling.
Result<float> scaling_factor(ArchReader& in) {
  in.ignore({"rope.scaling.factor", "rope.scale_linear"});
  const std::string_view name = in.has("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear";
  SPECTR_TRY(const auto factor, in.file().real(in.key(name), 1.0));
  if (factor == 0.0) return 1.0F;
  return in.real(name, 1e-6, 1e6, 1);
}

Result<void> yarn_keys(ArchReader& in, RopeScaling& scaling) {
  SPECTR_TRY(scaling.share, in.real("rope.scaling.yarn_ext_factor", -1, 1, 1));
  if (scaling.share < 0) scaling.share = 1;  // some writers use a negative value for the default
  SPECTR_TRY(scaling.beta_fast, in.real("rope.scaling.yarn_beta_fast", 1e-6, 1e6, 32));
  SPECTR_TRY(scaling.beta_slow, in.real("rope.scaling.yarn_beta_slow", 1e-6, 1e6, 1));
  SPECTR_TRY(scaling.log_multiplier, in.real("rope.scaling.yarn_log_multiplier", 0, 1e6, 0));
  in.ignore({"rope.scaling.yarn_attn_factor"});  // redundant: magnitude() computes it
  return {};
}

Result<RopeScaling> rope_scaling(ArchReader& in) {
  using Kind = RopeScaling::Kind;
  RopeScaling scaling{};
  SPECTR_TRY(scaling.factor, scaling_factor(in));
  SPECTR_TRY(scaling.attention_factor, in.real("rope.scaling.attn_factor", 1e-6, 1e6, 1));
  SPECTR_TRY(scaling.original_context, in.count("rope.scaling.original_context_length", max_context, 0));
  SPECTR_TRY(const auto type, in.string("rope.scaling.type", "linear"));
  if (type == "yarn") {
    scaling.kind = Kind::yarn;
    SPECTR_TRY_VOID(yarn_keys(in, scaling));
    return scaling;
  }
  if (type == "linear") {
    scaling.kind = Kind::linear;
  } else if (type != "none" && type != "longrope") {  // longrope has its factors in tensors
    return error(ErrorCode::unsupported, "{}: {} is {}, but none, linear, yarn and longrope are supported",
                 in.file().name(), in.key("rope.scaling.type"), quote(type));
  }
  SPECTR_TRY_VOID(in.neutral("rope.scaling.yarn_attn_factor", 1));
  SPECTR_TRY_VOID(in.neutral("rope.scaling.yarn_ext_factor", 0));
  SPECTR_TRY_VOID(in.neutral("rope.scaling.yarn_log_multiplier", 0));
  in.ignore({"rope.scaling.yarn_beta_fast", "rope.scaling.yarn_beta_slow"});
  return scaling;
}

/// Applies overrides. A factor alone selects linear scaling if the file has no scaling.
void choose(const RopeChoice& choice, RopeScaling& scaling) {
  using Kind = RopeScaling::Kind;
  if (choice.factor && scaling.kind == Kind::none) scaling.kind = Kind::linear;
  if (choice.scaling) scaling.kind = static_cast<Kind>(*choice.scaling);  // same order of enumerators
  scaling.factor = choice.factor.value_or(scaling.factor);
  scaling.original_context = choice.original_context.value_or(scaling.original_context);
  scaling.share = choice.share.value_or(scaling.share);
  scaling.attention_factor = choice.attention_factor.value_or(scaling.attention_factor);
  scaling.beta_fast = choice.beta_fast.value_or(scaling.beta_fast);
  scaling.beta_slow = choice.beta_slow.value_or(scaling.beta_slow);
}

/// Returns the index of the pair that makes `turns` rotations in the original context.
double pair_of(const RopeKeys& keys, float turns) {
  const double context = static_cast<double>(keys.scaling.original_context);
  return static_cast<double>(keys.dims) *
         std::log(context / (2 * std::numbers::pi * static_cast<double>(turns))) /
         (2 * std::log(static_cast<double>(keys.base)));
}

/// Returns the radians per token of pair i, before the division by a tensor's factor.
double frequency(const RopeKeys& keys, std::size_t i) {
  const RopeScaling& scaling = keys.scaling;
  const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(keys.dims);
  const double own = std::pow(static_cast<double>(keys.base), exponent);
  const double stretched = own / static_cast<double>(scaling.factor);
  switch (scaling.kind) {
    case RopeScaling::Kind::none:
      return own;
    case RopeScaling::Kind::linear:
      return stretched;
    case RopeScaling::Kind::yarn:
      break;
  }
  double low = pair_of(keys, scaling.beta_fast), high = pair_of(keys, scaling.beta_slow);
  if (scaling.rounds) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(keys.dims) - 1);
  const double along = (static_cast<double>(i) - low) / std::max(0.001, high - low);
  const double share = (1 - std::clamp(along, 0.0, 1.0)) * static_cast<double>(scaling.share);
  return stretched * (1 - share) + own * share;
}

/// Returns the frequencies, divided by the numbers of a tensor if it is present.
Result<std::vector<float>> frequencies(ArchReader& in, const RopeKeys& keys, std::string_view name) {
  SPECTR_TRY(const std::vector<float> factors, in.numbers(name, keys.dims / 2));
  std::vector<float> all;
  for (std::size_t i = 0; i < keys.dims / 2; ++i) {
    const float factor = factors.empty() ? 1.0F : factors[i];
    // Some families write 1e30 for pairs that are not rotated.
    if (!(factor >= 1e-6F && factor <= 1e30F)) {
      return error("{}: {} holds {}, but must hold numbers from 1e-06 to 1e+30", in.file().name(), name,
                   factor);
    }
    all.push_back(static_cast<float>(frequency(keys, i) / static_cast<double>(factor)));
  }
  return all;
}

}  // namespace

float RopeScaling::magnitude() const {
  if (kind != Kind::yarn) return attention_factor;
  const auto grown = [this](float multiplier) {
    return factor > 1 ? 0.1F * multiplier * std::log(factor) + 1 : 1.0F;
  };
  return grown(1) / (log_multiplier == 0 ? 1.0F : grown(log_multiplier)) * attention_factor;
}

Result<RopeKeys> rope_keys(ArchReader& in, std::size_t head_dim) {
  RopeKeys keys{};
  SPECTR_TRY(keys.dims, in.count("rope.dimension_count", head_dim, head_dim));
  if (keys.dims % 2 != 0) {
    return error("{}: {} is {}, but must be even", in.file().name(), in.key("rope.dimension_count"),
                 keys.dims);
  }
  SPECTR_TRY(keys.base, in.real("rope.freq_base", 1, 1e12, 10000));
  SPECTR_TRY(keys.scaling, rope_scaling(in));
  keys.base = in.rope_choice().base.value_or(keys.base);
  choose(in.rope_choice(), keys.scaling);
  const bool needs_original = keys.scaling.kind == RopeScaling::Kind::yarn;
  if (needs_original && keys.scaling.original_context == 0) keys.scaling.original_context = in.spec().context;
  return keys;
}

RopeSpec plain_rope(std::size_t dims, float base, RopePairs pairs) {
  RopeSpec rope{.dims = dims, .interleaved = pairs == RopePairs::interleaved};
  const RopeKeys keys{dims, base};
  for (std::size_t i = 0; i < dims / 2; ++i)
    rope.frequencies.push_back(static_cast<float>(frequency(keys, i)));
  return rope;
}

Result<RopeSpec> rope(ArchReader& in, const RopeKeys& keys, RopePairs pairs) {
  RopeSpec rope{.dims = keys.dims, .interleaved = pairs == RopePairs::interleaved};
  rope.magnitude = keys.scaling.magnitude();
  in.require_if(rope.magnitude != 1, Feature::rope_magnitude,
                in.has("rope.scaling.attn_factor") ? "rope.scaling.attn_factor" : "rope.scaling.type");
  constexpr std::string_view of_long = "rope_factors_long.weight", of_short = "rope_factors_short.weight";
  if (!in.has_tensor(of_long) && !in.has_tensor(of_short)) {
    SPECTR_TRY(rope.frequencies, frequencies(in, keys, "rope_freqs.weight"));
    return rope;
  }
  if (keys.scaling.original_context == 0) {
    return error("{}: {} is missing, but there is a tensor {}", in.file().name(),
                 in.key("rope.scaling.original_context_length"), of_long);
  }
  SPECTR_TRY(rope.frequencies, frequencies(in, keys, of_short));
  SPECTR_TRY(rope.long_frequencies, frequencies(in, keys, of_long));
  rope.short_context = keys.scaling.original_context;
  in.require_if(true, Feature::rope_by_context, "rope.scaling.original_context_length");
  return rope;
}

}  // namespace spectr
