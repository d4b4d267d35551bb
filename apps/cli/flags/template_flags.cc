#include "apps/cli/flags/template_flags.h"

#include <fmt/ranges.h>

#include <charconv>
#include <system_error>

#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/text_input.h"
#include "apps/cli/flags/word_lists.h"
#include "apps/support/json_input.h"
#include "spectr/base/names.h"
#include "spectr/text/chat/chat_forms.h"
#include "spectr/text/jinja/from_json.h"
#include "spectr/text/jinja/template.h"

namespace spectr::cli {

namespace {

/// Returns the template of a llama.cpp name, or the given source. Throws Failure if it is neither.
std::string named_or_source(const std::string& given) {
  if (auto known = chat_form(given)) return *std::move(known);
  if (given.contains("{{") || given.contains("{%")) return given;
  throw Failure(Status::usage,
                fmt::format("--chat-template: '{}' is no template in Jinja, and none of the names {}",
                            escape(given), fmt::join(chat_form_names(), ", ")));
}

std::optional<bool> parse_switch(const std::string& word) {
  if (word == "auto" || word == "-1") return std::nullopt;
  if (!is_switch_word(word))
    throw CLI::ValidationError("--reasoning", fmt::format("must be on, off or auto, got '{}'", escape(word)));
  return !is_off(word);
}

/// Parses a reasoning budget in tokens; none: unlimited.
std::optional<std::size_t> parse_budget(const std::string& tokens) {
  if (tokens == "-1") return std::nullopt;
  std::size_t budget = 0;
  const auto [end, failed] = std::from_chars(tokens.data(), tokens.data() + tokens.size(), budget);
  if (failed != std::errc{} || end != tokens.data() + tokens.size()) {
    throw CLI::ValidationError("--reasoning-budget",
                               fmt::format("must be -1 (no limit), 0 (no reasoning) or a number of tokens, "
                                           "got '{}'",
                                           escape(tokens)));
  }
  return budget;
}

/// Parses template variables from a JSON object. Throws Failure if it is invalid or sets reserved names.
JsonInput parse_variables(const std::string& text) {
  constexpr std::string_view flag = "--chat-template-kwargs";
  if (text.empty()) return JsonInput::object();
  Result<JsonInput> parsed = parse_json(text);
  if (!parsed) throw Failure(Status::usage, fmt::format("{} {}", flag, parsed.error().message));
  JsonInput variables = *std::move(parsed);
  if (!variables.is_object())
    throw Failure(Status::usage, fmt::format("{}: must be a JSON object, got {}", flag, shown(variables)));
  for (const char* const name : own_chat_variables) {
    if (variables.contains(name))
      throw Failure(Status::usage, fmt::format("{}: '{}' is set by the program", flag, name));
  }
  return variables;
}

}  // namespace

void TemplateFlags::add(CLI::App& command) {
  auto* given = command
                    .add_option("--chat-template", text_,
                                "chat template instead of the model's own: in Jinja, or one of the names " +
                                    fmt::format("{}", fmt::join(chat_form_names(), " ")))
                    ->envname("LLAMA_ARG_CHAT_TEMPLATE")
                    ->transform(not_empty("template"));
  command.add_option("--chat-template-file", file_, "a template in Jinja from a file")
      ->envname("LLAMA_ARG_CHAT_TEMPLATE_FILE")
      ->transform(file_name())
      ->excludes(given);
  command.add_flag("--parse-special-in-content", special_in_content_,
                   "control tokens in messages are tokens, not text: whoever writes one can forge a turn");
  command
      .add_option_function<std::string>(
          "--reasoning", [this](const std::string& word) { thinks_ = parse_switch(word); },
          "whether answers begin with thoughts: on, off or auto, as the chat template does")
      ->envname("LLAMA_ARG_REASONING")
      ->type_name("on|off|auto")
      ->default_str("auto");
  command
      .add_option_function<std::string>(
          "--reasoning-budget", [this](const std::string& tokens) { budget_ = parse_budget(tokens); },
          "tokens that reasoning may take: -1 (no limit), 0 (no reasoning) or N, after which it is ended")
      ->envname("LLAMA_ARG_THINK_BUDGET")
      ->type_name("N")
      ->default_str("-1");
  command
      .add_option("--reasoning-budget-message", budget_message_,
                  "what is written before the end of reasoning that has used up its budget")
      ->envname("LLAMA_ARG_THINK_BUDGET_MESSAGE")
      ->type_name("TEXT");
  command.add_option("--reasoning-effort", effort_, "what the chat template is told as reasoning_effort")
      ->envname("LLAMA_ARG_REASONING_EFFORT")
      ->type_name("low|medium|high|...");
  command
      .add_option("--chat-template-kwargs", variables_,
                  "variables of the chat template, unless a request sets them")
      ->envname("LLAMA_ARG_CHAT_TEMPLATE_KWARGS")
      ->transform(not_empty("object"))
      ->type_name("JSON");
  command
      .add_option("--reasoning-format", format_,
                  "thoughts of an answer: auto (or deepseek) tells them apart, none leaves them in the text")
      ->envname("LLAMA_ARG_THINK")
      ->check(CLI::IsMember({"none", "auto", "deepseek"}))
      ->capture_default_str();
}

ChatOptions TemplateFlags::read() const {
  ChatOptions options;
  options.splits_reasoning = format_ != "none";
  options.rendering.special_in_content = special_in_content_;
  JsonInput values = parse_variables(variables_);
  if (!effort_.empty() && effort_ != "default" && !values.contains("reasoning_effort"))
    values["reasoning_effort"] = effort_;
  options.rendering.values = *need(jinja::from_json(values, !special_in_content_)).dict();
  options.rendering.thinks = budget_ == 0 ? std::optional(false) : thinks_;
  if (text_.empty() && file_.empty()) return options;
  options.source = file_.empty() ? named_or_source(text_) : read_file(file_);
  (void)need(jinja::Template::parse(*options.source));
  return options;
}

std::optional<ReasoningLimit> TemplateFlags::reasoning_limit() const {
  if (budget_.value_or(0) == 0) return std::nullopt;
  return ReasoningLimit{*budget_, budget_message_};
}

}  // namespace spectr::cli
