#include "spectr/text/chat/tool_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "spectr/text/chat/call_space.h"
#include "spectr/text/chat/json_extent.h"
#include "spectr/text/reasoning.h"

namespace spectr {
namespace {

constexpr auto nowhere_in_call = std::string_view::npos;
constexpr std::size_t min_mark = 3;  // bytes; shorter ones are punctuation of JSON

/// Appends the marks of a text, which end with ">" or "]" before the next one begins with "<" or "[".
void add_marks(std::string_view text, std::vector<std::string>& marks) {
  const auto add = [&marks](std::string_view mark) {
    mark = without_space(mark);
    if (mark.size() >= min_mark && std::ranges::find(marks, mark) == marks.end()) marks.emplace_back(mark);
  };
  std::size_t begin = 0;
  char previous = ' ';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '<' || c == '[') && (previous == '>' || previous == ']')) {
      add(text.substr(begin, i - begin));
      begin = i;
    }
    if (!call_space.contains(c)) previous = c;
  }
  add(text.substr(begin));
}

/// Where the parts of the first probe call lie in a text.
struct Places {
  std::size_t name, after_name, key, after_key, value, other_key, after_values;
};

std::optional<Places> places_in(std::string_view text) {
  const auto end_of = [](std::size_t at, std::string_view part) { return at + part.size(); };
  const std::size_t name = text.find(ProbeCall::name);
  if (name == nowhere_in_call) return std::nullopt;
  const std::size_t after_name = end_of(name, ProbeCall::name);
  const std::size_t key = text.find(ProbeCall::keys[0], after_name);
  const std::size_t value = text.find(ProbeCall::values[0], key);
  const std::size_t other_key = text.find(ProbeCall::keys[1], value);
  const std::size_t other_value = text.find(ProbeCall::values[1], other_key);
  if (key == nowhere_in_call || value == nowhere_in_call || other_key == nowhere_in_call ||
      other_value == nowhere_in_call)
    return std::nullopt;
  return Places{name,
                after_name,
                key,
                end_of(key, ProbeCall::keys[0]),
                value,
                other_key,
                end_of(other_value, ProbeCall::values[1])};
}

/// The form while it is derived: where the call begins and ends in the text.
struct Derived {
  ToolForm form;
  std::size_t begin, end;
};

/// {"name": …, "arguments": {…}}, the object that begins first and holds name and arguments.
std::optional<Derived> json_call(std::string_view text, const Places& at, std::size_t arguments) {
  for (std::size_t begin = text.find('{'); begin < at.name; begin = text.find('{', begin + 1)) {
    const std::size_t end = begin + JsonExtent::length_of(text.substr(begin));
    if (end < at.after_values) continue;
    ToolForm form{.kind = ToolForm::Kind::json};
    form.middle = text.substr(at.after_name, arguments - at.after_name);
    return Derived{std::move(form), begin, end};
  }
  return std::nullopt;
}

std::optional<Derived> named_call(std::string_view text, const Places& at, std::size_t arguments) {
  const std::size_t length = JsonExtent::length_of(text.substr(arguments));
  if (length == 0) return std::nullopt;
  ToolForm form{.kind = ToolForm::Kind::named};
  form.middle = text.substr(at.after_name, arguments - at.after_name);
  if (form.middle.contains(ProbeCall::ids[0])) form.middle.clear();  // which differs from call to call
  return Derived{std::move(form), at.name, arguments + length};
}

std::optional<Derived> tagged_call(std::string_view text, const Places& at) {
  const std::string_view before_key = text.substr(at.after_name, at.key - at.after_name);
  const std::size_t tag = before_key.rfind('<');
  if (tag == nowhere_in_call) return std::nullopt;
  ToolForm form{.kind = ToolForm::Kind::tagged};
  form.middle = before_key.substr(0, tag);
  form.key_open = without_space(before_key.substr(tag));
  form.key_close = without_space(text.substr(at.after_key, at.value - at.after_key));
  const std::size_t after_value = at.value + ProbeCall::values[0].size();
  const std::string_view between = text.substr(after_value, at.other_key - after_value);
  const std::size_t next = between.rfind(form.key_open);
  if (next == nowhere_in_call || form.key_close.empty()) return std::nullopt;
  form.value_close = without_space(between.substr(0, next));
  if (form.value_close.empty()) return std::nullopt;
  const std::size_t close = text.find(form.value_close, at.after_values);
  if (close == nowhere_in_call) return std::nullopt;
  const std::size_t end = close + form.value_close.size();
  return Derived{std::move(form), at.name, end};
}

std::optional<Derived> derive(std::string_view text, const Places& at) {
  const bool quotes_name = at.name > 0 && text[at.name - 1] == '"';
  if (text[at.key - 1] != '"' || text[at.after_key] != '"') return tagged_call(text, at);
  const std::size_t arguments = text.rfind('{', at.key);
  if (arguments == nowhere_in_call || arguments < at.after_name) return tagged_call(text, at);
  if (quotes_name) {
    if (auto found = json_call(text, at, arguments)) return found;
  }
  return named_call(text, at, arguments);
}

}  // namespace

std::string ToolForm::opening(std::string_view name) const {
  if (name.empty()) return lead;
  return std::string(lead).append(name).append(middle, 0, before_end_space(middle));
}

std::string ProbeCall::arguments() {
  return fmt::format(R"({{"{}": "{}", "{}": "{}"}})", keys[0], values[0], keys[1], values[1]);
}

std::string_view difference(std::string_view text, std::string_view other) {
  std::size_t begin = 0, end = text.size(), other_end = other.size();
  while (begin < end && begin < other_end && text[begin] == other[begin]) ++begin;
  for (; end > begin && other_end > begin && text[end - 1] == other[other_end - 1]; --other_end) --end;
  // Tags such as <|START_ACTION|> and <|START_RESPONSE|> have parts in common.
  const auto tag_around = [text](std::size_t at) {
    const std::size_t open = at == 0 ? nowhere_in_call : text.rfind('<', at - 1);
    const std::size_t close = open == nowhere_in_call ? open : text.find('>', open);
    return close == nowhere_in_call || close < at ? std::pair(at, at) : std::pair(open, close + 1);
  };
  begin = tag_around(begin).first;
  end = std::max(tag_around(end).second, begin);
  return text.substr(begin, end - begin);
}

std::optional<ToolForm> tool_form_of(std::string_view one, std::string_view two) {
  const auto at = places_in(one);
  if (!at) return std::nullopt;
  auto derived = derive(one, *at);
  if (!derived) return std::nullopt;
  ToolForm& form = derived->form;
  std::string_view before = one.substr(0, derived->begin), after = one.substr(derived->end);
  form.lead = one.substr(0, at->name);
  form.lead.erase(0, after_space(form.lead));
  if (form.kind == ToolForm::Kind::json && without_space(before).ends_with('[')) {
    before = before.substr(0, before.rfind('['));
    after.remove_prefix(std::min(after.find(']') + 1, after.size()));
  }
  add_marks(before, form.opens);
  const std::size_t other = two.find(ProbeCall::other_name);
  form.parallel = other != nowhere_in_call && two.starts_with(one.substr(0, derived->end));
  add_marks(after, form.closes);
  return std::move(derived->form);
}

const ToolForm& generic_tool_form() {
  static const ToolForm form{.lead = R"({"name": ")", .middle = R"(", "arguments": )"};
  return form;
}

const ToolForm& harmony_tool_form() {
  static const ToolForm form{.kind = ToolForm::Kind::named,
                             .opens = {std::string(harmony_call_open)},
                             .lead = std::string(harmony_call_open),
                             .middle = " <|constrain|>json<|message|>",
                             .parallel = false};
  return form;
}

const ToolForm& known_tool_form(std::string_view source) {
  using Kind = ToolForm::Kind;
  static const std::pair<std::string_view, ToolForm> forms[] = {
      {"<|im_middle|>",  // Kimi K2, which names calls by their ids
       {.kind = Kind::named,
        .opens = {"<|tool_calls_section_begin|>", "<|tool_call_begin|>"},
        .closes = {"<|tool_call_end|>", "<|tool_calls_section_end|>"},
        .lead = "<|tool_calls_section_begin|><|tool_call_begin|>functions.",
        .middle = ":0<|tool_call_argument_begin|>"}},
      {"<tool_call>",  // Hermes and its followers
       {.opens = {"<tool_call>"},
        .closes = {"</tool_call>"},
        .lead = "<tool_call>\n{\"name\": \"",
        .middle = R"(", "arguments": )"}},
      {"<|tool_call|>",  // Granite
       {.opens = {"<|tool_call|>"}, .lead = R"(<|tool_call|>[{"name": ")", .middle = R"(", "arguments": )"}},
      {"[TOOL_CALLS]",  // Mistral
       {.opens = {"[TOOL_CALLS]"}, .lead = R"([TOOL_CALLS][{"name": ")", .middle = R"(", "arguments": )"}},
  };
  for (const auto& [mark, form] : forms) {
    if (source.contains(mark)) return form;
  }
  return generic_tool_form();
}

}  // namespace spectr
