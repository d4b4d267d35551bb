#include "apps/cli/flags/method_flags.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <variant>
#include <vector>

#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "spectr/base/names.h"
#include "spectr/decode/method_settings.h"
#include "spectr/transport/plans.h"

namespace spectr::cli {

namespace {

constexpr const char* speculation = "Speculation";

/// Settings that are lists of values in bench methods.
constexpr Setting axes[] = {Setting::tau, Setting::beams, Setting::beam_mode, Setting::bild_fallback,
                            Setting::bild_rollback};

/// Returns the index of a name in the two words of a choice. Throws CLI::ValidationError.
std::size_t choice_of(const MethodSetting& setting, const std::string& name) {
  const auto& words = std::get<MethodSetting::Choice>(setting.place).words;
  const auto found = std::ranges::find(words, name);
  if (found == words.end())
    throw CLI::ValidationError("--" + setting.flag(),
                               fmt::format("must be {} or {}, got '{}'", words[0], words[1], name));
  return static_cast<std::size_t>(found - words.begin());
}

/// Adds a flag for a whole number, or `auto`.
CLI::Option* add_automatic(CLI::App& app, const MethodSetting& setting, MethodRequest& request,
                           std::size_t& value) {
  const auto read = [&setting, &request, &value](const std::string& given) {
    const bool is_auto = given == "auto";
    const auto [min, max] = setting.range;
    const auto number =
        is_auto ? Result<std::int64_t>(0) : parse_whole(given, whole_limit(min), whole_limit(max));
    if (!number) throw CLI::ValidationError("--" + setting.flag(), number.error().message + ", or auto");
    request.*setting.automatic = is_auto;
    value = static_cast<std::size_t>(*number);
  };
  return app.add_option_function<std::string>("--" + setting.flag(), read, std::string(setting.summary))
      ->type_name("N|auto")
      ->default_str(std::to_string(value));
}

/// Adds the flag of a setting. It writes to `request`.
CLI::Option* add_flag_of(CLI::App& app, const MethodSetting& setting, MethodRequest& request) {
  const std::string flag = "--" + setting.flag(), help(setting.summary);
  const auto& range = setting.range;
  MethodOptions& options = request.others;
  return std::visit(
      [&]<class Place>(const Place& place) -> CLI::Option* {
        if constexpr (std::is_same_v<Place, MethodSetting::Choice>) {
          const auto read = [&setting, &options, place](const std::string& name) {
            place.set(options, choice_of(setting, name));
          };
          return app.add_option_function<std::string>(flag, read, help)
              ->type_name(fmt::format("{}", fmt::join(place.words, "|")))
              ->default_str(std::string(place.words[0]));
        } else {
          auto& value = options.*place;
          using Value = std::remove_reference_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, bool>) {
            return app.add_flag(flag, value, help);
          } else if constexpr (std::is_same_v<Value, std::vector<std::size_t>>) {
            return add_list(app, flag, value, help, whole_limit(range.min), whole_limit(range.max));
          } else {
            if constexpr (std::is_same_v<Value, std::size_t>) {
              if (setting.automatic != nullptr) return add_automatic(app, setting, request, value);
            }
            CLI::Option* const option = app.add_option(flag, value, help);
            const bool is_real = std::is_same_v<Value, double>;
            option->transform(is_real ? real() : whole(whole_limit(range.min), whole_limit(range.max)));
            return option->capture_default_str();
          }
        }
      },
      setting.place);
}

}  // namespace

BeamMode beam_mode_of(const std::string& name) {
  const MethodSetting& setting = method_setting(Setting::beam_mode);
  MethodOptions options;
  std::get<MethodSetting::Choice>(setting.place).set(options, choice_of(setting, name));
  return options.beam_mode;
}

void MethodFlags::add(CLI::App& app) {
  const std::string group = speculation;
  app.add_option("--method", request.method,
                 "how to decode (default: auto with a draft model, else plain; with -K, -L, --plan or --tree "
                 "spectr or tree): " +
                     names_of(method_rules(), " "))
      ->group(group);
  app.add_option("--plan", request.others.plan, "how to choose among drafts: " + names_of(plan_rules(), " "))
      ->group(group);
  app.add_option("-K", request.drafts,
                 "draft sequences per block (default: the best by what passes cost; law: 1); of mtad the "
                 "beams that are verified (default: 1)")
      ->transform(whole(1))
      ->group(group);
  app.add_option(length_names, request.length,
                 "tokens per draft sequence (default: the best by what passes cost; law: 2)")
      ->envname("LLAMA_ARG_SPEC_DRAFT_N_MAX")
      ->transform(whole(1))
      ->group(group);
  add_settings(app);
  for (const Setting setting : axes) add_flag_of(app, method_setting(setting), request)->group(speculation);
}

void MethodFlags::add_settings(CLI::App& app) {
  for (const MethodSetting& setting : method_settings()) {
    if (std::ranges::find(axes, setting.setting) == std::end(axes))
      add_flag_of(app, setting, request)->group(speculation);
  }
}

void MethodFlags::add_cost_file(CLI::App& app) {
  app.add_option("--cost-file", cost_file,
                 "where measured costs of passes are kept (auto, and where -K or -L is left open)")
      ->transform(file_name())
      ->group(speculation);
  app.add_option(
         "--load", request.load,
         "texts that share every pass, by which auto, and an open K or L, weigh what a drafted row costs")
      ->transform(whole(1, 1024))
      ->group(speculation);
}

const MethodRule& MethodFlags::rule(std::size_t draft_models) const {
  return *need(request.rule(draft_models));
}

void check_settings(const MethodRule& rule, const MethodRequest& request, const MethodOptions& settings) {
  std::optional<DraftShape> shape;
  if (rule.reads(Setting::costs)) {
    need(check_options(rule, settings));
  } else {
    shape = need(make_decoder(rule, settings)).shape();
  }
  const auto tell = [&](const char* flag, std::optional<std::size_t> given,
                        std::size_t DraftShape::* drafted) {
    if (!given || (shape && (*shape).*drafted == *given)) return;
    fmt::print(stderr, "{} {} is not used: method {} {}\n", flag, *given, rule.name,
               !shape              ? "chooses for itself"
               : shape->drafts > 0 ? fmt::format("drafts K {}, L {} here", shape->drafts, shape->length)
                                   : "drafts nothing");
  };
  tell("-K", request.drafts, &DraftShape::drafts);
  tell("-L", request.length, &DraftShape::length);
  if (request.auto_trunk && !settings.tree.empty())
    throw Failure(Status::usage, "--trunk auto goes with K and L, not with the factors of a tree");
  if (request.auto_trunk && !rule.reads(Setting::trunk))
    fmt::print(stderr, "--trunk is not used: method {} does not read it\n", rule.name);
  for (const std::string& name : unread_settings(rule, settings))
    fmt::print(stderr, "--{} is not used: method {} does not read it\n", name, rule.name);
}

void tell_bias(const MethodRule& rule, const MethodOptions& settings) {
  if (is_lossless(rule, settings)) return;
  fmt::print(stderr, "method {} is biased: the output's distribution is not the target's\n", rule.name);
}

void check_drafts(const MethodRule& rule, std::size_t draft_models) {
  if (draft_models < rule.models.min)
    throw Failure(Status::usage, fmt::format("method {} needs a draft model: give -md FILE", rule.name));
  if (rule.models.max == 1 && draft_models > 1) {
    throw Failure(Status::usage,
                  fmt::format("method {} takes one draft model, got {}", rule.name, draft_models));
  }
}

}  // namespace spectr::cli
