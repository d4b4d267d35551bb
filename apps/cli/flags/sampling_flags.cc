#include "apps/cli/flags/sampling_flags.h"

#include <charconv>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/text_input.h"
#include "spectr/sampling/sampling_settings.h"

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

constexpr auto sampling_group = "Sampling";

/// Adds the flag of a setting. It writes to `value`, the setting's value in the options.
template <class T>
CLI::Option* add_sampling_flag(CLI::App& app, const SamplingSetting& setting, T& value) {
  const std::string flags(setting.flags), help(setting.summary);
  if constexpr (std::is_same_v<T, SamplingSetting::Texts>) {
    const auto read = [&value](const std::vector<std::string>& given) {
      value.emplace();
      for (const std::string& text : given) {
        if (text == "none") {
          value->clear();
        } else {
          value->push_back(read_escapes(text));
        }
      }
    };
    return repeatable(app.add_option_function<std::vector<std::string>>(flags, read, help));
  } else {
    CLI::Option* const option = app.add_option(flags, value, help);
    const auto [min, max] = setting.range;
    option->transform(std::is_same_v<T, double> ? real() : whole(whole_limit(min), whole_limit(max)));
    if (setting.all) option->transform(minus_one_as(std::to_string(*setting.all)));
    return option->capture_default_str();
  }
}

}  // namespace

void SamplingFlags::add(CLI::App& app) {
  add_filters(app);
  repeatable(app.add_option("-l,--logit-bias", biases,
                            "ID+BIAS or ID-BIAS: added to a token's logit; -inf forbids it; repeatable"))
      ->group(sampling_group);
}

void SamplingFlags::add_filters(CLI::App& app) {
  add_settings(app, true);
}

void SamplingFlags::add_samplers(CLI::App& app) {
  auto* names =
      app.add_option("--samplers", samplers, "samplers in the order of application, separated by ;");
  auto* letters = app.add_option("--sampler-seq,--sampling-seq", sampler_letters,
                                 "the same as letters, such as edskypmxt");
  names->excludes(letters)->group(sampling_group);
  letters->group(sampling_group);
  add_settings(app, false);
}

void SamplingFlags::add_settings(CLI::App& app, bool basic) {
  for (const SamplingSetting& setting : sampling_settings()) {
    if (setting.basic != basic) continue;
    const auto add_flag = [&](auto& value) { return add_sampling_flag(app, setting, value); };
    setting.visit(options, add_flag)->envname(std::string(setting.variable))->group(sampling_group);
  }
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
