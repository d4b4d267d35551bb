#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "spectr/text/jinja/value.h"

namespace spectr::jinja {
namespace {

/// How values are written down: Python's repr, or JSON.
struct Notation {
  bool python;
  int indent = -1;  ///< < 0: on one line
};

/// Python's choice of quotes and escapes. Of what is beyond ASCII only controls and the no-break space are
/// escaped.
void write_repr(std::string_view text, std::string& out) {
  const char quote = text.contains('\'') && !text.contains('"') ? '"' : '\'';
  out += quote;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    constexpr std::string_view escaped = "\n\r\t\\", names = "nrt\\";
    if (const std::size_t which = escaped.find(text[i]); which != std::string_view::npos) {
      out += {'\\', names[which]};
    } else if (text[i] == quote) {
      out += {'\\', quote};
    } else if (c < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", c);
    } else if (c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) <= 0xA0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else {
      out += text[i];
    }
  }
  out += quote;
}

void write_string(const std::string& text, Notation notation, std::string& out) {
  if (notation.python) return write_repr(text, out);
  // Not ASCII only: what is no UTF-8 is replaced.
  out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <class Members, class WriteMember>
void write_members(std::string_view brackets, const Members& members, int indent, int depth, std::string& out,
                   WriteMember write_member) {
  out += brackets.front();
  bool first = true;
  for (const auto& member : members) {
    if (!first) out += indent < 0 ? ", " : ",";
    if (indent >= 0) out.append("\n").append(static_cast<std::size_t>(indent * (depth + 1)), ' ');
    write_member(member);
    first = false;
  }
  if (indent >= 0 && !first) out.append("\n").append(static_cast<std::size_t>(indent * depth), ' ');
  out += brackets.substr(1);
}

void write(const Value& value, Notation notation, int depth, std::string& out) {
  if (const List* list = value.list()) {
    const bool tuple = list->is_tuple && notation.python;
    write_members(!tuple              ? "[]"
                  : list->size() == 1 ? "(,)"
                                      : "()",
                  *list, notation.indent, depth, out,
                  [&](const Value& member) { write(member, notation, depth + 1, out); });
  } else if (const Dict* dict = value.dict()) {
    write_members("{}", dict->members, notation.indent, depth, out, [&](const auto& member) {
      write_string(member.first, notation, out);
      out += ": ";
      write(member.second, notation, depth + 1, out);
    });
  } else if (const std::string* text = value.string()) {
    write_string(*text, notation, out);
  } else if (const bool* truth = value.as<bool>(); truth != nullptr && !notation.python) {
    out += *truth ? "true" : "false";
  } else if (value.is_none() && !notation.python) {
    out += "null";
  } else if (value.is_undefined() && notation.python) {
    out += "Undefined";
  } else if (value.is_undefined() || value.function() != nullptr) {
    throw TemplateError(
        fmt::format("{} cannot be written as {}", value.kind(), notation.python ? "text" : "JSON"));
  } else {
    out += value.text();
  }
}

std::string written(const Value& value, Notation notation) {
  std::string out;
  write(value, notation, 0, out);
  return out;
}

}  // namespace

std::string Value::text() const {
  if (const auto* held = string()) return *held;
  if (is_undefined()) return "";
  if (is_none()) return "None";
  if (const auto* truth = as<bool>()) return *truth ? "True" : "False";
  if (const auto* integer = as<std::int64_t>()) return fmt::format("{}", *integer);
  if (const auto* held = as<double>()) {
    std::string number = fmt::format("{}", *held);
    return number.find_first_not_of("-0123456789") == std::string::npos ? number + ".0" : number;
  }
  const std::string repr = written(*this, {.python = true});
  return dict() != nullptr && dict()->is_namespace ? fmt::format("<Namespace {}>", repr) : repr;
}

std::string Value::json(int indent) const {
  return written(*this, {.python = false, .indent = indent});
}

}  // namespace spectr::jinja
