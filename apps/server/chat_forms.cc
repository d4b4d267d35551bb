#include "apps/server/chat_forms.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/server/chat_form_table.h"

namespace spectr::server {
namespace {

/// A text as a literal of Jinja.
std::string literal(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\n' ? std::string("\\n") : c == '\'' ? "\\'" : std::string(1, c);
  return out + "'";
}

std::string turn(const Form& form, const Turn& turn, bool is_assistant) {
  const bool trims =
      form.trimmed == everybody || form.trimmed == (is_assistant ? the_assistant : all_but_the_assistant);
  return fmt::format("{{{{ {} + message.content{} + {} }}}}", literal(turn.before), trims ? " | trim" : "",
                     literal(turn.after));
}

std::string source_of(const Form& form) {
  const bool inside = form.system_place == inside_user;
  std::string source = fmt::format("{{{{ {} }}}}{{% for message in messages %}}", literal(form.begin));
  source += "{% if message.role == 'system' %}";
  if (inside) source += fmt::format("{{{{ {} }}}}", literal(form.user.before));
  source += turn(form, form.system, false);
  source += "{% elif message.role == 'assistant' %}" + turn(form, form.assistant, true);
  if (inside) {
    source += "{% elif loop.previtem is defined and loop.previtem.role == 'system' %}";
    source += turn(form, {"", form.user.after}, false);
  }
  source += "{% else %}" + turn(form, form.user, false) + "{% endif %}{% endfor %}";
  return source +
         fmt::format("{{% if add_generation_prompt %}}{{{{ {} }}}}{{% endif %}}", literal(form.generation));
}

}  // namespace

std::optional<std::string> chat_form(std::string_view name) {
  const auto* found = std::ranges::find(forms, name, &Form::name);
  return found == std::end(forms) ? std::nullopt : std::optional(source_of(*found));
}

std::vector<std::string_view> chat_form_names() {
  std::vector<std::string_view> names;
  for (const Form& form : forms) names.push_back(form.name);
  return names;
}

}  // namespace spectr::server
