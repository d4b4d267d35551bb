#include "apps/cli/template_flags.h"

#include <fmt/ranges.h>

#include "apps/cli/failure.h"
#include "apps/cli/flag_values.h"
#include "apps/cli/text_input.h"
#include "apps/server/chat_forms.h"
#include "apps/server/generation_request.h"
#include "spectr/base/names.h"
#include "spectr/text/jinja/template.h"

namespace spectr::cli {

namespace {

/// A template of llama.cpp's names, or the text itself. Throws Failure where it is neither.
std::string named_or_source(const std::string& given) {
  if (auto known = server::chat_form(given)) return *std::move(known);
  if (given.contains("{{") || given.contains("{%")) return given;
  throw Failure(Status::usage,
                fmt::format("--chat-template: '{}' is no template in Jinja, and none of the names {}",
                            escape(given), fmt::join(server::chat_form_names(), ", ")));
}

}  // namespace

void TemplateFlags::add(CLI::App& command) {
  auto* given = command
                    .add_option("--chat-template", text_,
                                "chat template instead of the model's own: in Jinja, or one of the names " +
                                    fmt::format("{}", fmt::join(server::chat_form_names(), " ")))
                    ->envname("LLAMA_ARG_CHAT_TEMPLATE")
                    ->transform(not_empty("template"));
  command.add_option("--chat-template-file", file_, "a template in Jinja from a file")
      ->envname("LLAMA_ARG_CHAT_TEMPLATE_FILE")
      ->transform(file_name())
      ->excludes(given);
  command.add_flag("--parse-special-in-content", special_in_content_,
                   "control tokens in messages are tokens, not text: whoever writes one can forge a turn");
  command
      .add_option("--reasoning-format", reasoning_,
                  "thoughts of an answer: auto (or deepseek) tells them apart, none leaves them in the text")
      ->envname("LLAMA_ARG_THINK")
      ->check(CLI::IsMember({"none", "auto", "deepseek"}))
      ->capture_default_str();
}

server::ChatOptions TemplateFlags::read() const {
  server::ChatOptions options;
  options.splits_reasoning = server::splits_reasoning(reasoning_).value();
  options.special_in_content = special_in_content_;
  if (text_.empty() && file_.empty()) return options;
  options.source = file_.empty() ? named_or_source(text_) : read_file(file_);
  (void)need(jinja::Template::parse(*options.source));
  return options;
}

}  // namespace spectr::cli
