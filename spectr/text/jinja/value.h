#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spectr/text/marked_text.h"

namespace spectr::jinja {

class Value;
class Run;

/// An error in a template, or one that it raises. It does not leave the library: Template returns a Result.
class TemplateError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The arguments of a function, filter, test, method or macro.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  /// Returns the i-th argument, or undefined if there are fewer.
  Value operator[](std::size_t i) const;
  /// True if the i-th parameter, of that name, is given, even with an undefined value.
  bool give(std::size_t i, std::string_view name) const;
  /// Returns all arguments as positional ones in the order of the parameters. Throws if one is given twice or
  /// is not a parameter, or if one of the first `needed` is missing. An empty name ends the parameters.
  Arguments bound(std::string_view callee, std::span<const std::string_view> parameters,
                  std::size_t needed = 0) const;
};

/// The Python type of a list. A group is a pair of groupby; keys, values and items are views of a mapping; a
/// generator can be read once.
enum class Sequence { list, tuple, group, keys, values, items, generator };

struct List : std::vector<Value> {
  using std::vector<Value>::vector;
  List(std::vector<Value> members, Sequence kind);

  bool is_tuple() const { return kind == Sequence::tuple || kind == Sequence::group; }
  /// True if it can be indexed.
  bool is_indexed() const { return kind == Sequence::list || is_tuple(); }
  bool is_generator() const { return kind == Sequence::generator; }

  Sequence kind = Sequence::list;
};

struct Dict;

/// A callable value.
struct Function : std::function<Value(Run& run, const Arguments& arguments)> {
  using std::function<Value(Run& run, const Arguments& arguments)>::function;
  int closures = 0;                        ///< nesting depth of the functions that it holds
  std::shared_ptr<const Dict> about = {};  ///< the attributes of a macro, or null
};

/// A mapping in insertion order. Its keys are strings, numbers, truth values and none, with Python's
/// equality: 1, 1.0 and true are equal. Namespaces, whose members can be assigned, and objects such as `loop`
/// have members that are read like attributes; to a template, they are not mappings.
struct Dict {
  enum class Kind { mapping, space, object };

  std::vector<std::pair<Value, Value>> members;

  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  /// Throws if the key is of another kind.
  void set(Value key, Value value);

  bool is_mapping() const { return kind == Kind::mapping; }
  bool is_space() const { return kind == Kind::space; }

  Kind kind = Kind::mapping;
  mutable bool is_member = false;       ///< inside another value: it then accepts no namespaces any more
  std::string shown = {};               ///< printed form of an object; empty: not printable
  std::shared_ptr<Function> call = {};  ///< function of a callable object, or null
};

/// Format of json.dumps.
struct JsonStyle {
  std::optional<MarkedText> indent;  ///< per level, with members on lines of their own; none: all on one line
  MarkedText between{", "};          ///< separator of members
  MarkedText behind_key{": "};
  bool ascii = false;   ///< escape non-ASCII characters
  bool sorted = false;  ///< sort members by their keys
};

struct Undefined {};
struct None {};

/// A value of a template: the Python values of Jinja, as far as chat templates use them. Strings, lists,
/// mappings and functions are shared, not copied. A string tracks which of its bytes came with the request
/// (MarkedText); functions that derive a string from another must preserve these marks.
class Value {
 public:
  using Variant = std::variant<Undefined, None, bool, std::int64_t, double, std::shared_ptr<const MarkedText>,
                               std::shared_ptr<List>, std::shared_ptr<Dict>, std::shared_ptr<Function>>;

  Value() = default;
  Value(None none) : held_(none) {}                // NOLINT(google-explicit-constructor)
  Value(bool truth) : held_(truth) {}              // NOLINT(google-explicit-constructor)
  Value(std::int64_t integer) : held_(integer) {}  // NOLINT(google-explicit-constructor)
  Value(double number) : held_(number) {}          // NOLINT(google-explicit-constructor)
  Value(MarkedText text)                           // NOLINT(google-explicit-constructor)
      : held_(std::make_shared<const MarkedText>(std::move(text))) {}
  Value(const char* text) : Value(MarkedText(text)) {}                  // NOLINT(google-explicit-constructor)
  Value(List list) : held_(std::make_shared<List>(std::move(list))) {}  // NOLINT(google-explicit-constructor)
  Value(Dict dict) : held_(std::make_shared<Dict>(std::move(dict))) {}  // NOLINT(google-explicit-constructor)
  Value(std::shared_ptr<Dict> dict) : held_(std::move(dict)) {}         // NOLINT(google-explicit-constructor)
  Value(Function function)                                              // NOLINT(google-explicit-constructor)
      : held_(std::make_shared<Function>(std::move(function))) {}

  template <class T>
  const T* as() const {
    return std::get_if<T>(&held_);
  }
  const List* list() const;
  /// Returns a mapping, namespace or object, or null.
  Dict* dict() const;
  /// Returns a mapping, or null.
  const Dict* mapping() const;
  const Function* function() const;
  /// Returns the function that a call of the value runs: the value itself, or a callable object's; or null.
  const Function* callable() const;
  const MarkedText* marked() const;
  /// Returns the bytes of a string, or null.
  const std::string* string() const;
  bool is_undefined() const { return as<Undefined>() != nullptr; }
  bool is_none() const { return as<None>() != nullptr; }
  bool is_number() const {
    return as<std::int64_t>() != nullptr || as<double>() != nullptr || as<bool>() != nullptr;
  }
  /// Requires: is_number().
  double number() const;

  /// True in Python's sense: not empty and not zero.
  bool truth() const;
  /// Returns the value as Python prints it.
  MarkedText text() const;
  /// Returns the value as Python's json.dumps writes it.
  MarkedText json(const JsonStyle& style = {}) const;
  /// Returns the bytes that a walk through the value visits; the walk stops once they exceed `most`. Throws
  /// if it is nested too deeply. Namespaces that it visits as members are marked as such.
  std::size_t weight(std::size_t most) const;
  /// Returns the maximum closures of a function in it. Requires: its nesting is within a walk's limit.
  int closures() const;
  /// Returns the total bytes of the strings in it.
  std::size_t bytes() const;
  /// Returns the name of its type, for errors.
  std::string_view kind() const;

 private:
  void weigh(int depth, std::size_t most, std::size_t& bytes) const;
  Variant held_;
};

inline List::List(std::vector<Value> members, Sequence kind)
    : std::vector<Value>(std::move(members)), kind(kind) {}

}  // namespace spectr::jinja
