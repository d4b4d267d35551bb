#include "apps/cli/flags/rope_flags.h"

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "apps/cli/flags/flag_values.h"

namespace spectr::cli {
namespace {

constexpr const char* rope_group = "Long contexts";

/// Adds a flag whose number must be in [min, max].
CLI::Option* add_number(CLI::App& app, const char* name, const char* variable, double min, double max,
                        const std::string& help, const std::function<void(double)>& use) {
  const auto read = [=](const double& number) {
    if (!(number >= min && number <= max)) {  // also rejects NaN
      throw CLI::ValidationError(name, fmt::format("must be from {} to {}, got {}", min, max, number));
    }
    use(number);
  };
  return app.add_option_function<double>(name, read, help)
      ->envname(variable)
      ->transform(real())
      ->group(rope_group);
}

}  // namespace

void add_rope_flags(CLI::App& app, RopeChoice& choice) {
  const auto read_scaling = [&choice](const std::string& name) {
    using Scaling = RopeChoice::Scaling;
    choice.scaling = name == "none" ? Scaling::none : name == "linear" ? Scaling::linear : Scaling::yarn;
  };
  app.add_option_function<std::string>("--rope-scaling", read_scaling,
                                       "how positions are stretched (default: as the file says)")
      ->envname("LLAMA_ARG_ROPE_SCALING_TYPE")
      ->check(CLI::IsMember({"none", "linear", "yarn"}))
      ->group(rope_group);
  const auto number = [](std::optional<float>& to) {
    return [&to](double value) { to = static_cast<float>(value); };
  };
  constexpr double least = 1e-6, most = 1e6;
  auto* factor = add_number(app, "--rope-scale", "LLAMA_ARG_ROPE_SCALE", least, most,
                            "how many times the context is stretched", number(choice.factor));
  add_number(app, "--rope-freq-scale", "LLAMA_ARG_ROPE_FREQ_SCALE", least, most, "one over --rope-scale",
             [&choice](double value) { choice.factor = static_cast<float>(1 / value); })
      ->excludes(factor);
  add_number(app, "--rope-freq-base", "LLAMA_ARG_ROPE_FREQ_BASE", 1, 1e12, "base of the rotations",
             number(choice.base));
  app.add_option_function<std::int64_t>(
         "--yarn-orig-ctx",
         [&choice](const std::int64_t& tokens) {
           choice.original_context = static_cast<std::size_t>(tokens);
         },
         "YaRN: tokens of context that the model was trained for")
      ->envname("LLAMA_ARG_YARN_ORIG_CTX")
      ->transform(whole(1, 1 << 24))
      ->group(rope_group);
  add_number(app, "--yarn-ext-factor", "LLAMA_ARG_YARN_EXT_FACTOR", 0, 1,
             "YaRN: share of what is not stretched", number(choice.share));
  add_number(app, "--yarn-attn-factor", "LLAMA_ARG_YARN_ATTN_FACTOR", least, most,
             "factor of cosines and sines", number(choice.attention_factor));
  add_number(app, "--yarn-beta-fast", "LLAMA_ARG_YARN_BETA_FAST", least, most,
             "YaRN: what turns more often in that context is not stretched", number(choice.beta_fast));
  add_number(app, "--yarn-beta-slow", "LLAMA_ARG_YARN_BETA_SLOW", least, most,
             "YaRN: what turns less often in that context is stretched", number(choice.beta_slow));
}

}  // namespace spectr::cli
