#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// mistral3: like llama; queries are scaled by the logarithm of their position.
Result<void> read_mistral3(ArchReader& in) {
  constexpr std::string_view scale = "attention.temperature_scale",
                             period = "rope.scaling.original_context_length";
  SPECTR_TRY(const float temperature, in.real(scale, 0, 1e3, 0));
  in.require_if(temperature > 0, Feature::attention_temperature, scale);
  GatedDecoder family{.pairs = RopePairs::interleaved};
  SPECTR_TRY(family.experts, experts_or_none(in, ExpertsSpec::Gating::softmax, true));
  SPECTR_TRY_VOID(gated_decoder(in, family));
  if (temperature == 0) return {};
  SPECTR_TRY(const std::size_t original, in.count(period, 1 << 24));
  for (LayerSpec& layer : in.spec().layers)
    layer.attention()->temperature = TemperatureSpec{temperature, original};
  return {};
}

}  // namespace spectr
