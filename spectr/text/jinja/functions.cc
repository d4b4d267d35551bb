#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "spectr/text/jinja/nodes.h"

namespace spectr::jinja {
namespace {

constexpr std::int64_t longest_range = 100'000;

[[noreturn]] Value raise(Run&, const Arguments& arguments) {
  throw TemplateError(arguments[0].text().bytes());
}

Value range(Run& run, const Arguments& arguments) {
  std::int64_t bounds[] = {0, 0, 1};
  const std::size_t n = arguments.positional.size();
  if (n < 1 || n > 3 || !arguments.named.empty()) throw TemplateError("range takes one to three integers");
  for (std::size_t i = 0; i < n; ++i) {
    const auto* integer = arguments.positional[i].as<std::int64_t>();
    if (integer == nullptr) throw TemplateError("range takes integers");
    bounds[n == 1 ? 1 : i] = *integer;
  }
  const auto [begin, end, step] = bounds;
  if (step == 0) throw TemplateError("range in steps of 0");
  // Without signs, as neither the distance nor what follows the last integer need be one of 64 bits.
  const auto from = static_cast<std::uint64_t>(begin), to = static_cast<std::uint64_t>(end);
  const auto stride = static_cast<std::uint64_t>(step);
  const std::uint64_t distance = step > 0 ? (begin < end ? to - from : 0) : (end < begin ? from - to : 0);
  const std::uint64_t length = step > 0 ? stride : 0 - stride;
  const std::uint64_t count = distance / length + (distance % length > 0 ? 1 : 0);
  if (count > longest_range) {
    throw TemplateError(fmt::format("a range of more than {} integers", longest_range));
  }
  List out;
  for (std::uint64_t i = 0; i < count; ++i) out.emplace_back(static_cast<std::int64_t>(from + i * stride));
  return run.made(std::move(out));
}

/// A mapping, if one is given, and the named arguments.
Dict members_of(Run& run, std::string_view callee, const Arguments& arguments) {
  Dict members;
  if (arguments.positional.size() > 1 || (arguments.positional.size() == 1 && arguments[0].dict() == nullptr))
    throw TemplateError(fmt::format("{} takes one mapping, and named values", callee));
  if (arguments.positional.size() == 1) members.members = arguments[0].dict()->members;
  for (const auto& [name, value] : arguments.named) run.set_member(members, MarkedText(name), value);
  return members;
}

Value make_namespace(Run& run, const Arguments& arguments) {
  Dict members = members_of(run, "namespace", arguments);
  members.is_namespace = true;
  return run.made(std::move(members));
}

Value make_dict(Run& run, const Arguments& arguments) {
  return run.made(members_of(run, "dict", arguments));
}

/// The date of today, in the form that C's strftime knows.
Value strftime_now(Run&, const Arguments& arguments) {
  const MarkedText form = arguments[0].text();
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char out[256];
  const std::size_t n = std::strftime(out, sizeof out, form.bytes().c_str(), &local);
  if (n == 0 && form.size() > 0)
    throw TemplateError(fmt::format("strftime_now gives no text for '{}'", form.bytes()));
  return MarkedText(std::string(out, n), !form.quotes().empty());
}

/// The function with the one parameter that it has.
Function with_one(std::string_view name, std::string_view parameter, Function apply) {
  return [name, parameter, apply = std::move(apply)](Run& run, const Arguments& arguments) {
    return apply(run, arguments.bound(name, {&parameter, 1}, 1));
  };
}

}  // namespace

void add_functions(Run& run) {
  run.set("raise_exception", with_one("raise_exception", "message", raise));
  run.set("range", Function(range));
  run.set("namespace", Function(make_namespace));
  run.set("dict", Function(make_dict));
  run.set("strftime_now", with_one("strftime_now", "format", strftime_now));
}

}  // namespace spectr::jinja
