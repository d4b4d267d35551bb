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
constexpr std::size_t min_mark = 3;  // bytes; shorter ones are JSON punctuation

/// Appends the marks in a text. A mark ends with ">" or "]" before the next one begins with "<" or "[".
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

/// Positions of the parts of the first probe call in a text.
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

/// A form while it is derived, with the begin and end of the call in the text and the end of its arguments.
struct Derived {
  ToolForm form;
  std::size_t begin, end, arguments_end;
};

/// Derives {"name": …, "arguments": {…}} from the first object that holds the name and the arguments.
std::optional<Derived> json_call(std::string_view text, const Places& at, std::size_t arguments) {
  const std::size_t length = JsonExtent::length_of(text.substr(arguments));
  for (std::size_t begin = text.find('{'); begin < at.name; begin = text.find('{', begin + 1)) {
    const std::size_t end = begin + JsonExtent::length_of(text.substr(begin));
    if (end < at.after_values) continue;
    ToolForm form{.kind = ToolForm::Kind::json};
    form.middle = text.substr(at.after_name, arguments - at.after_name);
    return Derived{std::move(form), begin, end, arguments + length};
  }
  return std::nullopt;
}

std::optional<Derived> named_call(std::string_view text, const Places& at, std::size_t arguments) {
  const std::size_t length = JsonExtent::length_of(text.substr(arguments));
  if (length == 0) return std::nullopt;
  ToolForm form{.kind = ToolForm::Kind::named};
  form.middle = text.substr(at.after_name, arguments - at.after_name);
  return Derived{std::move(form), at.name, arguments + length, arguments + length};
}

std::optional<Derived> tagged_call(std::string_view text, const Places& at) {
  const std::string_view before_key = text.substr(at.after_name, at.key - at.after_name);
  const std::size_t tag = before_key.rfind('<');
  if (tag == nowhere_in_call) return std::nullopt;
  ToolForm form{.kind = ToolForm::Kind::tagged};
  form.middle = before_key.substr(0, tag);
  form.key_open = without_space(before_key.substr(tag));
  form.value_lead = text.substr(at.after_key, at.value - at.after_key);
  form.key_close = without_space(form.value_lead);
  const std::size_t after_value = at.value + ProbeCall::values[0].size();
  const std::string_view between = text.substr(after_value, at.other_key - after_value);
  const std::size_t next = between.rfind(form.key_open);
  if (next == nowhere_in_call || form.key_close.empty()) return std::nullopt;
  form.value_close = without_space(between.substr(0, next));
  if (form.value_close.empty()) return std::nullopt;
  const std::size_t close = text.find(form.value_close, at.after_values);
  if (close == nowhere_in_call) return std::nullopt;
  const std::size_t end = close + form.value_close.size();
  // White space between two arguments either also follows the last one or only separates them.
  form.value_tail = between.substr(0, next);
  std::size_t arguments_end = at.after_values + form.value_tail.size();
  if (!text.substr(at.after_values).starts_with(form.value_tail)) {
    form.value_tail.resize(before_end_space(form.value_tail));
    arguments_end = end;
  }
  return Derived{std::move(form), at.name, end, arguments_end};
}

/// NAME name_end OPEN<KEY>VALUE OPEN</KEY>…, where OPEN is a mark in front of all tags.
std::optional<Derived> nested_call(std::string_view text, const Places& at) {
  const std::string last = fmt::format("</{}>", ProbeCall::keys[1]);
  const std::size_t close = text.find(last, at.after_values);
  if (close == nowhere_in_call) return std::nullopt;
  const std::string open(text.substr(at.after_values, close - at.after_values));
  const std::string_view middle = text.substr(at.after_name, at.key - at.after_name);
  if (!middle.ends_with(open + '<')) return std::nullopt;
  ToolForm form{.kind = ToolForm::Kind::nested};
  form.middle = middle.substr(0, middle.size() - open.size() - 1);
  form.key_open = open + "<";
  form.key_close = ">";
  form.value_close = open + "</";
  const std::size_t end = close + last.size();
  return Derived{std::move(form), at.name, end, end};
}

/// Appends the marks of a text, each of which begins with `open`.
void add_nested_marks(std::string_view text, std::string_view open, std::vector<std::string>& marks) {
  for (std::size_t begin = text.find(open); begin != nowhere_in_call;) {
    const std::size_t next = text.find(open, begin + open.size());
    marks.emplace_back(without_space(text.substr(begin, std::min(next, text.size()) - begin)));
    begin = next;
  }
}

/// NAME{KEY:<|"|>VALUE<|"|>,…}
std::optional<Derived> gemma_call(std::string_view text, const Places& at) {
  const std::size_t end = text.find('}', at.after_values);
  if (end == nowhere_in_call) return std::nullopt;
  return Derived{{.kind = ToolForm::Kind::gemma}, at.name, end + 1, end + 1};
}

/// Derives NAME(KEY="VALUE", …).
std::optional<Derived> python_call(std::string_view text, const Places& at) {
  const std::size_t end = text.find(')', at.after_values);
  if (end == nowhere_in_call) return std::nullopt;
  return Derived{{.kind = ToolForm::Kind::python, .middle = "("}, at.name, end + 1, end};
}

std::optional<Derived> derive(std::string_view text, const Places& at) {
  const auto is_between = [&](std::size_t begin, std::size_t end, std::string_view expected) {
    return text.substr(begin, end - begin) == expected;
  };
  if (is_between(at.after_name, at.key, "{") && is_between(at.after_key, at.value, R"(:<|"|>)"))
    return gemma_call(text, at);
  if (is_between(at.after_name, at.key, "(") && is_between(at.after_key, at.value, "=\""))
    return python_call(text, at);
  if (text[at.key - 1] == '<' && is_between(at.after_key, at.value, ">")) {
    if (auto found = nested_call(text, at)) return found;
  }
  const bool quotes_name = at.name > 0 && text[at.name - 1] == '"';
  if (text[at.key - 1] != '"' || text[at.after_key] != '"') return tagged_call(text, at);
  const std::size_t arguments = text.rfind('{', at.key);
  if (arguments == nowhere_in_call || arguments < at.after_name) return tagged_call(text, at);
  if (quotes_name) {
    if (auto found = json_call(text, at, arguments)) return found;
  }
  return named_call(text, at, arguments);
}

/// Returns a regular expression of `text` that accepts any number where `other` has another one. Returns an
/// empty string if they do not differ in a number.
std::string digits_where_they_differ(std::string_view text, std::string_view other) {
  std::size_t begin = 0, end = 0;
  while (begin < std::min(text.size(), other.size()) && text[begin] == other[begin]) ++begin;
  const std::size_t rest = std::min(text.size(), other.size()) - begin;
  while (end < rest && text[text.size() - 1 - end] == other[other.size() - 1 - end]) ++end;
  const std::string_view number = text.substr(begin, text.size() - end - begin);
  if (number.empty() || number.find_first_not_of("0123456789") != nowhere_in_call) return {};
  return escaped_pattern(text.substr(0, begin)) + "[0-9]+" + escaped_pattern(text.substr(text.size() - end));
}

/// Adds what a second call shows: the text between calls, and whether calls are numbered.
void add_second_call(ToolForm& form, std::string_view one, std::string_view two, std::size_t arguments_end) {
  const std::size_t other = two.find(ProbeCall::other_name, arguments_end);
  form.parallel = other != nowhere_in_call && two.starts_with(one.substr(0, arguments_end));
  if (!form.parallel) return;
  form.joint = two.substr(arguments_end, other - arguments_end);
  const std::size_t key = two.find(ProbeCall::keys[0], other);
  const std::string_view after_other = two.substr(other + ProbeCall::other_name.size());
  const std::string_view header = after_other.substr(0, key - (two.size() - after_other.size()));
  const std::string_view middle = header.substr(0, std::min(header.rfind('{'), header.size()));
  if (form.kind == ToolForm::Kind::named && !form.middle.contains(ProbeCall::ids[0]))
    form.middle_pattern = digits_where_they_differ(form.middle, middle);
}

}  // namespace

std::string escaped_pattern(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view(R"(\^$.|?*+()[]{}/)").contains(c)) out += '\\';
    out += c;
  }
  return out;
}

std::vector<std::string> around_other_values(std::string_view text) {
  constexpr std::string_view is_string = R"(string="true")", is_none = R"(string="false")";
  constexpr std::string_view type = R"(type="string")";
  constexpr const char* others[] = {"number", "boolean", "object", "array", "null"};
  std::vector<std::string> all;
  if (const std::size_t at = text.find(is_string); at != nowhere_in_call) {
    all.emplace_back(text).replace(at, is_string.size(), is_none);
  } else if (const std::size_t place = text.find(type); place != nowhere_in_call) {
    for (const char* const other : others)
      all.emplace_back(text).replace(place, type.size(), fmt::format(R"(type="{}")", other));
  }
  return all;
}

std::string ProbeCall::arguments() {
  return fmt::format(R"({{"{}": "{}", "{}": "{}"}})", keys[0], values[0], keys[1], values[1]);
}

std::string_view difference(std::string_view text, std::string_view other) {
  std::size_t begin = 0, end = text.size(), other_end = other.size();
  while (begin < end && begin < other_end && text[begin] == other[begin]) ++begin;
  for (; end > begin && other_end > begin && text[end - 1] == other[other_end - 1]; --other_end) --end;
  // Tags such as <|START_ACTION|> and <|START_RESPONSE|> share a prefix or a suffix.
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
  form.tail = one.substr(derived->arguments_end);
  form.tail.resize(before_end_space(form.tail));
  if (form.kind == ToolForm::Kind::json && without_space(before).ends_with('[')) {
    before = before.substr(0, before.rfind('['));
    after.remove_prefix(std::min(after.find(']') + 1, after.size()));
  }
  if (form.kind == ToolForm::Kind::nested && form.key_open.size() > min_mark) {
    const std::string_view open = std::string_view(form.key_open).substr(0, form.key_open.size() - 1);
    add_nested_marks(before, open, form.opens);
    add_nested_marks(after, open, form.closes);
  } else {
    add_marks(before, form.opens);
    add_marks(after, form.closes);
  }
  add_second_call(form, one, two, derived->arguments_end);
  return std::move(derived->form);
}

const ToolForm& generic_tool_form() {
  static const ToolForm form{
      .lead = R"({"name": ")", .middle = R"(", "arguments": )", .joint = "}\n{\"name\": \"", .tail = "}"};
  return form;
}

const ToolForm& harmony_tool_form(std::string_view source) {
  static const ToolForm functions{
      .kind = ToolForm::Kind::named,
      .opens = {std::string(harmony_call_open)},
      .lead = std::string(harmony_call_open),
      .middle = " <|constrain|>json<|message|>",
      .middle_pattern = R"((<\|channel\|>(commentary|analysis))?( ?<\|constrain\|>json| json)?<\|message\|>)",
      .trigger = "to=functions.",
      .parallel = false};
  // Muse Glimmer. The header names the tool, too, which constraints cannot express.
  static const ToolForm tags{
      .kind = ToolForm::Kind::tagged,
      .opens = {std::string(harmony_call_middle) + "<atem:function_calls>\n<atem:invoke name=\""},
      .closes = {"</atem:invoke>", "</atem:function_calls>"},
      .key_open = "<atem:parameter name=\"",
      .key_close = "\">",
      .value_close = "</atem:parameter>",
      .middle = "\">\n",
      .value_lead = "\">",
      .value_tail = "</atem:parameter>\n"};
  return source.contains("<atem:function_calls>") ? tags : functions;
}

const ToolForm& known_tool_form(std::string_view source) {
  using Kind = ToolForm::Kind;
  const auto json_in = [](std::string open, std::string begin, std::string end, std::string close) {
    ToolForm form{.opens = {open}, .middle = R"(", "arguments": )"};
    form.lead = open + begin + R"({"name": ")";
    form.tail = "}" + end + close;
    form.joint = close.empty() ? R"(}, {"name": ")" : form.tail + "\n" + form.lead;
    if (!close.empty()) form.closes = {close};
    return form;
  };
  static const std::pair<std::string_view, ToolForm> forms[] = {
      {"List of tools: ",  // LFM2
       {.kind = Kind::python,
        .opens = {"<|tool_call_start|>"},
        .closes = {"<|tool_call_end|>"},
        .lead = "<|tool_call_start|>[",
        .middle = "(",
        .joint = "), ",
        .tail = ")]<|tool_call_end|>"}},
      {"<|im_middle|>",  // Kimi K2, which names calls by their ids
       {.kind = Kind::named,
        .opens = {"<|tool_calls_section_begin|>", "<|tool_call_begin|>"},
        .closes = {"<|tool_call_end|>", "<|tool_calls_section_end|>"},
        .lead = "<|tool_calls_section_begin|><|tool_call_begin|>functions.",
        .middle = ":0<|tool_call_argument_begin|>",
        .joint = "<|tool_call_end|><|tool_call_begin|>functions.",
        .tail = "<|tool_call_end|><|tool_calls_section_end|>",
        .middle_pattern = R"(:[0-9]+<\|tool_call_argument_begin\|>)"}},
      {"open_tag('call'",  // Kimi K3
       {.kind = Kind::tagged,
        .opens = {"<|open|>tools<|sep|>", "<|open|>call tool=\""},
        .closes = {"<|close|>call<|sep|>", "<|close|>tools<|sep|>"},
        .key_open = "<|open|>argument key=\"",
        .key_close = "\" type=\"string\"<|sep|>",
        .value_close = "<|close|>argument<|sep|>",
        .lead = "<|open|>response<|sep|><|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool=\"",
        .middle = "\" index=\"1\"<|sep|>",
        .joint = "<|close|>call<|sep|><|open|>call tool=\"",
        .tail = "<|close|>call<|sep|><|close|>tools<|sep|>",
        .middle_pattern = R"(" index="[0-9]+"<\|sep\|>)",
        .value_lead = "\" type=\"string\"<|sep|>",
        .value_tail = "<|close|>argument<|sep|>"}},
      {"<tool_call>", json_in("<tool_call>", "\n", "\n", "</tool_call>")},  // Hermes and its followers
      {"<|tool_call|>", json_in("<|tool_call|>", "[", "]", "")},            // Granite
      {"[TOOL_CALLS]", json_in("[TOOL_CALLS]", "[", "]", "")},              // Mistral
  };
  for (const auto& [mark, form] : forms) {
    if (source.contains(mark)) return form;
  }
  return generic_tool_form();
}

}  // namespace spectr
