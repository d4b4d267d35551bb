#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "spectr/base/utf8.h"
#include "spectr/text/jinja/letters.h"
#include "spectr/text/jinja/value.h"

namespace spectr::jinja {
namespace {

/// Returns Python's repr without the quotes.
std::string repr_of(std::string_view text, char quote) {
  std::string out;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    text.remove_prefix(character.size());
    constexpr std::string_view escaped = "\n\r\t\\", names = "nrt\\";
    const std::uint32_t code = code_of(character);
    const bool whole = utf8_length(character) > 0;
    if (const std::size_t which = escaped.find(character[0]); which != std::string_view::npos) {
      out += {'\\', names[which]};
    } else if (character[0] == quote) {
      out += {'\\', quote};
    } else if (whole && !is_printable(code)) {
      out += code < 0x100     ? fmt::format("\\x{:02x}", code)
             : code < 0x10000 ? fmt::format("\\u{:04x}", code)
                              : fmt::format("\\U{:08x}", code);
    } else {
      out += character;
    }
  }
  return out;
}

/// Escapes a text for JSON; with `ascii`, all non-ASCII characters, too. Invalid UTF-8 is replaced.
std::string json_of(std::string_view text, bool ascii) {
  std::string out;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    text.remove_prefix(character.size());
    constexpr std::string_view escaped = "\"\\\b\f\n\r\t", names = "\"\\bfnrt";
    const std::uint32_t code = utf8_length(character) == 0 ? 0xFFFD : code_of(character);
    if (const std::size_t which = escaped.find(character[0]); which != std::string_view::npos) {
      out += {'\\', names[which]};
    } else if (code < 0x20 || (ascii && code > 0x7E && code < 0x10000)) {
      out += fmt::format("\\u{:04x}", code);
    } else if (ascii && code >= 0x10000) {
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD7C0 + (code >> 10), 0xDC00 + (code & 0x3FF));
    } else {
      append_utf8(code, out);
    }
  }
  return out;
}

/// Writes values in Python's notation or as JSON.
class Writer {
 public:
  Writer(bool python, const JsonStyle& style) : python_(python), style_(style) {}

  void write(const Value& value) {
    if (const List* list = value.list()) {
      write_list(*list);
    } else if (const Dict* dict = value.dict()) {
      if (!dict->is_mapping()) return write_object(value);
      write_dict(*dict);
    } else if (const MarkedText* text = value.marked()) {
      write_string(*text);
    } else if (const bool* truth = value.as<bool>(); truth != nullptr && !python_) {
      out_.append(*truth ? "true" : "false");
    } else if (const double* real = value.as<double>();
               real != nullptr && !python_ && !std::isfinite(*real)) {
      out_.append(std::isnan(*real) ? "NaN" : *real > 0.0 ? "Infinity" : "-Infinity");
    } else if (value.is_none() && !python_) {
      out_.append("null");
    } else if (value.is_undefined() && python_) {
      out_.append("Undefined");
    } else if (value.is_undefined() || value.function() != nullptr) {
      refuse(value.kind());
    } else {
      out_.append(value.text());
    }
  }

  MarkedText take() { return std::move(out_); }

 private:
  template <class Members, class WriteMember>
  void write_members(std::string_view brackets, const Members& members, WriteMember write_member) {
    out_.append(brackets.substr(0, 1));
    ++depth_;
    bool first = true;
    for (const auto& member : members) {
      if (!first) out_.append(style_.between);
      break_line();
      write_member(member);
      first = false;
    }
    --depth_;
    if (!first) break_line();
    out_.append(brackets.substr(1));
  }

  void write_list(const List& list) {
    static constexpr std::pair<Sequence, std::string_view> views[] = {
        {Sequence::keys, "dict_keys("}, {Sequence::values, "dict_values("}, {Sequence::items, "dict_items("}};
    const auto view = std::ranges::find(views, list.kind, &std::pair<Sequence, std::string_view>::first);
    const bool is_view = view != std::end(views);
    if (list.is_generator() || (is_view && !python_)) refuse(is_view ? "a view of a mapping" : "a generator");
    if (is_view) out_.append(view->second);
    const bool tuple = list.is_tuple() && python_;
    write_members(!tuple             ? "[]"
                  : list.size() == 1 ? "(,)"
                                     : "()",
                  list, [this](const Value& member) { write(member); });
    if (is_view) out_.append(")");
  }

  [[noreturn]] void refuse(std::string_view kind) const {
    throw TemplateError(fmt::format("{} cannot be written as {}", kind, python_ ? "text" : "JSON"));
  }

  void write_object(const Value& value) {
    const Dict& dict = *value.dict();
    if (!python_ || (!dict.is_space() && dict.shown.empty())) refuse(value.kind());
    if (!dict.is_space()) {
      out_.append(dict.shown);
      return;
    }
    out_.append("<Namespace ");
    write_dict(dict);
    out_.append(">");
  }

  void write_dict(const Dict& dict) {
    const auto write_member = [this](const std::pair<Value, Value>& member) {
      write_key(member.first);
      out_.append(style_.behind_key);
      write(member.second);
    };
    if (!style_.sorted) return write_members("{}", dict.members, write_member);
    std::vector<std::pair<Value, Value>> members = dict.members;
    std::ranges::stable_sort(members, {}, [](const auto& member) { return member.first.text().bytes(); });
    write_members("{}", members, write_member);
  }

  /// Writes a key; in JSON, every key is a string.
  void write_key(const Value& key) {
    if (python_ || key.string() != nullptr) return write(key);
    out_.append("\"");
    write(key);
    out_.append("\"");
  }

  void write_string(const MarkedText& text) {
    const std::string& bytes = text.bytes();
    const char quote = !python_ || (bytes.contains('\'') && !bytes.contains('"')) ? '"' : '\'';
    out_.append(std::string_view(&quote, 1));
    for (const auto& [piece, quoted] : text.pieces())
      out_.append(python_ ? repr_of(piece, quote) : json_of(piece, style_.ascii), quoted);
    out_.append(std::string_view(&quote, 1));
  }

  void break_line() {
    if (!style_.indent) return;
    out_.append("\n");
    for (int i = 0; i < depth_; ++i) out_.append(*style_.indent);
  }

  bool python_;
  const JsonStyle& style_;
  MarkedText out_;
  int depth_ = 0;
};

MarkedText written(const Value& value, bool python, const JsonStyle& style) {
  Writer writer(python, style);
  writer.write(value);
  return writer.take();
}

}  // namespace

MarkedText Value::text() const {
  if (const auto* held = marked()) return *held;
  if (is_undefined()) return {};
  if (is_none()) return MarkedText("None");
  if (const auto* truth = as<bool>()) return MarkedText(*truth ? "True" : "False");
  if (const auto* integer = as<std::int64_t>()) return MarkedText(fmt::format("{}", *integer));
  if (const auto* held = as<double>()) {
    std::string number = fmt::format("{}", *held);
    if (std::isnan(*held)) return MarkedText("nan");
    const bool whole = number.find_first_not_of("-0123456789") == std::string::npos;
    return MarkedText(whole ? number + ".0" : number);
  }
  return written(*this, true, {});
}

MarkedText Value::json(const JsonStyle& style) const {
  return written(*this, false, style);
}

}  // namespace spectr::jinja
