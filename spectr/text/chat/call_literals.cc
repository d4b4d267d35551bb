#include "spectr/text/chat/call_literals.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "spectr/text/chat/call_space.h"

namespace spectr {
namespace {

using Literal = nlohmann::ordered_json;

constexpr std::string_view gemma_quote = R"(<|"|>)";
constexpr int max_literal_depth = 64;

/// A cursor in literals of JSON, Python and Gemma 4. The three syntaxes do not conflict.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : rest_(text) {}

  /// Takes a mark, after white space. Returns true if it is present.
  bool take(std::string_view mark) {
    skip_space();
    if (!rest_.starts_with(mark)) return false;
    rest_.remove_prefix(mark.size());
    return true;
  }

  bool at_end() {
    skip_space();
    return rest_.empty();
  }

  std::string_view take_name(const ToolSet& tools) {
    skip_space();
    const std::string_view name = tools.prefix_of(rest_);
    rest_.remove_prefix(name.size());
    return name;
  }

  /// Reads KEY separator VALUE, … up to the end mark, which is taken, too.
  std::optional<Literal> members(std::string_view separator, std::string_view end, int depth) {
    Literal object = Literal::object();
    while (!take(end)) {
      if (!object.empty() && !take(",")) return std::nullopt;
      if (take(end)) break;  // after a comma
      auto key = read_key(separator);
      if (!key || !take(separator)) return std::nullopt;
      auto value = read(depth + 1);
      if (!value) return std::nullopt;
      object[*std::move(key)] = *std::move(value);
    }
    return object;
  }

 private:
  void skip_space() { rest_.remove_prefix(after_space(rest_)); }

  std::optional<std::string> read_key(std::string_view separator) {
    skip_space();
    if (rest_.starts_with(gemma_quote) || rest_.starts_with('"') || rest_.starts_with('\'')) {
      const auto text = read_text();
      return text ? std::optional(text->get<std::string>()) : std::nullopt;
    }
    const std::size_t size = rest_.find(separator);
    if (size == std::string_view::npos) return std::nullopt;
    std::string key(without_space(rest_.substr(0, size)));
    rest_.remove_prefix(size);
    return key.empty() || key.find_first_of("{}[](),\"'<>") != std::string::npos ? std::nullopt
                                                                                 : std::optional(key);
  }

  std::optional<Literal> read(int depth) {
    if (depth > max_literal_depth) return std::nullopt;
    skip_space();
    if (rest_.starts_with(gemma_quote) || rest_.starts_with('"') || rest_.starts_with('\''))
      return read_text();
    if (take("{")) return members(":", "}", depth);
    if (take("[")) return read_list("]", depth);
    if (take("(")) return read_list(")", depth);
    return read_word();
  }

  std::optional<Literal> read_list(std::string_view end, int depth) {
    Literal list = Literal::array();
    while (!take(end)) {
      if (!list.empty() && !take(",")) return std::nullopt;
      if (take(end)) break;
      auto value = read(depth + 1);
      if (!value) return std::nullopt;
      list.push_back(*std::move(value));
    }
    return list;
  }

  /// Reads a constant or a number.
  std::optional<Literal> read_word() {
    const std::string_view word = rest_.substr(0, rest_.find_first_of(",]}) \t\r\n"));
    rest_.remove_prefix(word.size());
    if (word == "True") return true;
    if (word == "False") return false;
    if (word == "None") return Literal(nullptr);
    Literal value = Literal::parse(word, nullptr, false);
    return value.is_discarded() ? std::nullopt : std::optional(std::move(value));
  }

  /// Reads a string between quotes of any kind.
  std::optional<Literal> read_text() {
    if (take(gemma_quote)) {
      const std::size_t size = rest_.find(gemma_quote);
      if (size == std::string_view::npos) return std::nullopt;
      Literal text = std::string(rest_.substr(0, size));
      rest_.remove_prefix(size + gemma_quote.size());
      return text;
    }
    constexpr std::string_view json_escapes = "\"\\/bfnrtu";
    const char quote = rest_.front();
    std::string json = "\"";
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (c == quote) {
        rest_.remove_prefix(i + 1);
        Literal text = Literal::parse(json + '"', nullptr, false);
        return text.is_discarded() ? std::nullopt : std::optional(std::move(text));
      }
      if (c == '\\' && i + 1 < rest_.size()) {
        const char escaped = rest_[++i];
        // An unknown escape keeps its backslash, as in Python.
        json += escaped == '\'' ? "" : json_escapes.contains(escaped) ? "\\" : "\\\\";
        json += escaped;
      } else if (c == '"') {
        json += "\\\"";
      } else if (static_cast<unsigned char>(c) < 0x20) {
        json += fmt::format("\\u{:04x}", c);
      } else {
        json += c;
      }
    }
    return std::nullopt;
  }

  std::string_view rest_;
};

std::string dumped_literal(const Literal& value) {
  return value.dump(-1, ' ', false, Literal::error_handler_t::replace);
}

std::optional<ToolCall> read_call(LiteralReader& reader, const ToolSet& tools, std::string_view open,
                                  std::string_view separator, std::string_view close) {
  const std::string_view name = reader.take_name(tools);
  if (name.empty() || !reader.take(open)) return std::nullopt;
  const auto arguments = reader.members(separator, close, 0);
  if (!arguments) return std::nullopt;
  return ToolCall{"", std::string(name), dumped_literal(*arguments)};
}

}  // namespace

std::optional<ToolCall> read_gemma_call(std::string_view text, const ToolSet& tools) {
  LiteralReader reader(text);
  auto call = read_call(reader, tools, "{", ":", "}");
  return call && reader.at_end() ? call : std::nullopt;
}

std::optional<std::vector<ToolCall>> read_python_calls(std::string_view text, const ToolSet& tools) {
  LiteralReader reader(text);
  if (!reader.take("[")) return std::nullopt;
  std::vector<ToolCall> calls;
  while (!reader.take("]")) {
    if (!calls.empty() && !reader.take(",")) return std::nullopt;
    auto call = read_call(reader, tools, "(", "=", ")");
    if (!call) return std::nullopt;
    calls.push_back(*std::move(call));
  }
  return calls.empty() || !reader.at_end() ? std::nullopt : std::optional(std::move(calls));
}

std::string python_arguments(std::string_view json) {
  const auto python = [](const Literal& value) -> std::string {
    if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
    return value.is_null() ? "None" : dumped_literal(value);
  };
  const Literal arguments = Literal::parse(json, nullptr, false);
  std::string text;
  for (const auto& [name, value] : arguments.items()) {
    if (!text.empty()) text += ", ";
    text += name + "=" + python(value);
  }
  return text;
}

}  // namespace spectr
