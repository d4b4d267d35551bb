#include "apps/cli/flags/sampling_flags.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <utility>

#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/text_input.h"

namespace spectr::cli {
namespace {

std::pair<Token, double> parse_bias(const std::string& text) {
  const auto fail = [&text] {
    return Failure(Status::usage,
                   fmt::format("--logit-bias: '{}' is not of the form ID+BIAS or ID-BIAS", text));
  };
  Token token = 0;
  const char* end = text.data() + text.size();
  const auto [sign, bad_id] = std::from_chars(text.data(), end, token);
  if (bad_id != std::errc{} || sign == end || (*sign != '+' && *sign != '-')) throw fail();
  double bias = 0.0;
  const auto [stop, bad] = std::from_chars(sign + 1, end, bias);
  if (bad != std::errc{} || stop != end || sign[1] == '-') throw fail();
  return {token, *sign == '-' ? -bias : bias};
}

constexpr std::int64_t all_tokens = std::numeric_limits<std::int32_t>::max();
constexpr auto sampling_group = "Sampling";

}  // namespace

void SamplingFlags::add(CLI::App& app) {
  add_filters(app);
  repeatable(app.add_option("-l,--logit-bias", biases,
                            "ID+BIAS or ID-BIAS: added to a token's logit; -inf forbids it; repeatable"))
      ->group(sampling_group);
}

void SamplingFlags::add_filters(CLI::App& app) {
  app.add_option("--temp,--temperature", options.temperature, "temperature; 0 takes the likeliest token")
      ->transform(real())
      ->envname("LLAMA_ARG_TEMPERATURE")
      ->capture_default_str()
      ->group(sampling_group);
  app.add_option("--top-k", options.top_k, "keep the N likeliest tokens; 0 or -1: all")
      ->envname("LLAMA_ARG_TOP_K")
      ->transform(whole(0))
      ->transform(minus_one_as("0"))
      ->capture_default_str()
      ->group(sampling_group);
  app.add_option("--top-p", options.top_p, "keep the likeliest tokens of mass P; 1: all")
      ->transform(real())
      ->envname("LLAMA_ARG_TOP_P")
      ->capture_default_str()
      ->group(sampling_group);
  app.add_option("--min-p", options.min_p, "keep tokens at least P times as likely as the likeliest; 0: all")
      ->transform(real())
      ->envname("LLAMA_ARG_MIN_P")
      ->capture_default_str()
      ->group(sampling_group);
  app.add_option("--repeat-penalty", options.repeat_penalty, "divide logits of recent tokens; 1: off")
      ->transform(real())
      ->envname("LLAMA_ARG_REPEAT_PENALTY")
      ->capture_default_str()
      ->group(sampling_group);
  app.add_option("--repeat-last-n", options.repeat_last_n, "how many tokens are recent; -1: all")
      ->transform(whole(0))
      ->transform(minus_one_as(std::to_string(all_tokens)))
      ->capture_default_str()
      ->group(sampling_group);
  app.add_option("--presence-penalty", options.presence_penalty, "subtracted from logits of recent tokens")
      ->transform(real())
      ->envname("LLAMA_ARG_PRESENCE_PENALTY")
      ->capture_default_str()
      ->group(sampling_group);
  app.add_option("--frequency-penalty", options.frequency_penalty,
                 "the same, times the number of occurrences")
      ->transform(real())
      ->envname("LLAMA_ARG_FREQUENCY_PENALTY")
      ->capture_default_str()
      ->group(sampling_group);
}

void SamplingFlags::add_samplers(CLI::App& app) {
  const auto number = [&app](const char* names, double& value, const char* help) {
    app.add_option(names, value, help)->transform(real())->capture_default_str()->group(sampling_group);
  };
  auto* names =
      app.add_option("--samplers", samplers, "samplers in the order of application, separated by ;");
  auto* letters = app.add_option("--sampler-seq,--sampling-seq", sampler_letters,
                                 "the same as letters, such as edskypmxt");
  names->excludes(letters)->group(sampling_group);
  letters->group(sampling_group);
  number("--top-n-sigma,--top-nsigma", options.top_n_sigma,
         "keep logits within N standard deviations of the largest; 0 or less: all");
  number("--typical,--typical-p", options.typical_p,
         "keep the tokens of mass P whose surprise is nearest to the entropy; 1: all");
  number("--xtc-probability", options.xtc_probability,
         "probability of excluding all top choices but the least likely; 0: off");
  number("--xtc-threshold", options.xtc_threshold, "probability of a top choice; above 0.5: off");
  number("--dynatemp-range", options.dynatemp_range, "vary the temperature by ± N with the entropy; 0: off");
  number("--dynatemp-exp", options.dynatemp_exponent, "exponent of the entropy in that");
  number("--dry-multiplier", options.dry.multiplier,
         "penalty of tokens that lengthen a repetition by one: N · base^(length - allowed length); 0: off");
  number("--dry-base", options.dry.base, "base of that");
  app.add_option("--dry-allowed-length", options.dry.allowed_length, "length of repetitions without penalty")
      ->transform(whole(0, all_tokens))
      ->capture_default_str()
      ->group(sampling_group);
  app.add_option("--dry-penalty-last-n", options.dry.penalty_last_n,
                 "how many tokens are searched for repetitions; -1: all")
      ->transform(whole(0, all_tokens))
      ->transform(minus_one_as(std::to_string(all_tokens)))
      ->capture_default_str()
      ->group(sampling_group);
  repeatable(app.add_option("--dry-sequence-breaker", breakers,
                            "text that ends repetitions, instead of the default ones (\\n : \" *); none: "
                            "there is none; repeatable"))
      ->group(sampling_group);
  app.add_option("--mirostat", options.mirostat,
                 "1 or 2: Mirostat, instead of the other samplers but temperature; 0: off")
      ->transform(whole(0, 2))
      ->capture_default_str()
      ->group(sampling_group);
  number("--mirostat-ent", options.mirostat_tau, "wanted surprise of a token in bits");
  number("--mirostat-lr", options.mirostat_eta, "learning rate of Mirostat");
  number("--adaptive-target", options.adaptive_target,
         "prefer tokens of about this probability, with adaptive_p in --samplers; below 0: off");
  number("--adaptive-decay", options.adaptive_decay,
         "how long earlier tokens count for that, from 0 to 0.99");
}

WarpOptions SamplingFlags::complete() const {
  const auto of_flag = [](const char* flag, Result<std::vector<Sampler>> read) {
    if (!read) throw Failure(Status::usage, fmt::format("{}: {}", flag, read.error().message));
    return *std::move(read);
  };
  WarpOptions all = options;
  for (const std::string& bias : biases) all.logit_bias.push_back(parse_bias(bias));
  if (samplers) {
    std::vector<std::string> names;
    std::istringstream list(*samplers);
    for (std::string name; std::getline(list, name, ';');) names.push_back(name);
    all.samplers = of_flag("--samplers", read_samplers(names));
  }
  if (sampler_letters) all.samplers = of_flag("--sampler-seq", read_sampler_letters(*sampler_letters));
  if (breakers.empty()) return all;
  all.dry.sequence_breakers.emplace();
  for (const std::string& breaker : breakers) {
    if (breaker == "none") {
      all.dry.sequence_breakers->clear();
    } else {
      all.dry.sequence_breakers->push_back(read_escapes(breaker));
    }
  }
  return all;
}

Warp SamplingFlags::warp() const {
  return need(Warp::make(complete()));
}

WarpOptions SamplingFlags::given_options() const {
  WarpOptions given = complete();
  need(Warp::make(given));
  return given;
}

void check_biases(const Warp& warp, std::size_t vocabulary) {
  for (const auto& [token, bias] : warp.options().logit_bias) {
    if (token >= 0 && static_cast<std::size_t>(token) < vocabulary) continue;
    throw Failure(Status::usage,
                  fmt::format("--logit-bias: token {} is outside the vocabulary of {}", token, vocabulary));
  }
}

}  // namespace spectr::cli
