#include <fmt/format.h>

#include "spectr/text/jinja/builtins/callables.h"
#include "spectr/text/jinja/builtins/text_functions.h"
#include "spectr/text/jinja/letters.h"

namespace spectr::jinja {
namespace {

/// Replaces an empty text: inserts `between` before each character and at the end.
Value inserted(Run& run, const MarkedText& text, const MarkedText& between, std::int64_t left) {
  const auto all = characters(text.bytes());
  MarkedText out;
  for (std::size_t i = 0; i <= all.size(); ++i) {
    if (left != 0) {
      run.charge(1 + between.size());
      out.append(between);
      --left;
    }
    if (i < all.size()) out.append(text, all[i]);
  }
  return run.made(std::move(out));
}

}  // namespace

const MarkedText& string_of(Run& run, const Value& value, std::string_view callee) {
  if (value.string() == nullptr)
    throw TemplateError(fmt::format("{} takes a string, got {}", callee, value.kind()));
  run.charge(value.marked()->size());
  return *value.marked();
}

MarkedText text_of(Run& run, const Value& value) {
  run.walk(value);
  return value.text();
}

std::int64_t integer_of(const Value& value, std::int64_t fallback, std::string_view callee, std::int64_t min,
                        std::int64_t max) {
  if (value.is_undefined() || value.is_none()) return fallback;
  const auto* integer = value.as<std::int64_t>();
  if (integer == nullptr)
    throw TemplateError(fmt::format("{} takes an integer, got {}", callee, value.kind()));
  if (*integer < min || *integer > max)
    throw TemplateError(fmt::format("{} takes {} to {}, got {}", callee, min, max, *integer));
  return *integer;
}

Value items(Run& run, const Value& self, const Arguments&) {
  List pairs;
  pairs.kind = Sequence::generator;
  if (self.is_undefined()) return pairs;
  if (self.mapping() == nullptr)
    throw TemplateError(fmt::format("items takes a mapping, got {}", self.kind()));
  for (const auto& [key, value] : self.mapping()->members)
    pairs.emplace_back(List({key, value}, Sequence::tuple));
  return run.made(std::move(pairs));
}

Value replace(Run& run, const Value& self, const Arguments& arguments) {
  const MarkedText text = text_of(run, self), old = text_of(run, arguments[0]),
                   to = text_of(run, arguments[1]);
  const std::string& from = old.bytes();
  const Value most = arguments[2];
  const bool bounded = !most.is_undefined() && !most.is_none();
  if (bounded && most.as<std::int64_t>() == nullptr) throw TemplateError("replace counts in integers");
  std::int64_t left = bounded ? *most.as<std::int64_t>() : -1;
  if (from.empty()) return inserted(run, text, to, left);
  MarkedText out;
  const std::string_view bytes = text.bytes();
  std::size_t at = 0;
  for (std::size_t found; left != 0 && (found = position_of(bytes, from, at)) != std::string::npos; --left) {
    run.charge(1 + to.size());
    out.append(text, bytes.substr(at, found - at)).append(to);
    at = found + from.size();
  }
  return run.made(out.append(text, bytes.substr(at)));
}

Value stripped(Run& run, const MarkedText& text, const Value& characters, bool left, bool right) {
  return run.made(text.part(strip(run, text.bytes(), characters, left, right)));
}
Value strip_both(Run& run, const Value& self, const Arguments& arguments) {
  return stripped(run, text_of(run, self), arguments[0], true, true);
}
Value upper(Run& run, const Value& self, const Arguments&) {
  return run.made(in_case(text_of(run, self), Case::upper));
}
Value lower(Run& run, const Value& self, const Arguments&) {
  return run.made(in_case(text_of(run, self), Case::lower));
}
Value capitalize(Run& run, const Value& self, const Arguments&) {
  return run.made(in_case(text_of(run, self), Case::capitalized));
}

}  // namespace spectr::jinja
