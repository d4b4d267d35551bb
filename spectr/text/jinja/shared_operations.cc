#include <fmt/format.h>

#include "spectr/text/jinja/callables.h"
#include "spectr/text/jinja/text_functions.h"

namespace spectr::jinja {

const std::string& string_of(Run& run, const Value& value, std::string_view callee) {
  if (value.string() == nullptr)
    throw TemplateError(fmt::format("{} takes a string, got {}", callee, value.kind()));
  run.charge(value.string()->size());
  return *value.string();
}

Value items(Run& run, const Value& self, const Arguments&) {
  List pairs;
  if (self.is_undefined()) return pairs;
  if (self.dict() == nullptr) throw TemplateError(fmt::format("items takes a mapping, got {}", self.kind()));
  for (const auto& [key, value] : self.dict()->members) {
    List pair = {key, value};
    pair.is_tuple = true;
    pairs.emplace_back(std::move(pair));
  }
  return run.made(std::move(pairs));
}

Value replace(Run& run, const Value& self, const Arguments& arguments) {
  const std::string &text = string_of(run, self, "replace"), &from = string_of(run, arguments[0], "replace"),
                    &to = string_of(run, arguments[1], "replace");
  if (from.empty()) throw TemplateError("replace takes a first string that is not empty");
  const Value most = arguments[2];
  const bool bounded = !most.is_undefined() && !most.is_none();
  if (bounded && most.as<std::int64_t>() == nullptr) throw TemplateError("replace counts in integers");
  std::int64_t left = bounded ? *most.as<std::int64_t>() : -1;
  std::string out;
  std::size_t at = 0;
  for (std::size_t found; left != 0 && (found = position_of(text, from, at)) != std::string::npos; --left) {
    run.charge(1 + to.size());
    out.append(text, at, found - at).append(to);
    at = found + from.size();
  }
  return run.made(out.append(text, at));
}

Value strip_both(Run& run, const Value& self, const Arguments& arguments) {
  return run.made(strip(run, string_of(run, self, "strip"), arguments[0], true, true));
}
Value upper(Run& run, const Value& self, const Arguments&) {
  return run.made(in_case(string_of(run, self, "upper"), Case::upper));
}
Value lower(Run& run, const Value& self, const Arguments&) {
  return run.made(in_case(string_of(run, self, "lower"), Case::lower));
}
Value capitalize(Run& run, const Value& self, const Arguments&) {
  return run.made(in_case(string_of(run, self, "capitalize"), Case::first_upper));
}

}  // namespace spectr::jinja
