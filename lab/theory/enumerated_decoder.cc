#include "lab/theory/enumerated_decoder.h"

#include "spectr/decode/decoder_law.h"

namespace spectr::lab {

Result<EnumeratedDecoder> enumerate(const MarkovPair& pair, std::string_view method, MethodOptions options) {
  options.length = pair.horizon();
  SPECTR_TRY(const MethodRule* rule, find_method(method));
  SPECTR_TRY(Decoder decoder, make_decoder(*rule, options));
  Models models = pair.start(decoder.most_nodes(pair.horizon()));
  const DecoderLawOptions how{.horizon = pair.horizon(), .ends = {}};
  EnumeratedDecoder out;
  const double share = 1.0 / static_cast<double>(pair.states());
  for (std::size_t s = 0; s < pair.states(); ++s) {
    const Token start[] = {static_cast<Token>(s)};
    SPECTR_TRY(const DecoderLaw law, enumerate_decoder(decoder, models, start, how));
    SPECTR_TRY(const auto target, enumerate_target(models, start, how));
    out.calls += share * law.expected_target_calls;
    out.corrections += share * law.expected_rejections;
    out.tv += share * total_variation(law.law, target);
    for (const auto& [text, mass] : law.law) {
      std::vector<Token> whole = {start[0]};
      whole.insert(whole.end(), text.begin(), text.end());
      out.law[whole] += share * mass;
    }
  }
  return out;
}

}  // namespace spectr::lab
