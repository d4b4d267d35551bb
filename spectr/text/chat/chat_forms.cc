#include "spectr/text/chat/chat_forms.h"

#include <fmt/format.h>

#include <algorithm>

#include "spectr/text/chat/chat_form_table.h"

namespace spectr {
namespace {

/// Returns a text as a Jinja literal.
std::string literal(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\n' ? std::string("\\n") : c == '\'' ? "\\'" : std::string(1, c);
  return out + "'";
}

/// Returns the expression of a message's text, trimmed if the form says so.
std::string content(const Form& form, bool is_assistant) {
  const bool trims =
      form.trimmed == everybody || form.trimmed == (is_assistant ? the_assistant : all_but_the_assistant);
  return trims ? "(message.content | trim(' \\t\\n\\v\\f\\r'))" : "message.content";
}

std::string printed(std::string_view text) {
  return text.empty() ? std::string() : fmt::format("{{{{ {} }}}}", literal(text));
}

std::string turn(const Form& form, const Turn& turn, bool is_assistant) {
  return printed(turn.before) + "{{ " + content(form, is_assistant) + " }}" + printed(turn.after);
}

/// Returns the template of a system message.
std::string system_of(const Form& form) {
  if (form.system_place == nowhere) return {};
  if (form.system_place == before_user)
    return "{% set ns.system = ns.system ~ " + content(form, false) + " %}";
  const std::string own = turn(form, form.system, false);
  return form.system_place == at_beginning ? "{% if loop.first %}" + own + "{% endif %}" : own;
}

std::string user_of(const Form& form) {
  if (form.system_place != before_user) return turn(form, form.user, false);
  return printed(form.user.before) + "{% if ns.system %}{{ ns.system }}" + printed(form.system.after) +
         "{% set ns.system = '' %}{% endif %}" + turn(form, {"", form.user.after}, false);
}

std::string source_of(const Form& form) {
  std::string source = printed(form.begin);
  if (!form.default_system.empty())
    source += "{% if messages[0].role != 'system' %}" + printed(form.default_system) + "{% endif %}";
  if (form.system_place == before_user) source += "{% set ns = namespace(system='') %}";
  source += "{% for message in messages %}";
  if (!form.again.empty()) {
    source += form.system_place == with_user ? "{% if not loop.first and loop.previtem.role == 'assistant' %}"
                                             : "{% if not loop.first %}";
    source += printed(form.again) + "{% endif %}";
  }
  source += "{% if message.role == 'system' %}" + system_of(form);
  source += "{% elif message.role == 'assistant' %}" + turn(form, form.assistant, true);
  source += "{% else %}" + user_of(form) + "{% endif %}{% endfor %}";
  const std::string_view when =
      form.opening == after_user ? "messages[-1].role == 'user'" : "add_generation_prompt";
  return source + fmt::format("{{% if {} %}}{}{{% endif %}}", when, printed(form.generation));
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

}  // namespace spectr
