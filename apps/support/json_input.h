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

// JSON that somebody else wrote: as long, as deep and as wrong as it likes.
namespace spectr {

/// Lists and objects in each other that are read; every level costs stack when they are copied or printed.
constexpr std::size_t max_json_depth = 32;

/// Bytes of what strangers wrote that stand in a message.
constexpr std::size_t max_shown = 40;

/// The first `limit` bytes of a text and "…", or all of it if it is not longer. No character is cut in two.
inline std::string shortened(std::string_view text, std::size_t limit) {
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t next = end + first_character(text.substr(end)).size();
    if (next > limit) return std::string(text.substr(0, end)) + "…";
    end = next;
  }
  return std::string(text);
}

/// A value in a message.
template <class Json>
std::string shown(const Json& value) {
  return shortened(value.dump(-1, ' ', false, Json::error_handler_t::replace), max_shown);
}

/// Looks at a text without making values of it, as far as the first thing that is refused.
class JsonInspection final : public JsonInput::json_sax_t {
 public:
  explicit JsonInspection(std::size_t max_values) : left_(max_values), max_values_(max_values) {}

  /// What is wrong; nothing: the text may be read.
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
    // The parser's own number and place ("[json.exception…] parse error at line 1, column 2: …") are left
    // out, as is what it had read. The rest needs no escaping: it quotes nothing but numbers.
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
  std::vector<std::set<std::string>> names_;  // of the lists and objects that are open; a list has none
  std::optional<Error> refusal_;
};

/// The value that a text is. Error: it is no JSON, deeper than `max_json_depth`, has more values than that,
/// or an object in it has a name twice, of which others may take another one; says so without a subject. Time
/// and memory are those of the text's length.
inline Result<JsonInput> parse_json(const std::string& text,
                                    std::size_t max_values = std::numeric_limits<std::size_t>::max()) {
  // Not by the parser's callback, which takes as long as the square of what a list holds.
  JsonInspection inspection(max_values);
  JsonInput::sax_parse(text, &inspection);
  if (inspection.refusal()) return std::unexpected(*inspection.refusal());
  return JsonInput::parse(text);
}

}  // namespace spectr
