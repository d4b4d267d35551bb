#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "apps/chat/nodes.h"

namespace spectr::chat {
namespace {

constexpr std::int64_t longest_range = 100'000;

[[noreturn]] Value raise(Run&, const Arguments& arguments) {
  throw TemplateError(arguments.get(0, "message").text());
}

Value range(Run&, const Arguments& arguments) {
  std::int64_t bounds[] = {0, 0, 1};
  const std::size_t n = arguments.positional.size();
  if (n < 1 || n > 3) throw TemplateError("range takes one to three integers");
  for (std::size_t i = 0; i < n; ++i) {
    const auto* integer = arguments.positional[i].as<std::int64_t>();
    if (integer == nullptr) throw TemplateError("range takes integers");
    bounds[n == 1 ? 1 : i] = *integer;
  }
  const auto [begin, end, step] = bounds;
  if (step == 0) throw TemplateError("range in steps of 0");
  List out;
  for (std::int64_t i = begin; step > 0 ? i < end : i > end; i += step) {
    out.emplace_back(i);
    if (static_cast<std::int64_t>(out.size()) > longest_range) {
      throw TemplateError(fmt::format("a range of more than {} integers", longest_range));
    }
  }
  return out;
}

Value make_namespace(Run&, const Arguments& arguments) {
  Dict members;
  members.members = arguments.named;
  members.is_namespace = true;
  return members;
}

Value make_dict(Run&, const Arguments& arguments) {
  Dict members;
  members.members = arguments.named;
  return members;
}

/// The date of today, in the form that C's strftime knows.
Value strftime_now(Run&, const Arguments& arguments) {
  const std::string form = arguments.get(0, "format").text();
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char out[256];
  return std::string(out, std::strftime(out, sizeof out, form.c_str(), &local));
}

}  // namespace

void add_functions(Run& run) {
  run.set("raise_exception", Function(raise));
  run.set("range", Function(range));
  run.set("namespace", Function(make_namespace));
  run.set("dict", Function(make_dict));
  run.set("strftime_now", Function(strftime_now));
}

}  // namespace spectr::chat
