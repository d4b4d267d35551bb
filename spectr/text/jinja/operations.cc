#include "spectr/text/jinja/operations.h"

#include <fmt/format.h>

#include <algorithm>

#include "spectr/text/jinja/arithmetic.h"
#include "spectr/text/jinja/builtins/text_functions.h"
#include "spectr/text/jinja/format.h"
#include "spectr/text/jinja/sequences.h"

namespace spectr::jinja {
namespace {

[[noreturn]] void mismatch(std::string_view symbol, const Value& a, const Value& b) {
  throw TemplateError(fmt::format("{} and {} do not go with '{}'", a.kind(), b.kind(), symbol));
}

bool equal_lists(Run& run, const List& a, const List& b) {
  const auto kind = [](const List& list) { return list.is_tuple() ? Sequence::tuple : list.kind; };
  return kind(a) == kind(b) && !a.is_generator() &&
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
  if (const auto* members = whole.list(); members != nullptr && !members->is_generator())
    return std::ranges::any_of(*members, [&](const Value& member) { return equal(run, member, part); });
  if (const auto* members = whole.list()) {
    while (!members->empty()) {
      if (equal(run, next_of(run, whole), part)) return true;
    }
    return false;
  }
  if (const auto* dict = whole.mapping()) return run.member(*dict, part) != nullptr;
  if (whole.is_undefined()) return false;
  mismatch("in", part, whole);
}

/// Repeats a list or a text the given number of times.
Value repeated(Run& run, const Value& whole, std::int64_t times) {
  if (const MarkedText* text = whole.marked()) {
    MarkedText out;
    for (std::int64_t i = 0; i < times; ++i) {
      run.charge(1 + text->size());
      out.append(*text);
    }
    return run.made(std::move(out));
  }
  const List& list = *whole.list();
  List out;
  out.kind = list.is_tuple() ? Sequence::tuple : Sequence::list;
  for (std::int64_t i = 0; i < times; ++i) {
    run.charge(1 + sizeof(Value) * list.size());
    out.insert(out.end(), list.begin(), list.end());
  }
  return run.made(std::move(out));
}

/// True if both are lists or both are tuples.
bool are_of_one_kind(const List* a, const List* b) {
  return a != nullptr && b != nullptr && a->is_indexed() && b->is_indexed() && a->is_tuple() == b->is_tuple();
}

bool can_repeat(const Value& value) {
  return value.string() != nullptr || (value.list() != nullptr && value.list()->is_indexed());
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
  if (a.list() != nullptr && a.list() == b.list()) return true;
  if (a.list() != nullptr && b.list() != nullptr) return equal_lists(run, *a.list(), *b.list());
  if (a.mapping() != nullptr && b.mapping() != nullptr) return equal_dicts(run, *a.dict(), *b.dict());
  if (a.dict() != nullptr) return a.dict() == b.dict();
  if (a.function() != nullptr) return a.function() == b.function();
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

bool less(Run& run, const Value& a, const Value& b) {
  run.charge(sizeof(Value));
  if (const auto *x = a.as<std::int64_t>(), *y = b.as<std::int64_t>(); x != nullptr && y != nullptr)
    return *x < *y;
  if (a.is_number() && b.is_number()) return a.number() < b.number();
  if (are_of_one_kind(a.list(), b.list())) {
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
  if (a.is_number() && b.is_number()) return calculate_number(symbol, a, b);
  if (symbol == "+" && a.string() != nullptr && b.string() != nullptr)
    return run.made(MarkedText(*a.marked()).append(*b.marked()));
  if (symbol == "+" && are_of_one_kind(a.list(), b.list())) {
    List both = *a.list();
    both.kind = a.list()->is_tuple() ? Sequence::tuple : Sequence::list;
    both.insert(both.end(), b.list()->begin(), b.list()->end());
    return run.made(std::move(both));
  }
  const auto is_count = [](const Value& value) { return value.is_number() && value.as<double>() == nullptr; };
  if (symbol == "*" && can_repeat(a) && is_count(b)) return repeated(run, a, integer_value(b));
  if (symbol == "*" && can_repeat(b) && is_count(a)) return repeated(run, b, integer_value(a));
  mismatch(symbol, a, b);
}

Value concatenate(Run& run, const Value& a, const Value& b) {
  run.walk(a);
  run.walk(b);
  return run.made(a.text().append(b.text()));
}

}  // namespace spectr::jinja
