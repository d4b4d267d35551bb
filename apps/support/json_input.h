#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/support/json.h"
#include "spectr/base/names.h"
#include "spectr/base/result.h"
#include "spectr/base/utf8.h"

// Parsing of untrusted JSON, which can be large, deeply nested or malformed.
namespace spectr {

/// Maximum nesting depth of lists and objects; copying and printing use stack for every level.
constexpr std::size_t max_json_depth = 32;

/// Maximum number of bytes of untrusted input that are quoted in a message.
constexpr std::size_t max_shown = 40;

/// Returns the first `limit` bytes of a text and "…", or all of it if it fits. Never splits a character.
inline std::string shortened(std::string_view text, std::size_t limit) {
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t next = end + first_character(text.substr(end)).size();
    if (next > limit) return std::string(text.substr(0, end)) + "…";
    end = next;
  }
  return std::string(text);
}

/// Formats a value for a message.
template <class Json>
std::string shown(const Json& value) {
  return shortened(value.dump(-1, ' ', false, Json::error_handler_t::replace), max_shown);
}

/// Checks a text without building values, up to the first violation.
class JsonInspection final : public JsonInput::json_sax_t {
 public:
  explicit JsonInspection(std::size_t max_values) : left_(max_values), max_values_(max_values) {}

  /// Returns the first violation, or nothing if the text is acceptable.
  const std::optional<Error>& refusal() const { return refusal_; }

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(JsonInput::number_integer_t) override { return value(); }
  bool number_unsigned(JsonInput::number_unsigned_t) override { return value(); }
  bool number_float(JsonInput::number_float_t, const std::string&) override { return value(); }
  bool string(std::string&) override { return value(); }
  bool binary(JsonInput::binary_t&) override { return value(); }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_array() override { return higher(); }
  bool start_object(std::size_t) override { return deeper(); }
  bool end_object() override { return higher(); }
  bool key(std::string& name) override {
    return names_.back().insert(name).second || refuse(error("names '{}' twice", escape(name, max_shown)));
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& failure) override {
    // The parser's own prefix ("[json.exception…] parse error at line 1, column 2: …") and the text that it
    // had read are left out. The rest needs no escaping: it quotes only numbers.
    std::string_view reason = failure.what();
    const auto* at = dynamic_cast<const JsonInput::parse_error*>(&failure);
    reason.remove_prefix(reason.find(at != nullptr ? ": " : "] ") + 2);
    reason = reason.substr(0, reason.find("; last read: "));
    return refuse(error("is not JSON{}: {}", at != nullptr ? fmt::format(" (byte {})", at->byte) : "",
                        shortened(reason, 200)));
  }

 private:
  bool refuse(std::unexpected<Error> why) {
    refusal_ = std::move(why.error());
    return false;
  }
  bool value() {
    if (left_ == 0) return refuse(error("holds more than {} values", max_values_));
    --left_;
    return true;
  }
  bool deeper() {
    names_.emplace_back();
    if (names_.size() > max_json_depth) return refuse(error("is nested more than {} deep", max_json_depth));
    return value();
  }
  bool higher() {
    names_.pop_back();
    return true;
  }

  std::size_t left_, max_values_;
  std::vector<std::set<std::string>> names_;  // member names of the open objects; empty for a list
  std::optional<Error> refusal_;
};

/// Parses a text. Fails if it is not JSON, nests deeper than `max_json_depth`, has more than `max_values`
/// values, or repeats a name within an object, which parsers resolve differently. Error messages have no
/// subject. Linear time and memory.
inline Result<JsonInput> parse_json(const std::string& text,
                                    std::size_t max_values = std::numeric_limits<std::size_t>::max()) {
  // Not the parser's callback, which takes quadratic time in the length of a list.
  JsonInspection inspection(max_values);
  JsonInput::sax_parse(text, &inspection);
  if (inspection.refusal()) return std::unexpected(*inspection.refusal());
  return JsonInput::parse(text);
}

}  // namespace spectr
