#include "apps/cli/flags/sampling_flags.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"

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

Warp SamplingFlags::warp() const {
  WarpOptions complete = options;
  for (const std::string& bias : biases) complete.logit_bias.push_back(parse_bias(bias));
  return need(Warp::make(std::move(complete)));
}

void check_biases(const Warp& warp, std::size_t vocabulary) {
  for (const auto& [token, bias] : warp.options().logit_bias) {
    if (token >= 0 && static_cast<std::size_t>(token) < vocabulary) continue;
    throw Failure(Status::usage,
                  fmt::format("--logit-bias: token {} is outside the vocabulary of {}", token, vocabulary));
  }
}

}  // namespace spectr::cli
