#include "spectr/text/jinja/template.h"

#include <utility>

#include "spectr/text/jinja/parser.h"

namespace spectr::jinja {

struct Template::Parsed {
  Limits limits;
  Block block;
};

Template::Template(std::unique_ptr<Parsed> parsed) : parsed_(std::move(parsed)) {}
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;
Template::~Template() = default;

Result<Template> Template::parse(std::string_view source, const Limits& limits) {
  try {
    return Template(std::make_unique<Parsed>(Parsed{limits, jinja::parse(source, limits)}));
  } catch (const TemplateError& failure) {
    return error("chat template: {}", failure.what());
  }
}

Result<MarkedText> Template::render(const Dict& variables) const {
  try {
    std::size_t input = 0;
    for (const auto& [name, value] : variables.members) input += value.bytes();
    Run run(parsed_->limits, input);
    add_functions(run);
    for (const auto& [name, value] : variables.members) run.set(name.text().bytes(), value);
    execute(parsed_->block, run);
    return run.output();
  } catch (const TemplateError& failure) {
    return error("chat template: {}", failure.what());
  }
}

}  // namespace spectr::jinja
