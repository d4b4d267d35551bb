#include <fmt/format.h>

#include <ctime>
#include <memory>
#include <utility>

#include "spectr/base/os/local_time.h"
#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/sequences.h"

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
  // Computed without signs: neither the distance nor the number after the last one need fit in 64 bits.
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

/// Returns the members of a mapping or a list of pairs, if given, and the named arguments.
Dict members_from(Run& run, std::string_view callee, const Arguments& arguments) {
  Dict members;
  if (arguments.positional.size() > 1)
    throw TemplateError(fmt::format("{} takes one mapping, and named values", callee));
  if (arguments.positional.size() == 1 && arguments[0].mapping() != nullptr) {
    members.members = arguments[0].mapping()->members;
  } else if (arguments.positional.size() == 1 && arguments[0].list() == nullptr) {
    throw TemplateError(fmt::format("{} takes one mapping, and named values", callee));
  } else if (arguments.positional.size() == 1) {
    for (const Value& pair : members_of(run, arguments[0])) {
      const List both = members_of(run, pair);
      if (both.size() != 2)
        throw TemplateError(fmt::format("{} takes a mapping, or a list of pairs", callee));
      run.set_member(members, both[0], both[1]);
    }
  }
  for (const auto& [name, value] : arguments.named) run.set_member(members, MarkedText(name), value);
  return members;
}

Value make_namespace(Run& run, const Arguments& arguments) {
  Dict members = members_from(run, "namespace", arguments);
  members.kind = Dict::Kind::space;
  return run.made(std::move(members));
}

Value make_dict(Run& run, const Arguments& arguments) {
  return run.made(members_from(run, "dict", arguments));
}

/// Returns an object whose `next` returns the values in turn, and whose `current` is the one that comes next.
Value make_cycler(Run& run, const Arguments& arguments) {
  if (arguments.positional.empty() || !arguments.named.empty())
    throw TemplateError("cycler takes the values that take turns");
  auto object = std::make_shared<Dict>();
  object->kind = Dict::Kind::object;
  const auto at = std::make_shared<std::size_t>(0);
  const auto go_to = [at, object = std::weak_ptr(object), values = arguments.positional](std::size_t i) {
    *at = i % values.size();
    if (const auto cycler = object.lock()) cycler->set("current", values[*at]);
  };
  const Function next = [at, go_to, values = arguments.positional](Run&, const Arguments& none) {
    none.bound("next", {});
    Value now = values[*at];
    go_to(*at + 1);
    return now;
  };
  const Function reset = [go_to](Run&, const Arguments& none) {
    none.bound("reset", {});
    go_to(0);
    return Value(None{});
  };
  object->members = {{"current", arguments[0]}, {"next", next}, {"reset", reset}};
  return run.made(std::move(object));
}

/// Returns a function that returns an empty string first and then always the separator.
Value make_joiner(Run&, const Arguments& arguments) {
  const auto begun = std::make_shared<bool>(false);
  const Value between = arguments[0].is_undefined() ? Value(", ") : arguments[0];
  return Function([begun, between](Run&, const Arguments& none) {
    none.bound("joiner", {});
    return std::exchange(*begun, true) ? between : Value("");
  });
}

/// Returns today's date in a format of C's strftime.
Value strftime_now(Run&, const Arguments& arguments) {
  const MarkedText form = arguments[0].text();
  const std::tm local = local_time(std::time(nullptr));
  char out[256];
  const std::size_t n = std::strftime(out, sizeof out, form.bytes().c_str(), &local);
  if (n == 0 && form.size() > 0)
    throw TemplateError(fmt::format("strftime_now gives no text for '{}'", form.bytes()));
  return MarkedText(std::string(out, n), !form.quotes().empty());
}

/// Wraps a function with one parameter, which is required if `needed` is 1.
Function with_one(std::string_view name, std::string_view parameter, Function apply, std::size_t needed = 1) {
  return [name, parameter, apply = std::move(apply), needed](Run& run, const Arguments& arguments) {
    return apply(run, arguments.bound(name, {&parameter, 1}, needed));
  };
}

}  // namespace

void add_functions(Run& run) {
  run.set("raise_exception", with_one("raise_exception", "message", raise));
  run.set("range", Function(range));
  run.set("namespace", Function(make_namespace));
  run.set("dict", Function(make_dict));
  run.set("cycler", Function(make_cycler));
  run.set("joiner", with_one("joiner", "sep", make_joiner, 0));
  run.set("strftime_now", with_one("strftime_now", "format", strftime_now));
}

}  // namespace spectr::jinja
