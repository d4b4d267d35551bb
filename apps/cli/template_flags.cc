#include "apps/cli/template_flags.h"

#include "apps/cli/failure.h"
#include "apps/cli/flag_values.h"
#include "apps/cli/text_input.h"
#include "spectr/text/jinja/template.h"

namespace spectr::cli {

void TemplateFlags::add(CLI::App& command) {
  auto* given = command.add_option("--chat-template", text_, "chat template instead of the model's own")
                    ->transform(not_empty("template"));
  command.add_option("--chat-template-file", file_, "the same from a file")
      ->transform(file_name())
      ->excludes(given);
}

std::optional<std::string> TemplateFlags::read() const {
  if (text_.empty() && file_.empty()) return std::nullopt;
  std::string source = file_.empty() ? text_ : read_file(file_);
  (void)need(jinja::Template::parse(source));
  return source;
}

}  // namespace spectr::cli
