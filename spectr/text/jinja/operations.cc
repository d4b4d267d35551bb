#include "spectr/text/jinja/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "spectr/text/jinja/format.h"
#include "spectr/text/jinja/text_functions.h"

namespace spectr::jinja {
namespace {

[[noreturn]] void mismatch(std::string_view symbol, const Value& a, const Value& b) {
  throw TemplateError(fmt::format("{} and {} do not go with '{}'", a.kind(), b.kind(), symbol));
}

bool equal_lists(Run& run, const List& a, const List& b) {
  return a.is_tuple == b.is_tuple &&
         std::ranges::equal(a, b, [&run](const Value& x, const Value& y) { return equal(run, x, y); });
}

bool equal_dicts(Run& run, const Dict& a, const Dict& b) {
  return a.members.size() == b.members.size() && std::ranges::all_of(a.members, [&](const auto& member) {
           const Value* other = run.member(b, member.first);
           return other != nullptr && equal(run, member.second, *other);
         });
}

bool contains(Run& run, const Value& whole, const Value& part) {
  if (const auto* text = whole.string(); text != nullptr && part.string() != nullptr) {
    run.charge(text->size() + part.string()->size());
    return position_of(*text, *part.string()) != std::string::npos;
  }
  if (const auto* members = whole.list())
    return std::ranges::any_of(*members, [&](const Value& member) { return equal(run, member, part); });
  if (const auto* dict = whole.dict()) return run.member(*dict, part) != nullptr;
  if (whole.is_undefined()) return false;
  mismatch("in", part, whole);
}

double quotient(std::string_view symbol, double x, double y) {
  if (y == 0.0) throw TemplateError("a division by zero");
  if (symbol == "/") return x / y;
  return symbol == "//" ? std::floor(x / y) : x - y * std::floor(x / y);
}

Value number(std::string_view symbol, const Value& a, const Value& b) {
  const double x = a.number(), y = b.number();
  double result = 0.0;
  if (symbol == "+") result = x + y;
  if (symbol == "-") result = x - y;
  if (symbol == "*") result = x * y;
  if (symbol == "/" || symbol == "//" || symbol == "%") result = quotient(symbol, x, y);
  if (symbol == "**") result = std::pow(x, y);
  if (!std::isfinite(result)) throw TemplateError(fmt::format("'{}' gives no finite number", symbol));
  const bool real =
      a.as<double>() != nullptr || b.as<double>() != nullptr || symbol == "/" || (symbol == "**" && y < 0.0);
  if (real) return result;
  if (std::abs(result) >= 0x1p53) throw TemplateError(fmt::format("'{}' gives too large an integer", symbol));
  return static_cast<std::int64_t>(result);
}

}  // namespace

bool equal(Run& run, const Value& a, const Value& b) {
  run.charge(sizeof(Value));
  if (const auto *x = a.as<std::int64_t>(), *y = b.as<std::int64_t>(); x != nullptr && y != nullptr)
    return *x == *y;
  if (a.is_number() && b.is_number()) return a.number() == b.number();
  if (a.string() != nullptr && b.string() != nullptr) {
    run.charge(std::min(a.string()->size(), b.string()->size()));
    return *a.string() == *b.string();
  }
  if (a.list() != nullptr && b.list() != nullptr) return equal_lists(run, *a.list(), *b.list());
  if (a.dict() != nullptr && b.dict() != nullptr) return equal_dicts(run, *a.dict(), *b.dict());
  if (a.function() != nullptr) return a.function() == b.function();
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

bool less(Run& run, const Value& a, const Value& b) {
  run.charge(sizeof(Value));
  if (a.is_number() && b.is_number()) return a.number() < b.number();
  if (a.list() != nullptr && b.list() != nullptr && a.list()->is_tuple == b.list()->is_tuple) {
    const auto [x, y] = std::ranges::mismatch(
        *a.list(), *b.list(),
        [&run](const Value& one, const Value& other) { return equal(run, one, other); });
    if (x == a.list()->end() || y == b.list()->end()) return y != b.list()->end();
    return less(run, *x, *y);
  }
  if (a.string() == nullptr || b.string() == nullptr) mismatch("<", a, b);
  run.charge(std::min(a.string()->size(), b.string()->size()));
  return *a.string() < *b.string();
}

bool compare(Run& run, std::string_view symbol, const Value& a, const Value& b) {
  if (symbol == "==") return equal(run, a, b);
  if (symbol == "!=") return !equal(run, a, b);
  if (symbol == "<") return less(run, a, b);
  if (symbol == ">") return less(run, b, a);
  if (symbol == "<=") return !less(run, b, a);
  if (symbol == ">=") return !less(run, a, b);
  return contains(run, b, a) == (symbol == "in");
}

Value calculate(Run& run, std::string_view symbol, const Value& a, const Value& b) {
  if (symbol == "%" && a.string() != nullptr) return format_percent(run, *a.marked(), b);
  if (a.is_number() && b.is_number()) return number(symbol, a, b);
  if (symbol == "+" && a.string() != nullptr && b.string() != nullptr)
    return run.made(MarkedText(*a.marked()).append(*b.marked()));
  if (symbol == "+" && a.list() != nullptr && b.list() != nullptr &&
      a.list()->is_tuple == b.list()->is_tuple) {
    List both = *a.list();
    both.insert(both.end(), b.list()->begin(), b.list()->end());
    return run.made(std::move(both));
  }
  if (const auto* times = b.as<std::int64_t>(); symbol == "*" && a.string() != nullptr && times != nullptr) {
    MarkedText out;
    for (std::int64_t i = 0; i < *times; ++i) {
      run.charge(1 + a.string()->size());
      out.append(*a.marked());
    }
    return run.made(std::move(out));
  }
  mismatch(symbol, a, b);
}

Value concatenate(Run& run, const Value& a, const Value& b) {
  run.walk(a);
  run.walk(b);
  return run.made(a.text().append(b.text()));
}

}  // namespace spectr::jinja
