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

/// What a template does wrong, or what it raises itself. Never leaves the library: Template gives a Result.
class TemplateError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a function, filter, test, method or macro is called with.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  /// The i-th, undefined where there are fewer.
  Value operator[](std::size_t i) const;
  /// Whether the i-th parameter, of that name, is among them, be its value undefined.
  bool give(std::size_t i, std::string_view name) const;
  /// The same in the order of the parameters, all positional. Throws where one is given twice or is no
  /// parameter, and where one of the first `needed` is not given. An empty name ends the parameters.
  Arguments bound(std::string_view callee, std::span<const std::string_view> parameters,
                  std::size_t needed = 0) const;
};

/// The Python type that a list stands for. A group is a pair of groupby; keys, values and items are the views
/// of a mapping; a generator can be read once.
enum class Sequence { list, tuple, group, keys, values, items, generator };

struct List : std::vector<Value> {
  using std::vector<Value>::vector;
  List(std::vector<Value> members, Sequence kind);

  bool is_tuple() const { return kind == Sequence::tuple || kind == Sequence::group; }
  /// Whether it can be indexed.
  bool is_indexed() const { return kind == Sequence::list || is_tuple(); }
  bool is_generator() const { return kind == Sequence::generator; }

  Sequence kind = Sequence::list;
};

struct Dict;

/// What can be called.
struct Function : std::function<Value(Run& run, const Arguments& arguments)> {
  using std::function<Value(Run& run, const Arguments& arguments)>::function;
  int closures = 0;                        ///< how many functions it remembers within each other
  std::shared_ptr<const Dict> about = {};  ///< the attributes of a macro, or null
};

/// A mapping, in the order in which its members were put in. Its keys are strings, numbers, truth values and
/// none, and equal as Python has it: 1 is 1.0 and true. Namespaces, whose members may be assigned to, and
/// objects, such as `loop`, have members that are read like attributes, and are no mappings to a template.
struct Dict {
  enum class Kind { mapping, space, object };

  std::vector<std::pair<Value, Value>> members;

  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  /// Throws where the key is of another kind.
  void set(Value key, Value value);

  bool is_mapping() const { return kind == Kind::mapping; }
  bool is_space() const { return kind == Kind::space; }

  Kind kind = Kind::mapping;
  mutable bool is_member = false;       ///< of another value: then it takes no namespaces any more
  std::string shown = {};               ///< how an object is printed; empty: it cannot be
  std::shared_ptr<Function> call = {};  ///< what a call of an object does, or null
};

/// How json.dumps writes.
struct JsonStyle {
  std::optional<MarkedText> indent;  ///< of each level, on lines of their own; none: all on one line
  MarkedText between{", "};          ///< members
  MarkedText behind_key{": "};
  bool ascii = false;   ///< escape every other character
  bool sorted = false;  ///< members by their keys
};

struct Undefined {};
struct None {};

/// A value of a template: what Jinja's Python values are, as far as chat templates use them. Strings,
/// lists, mappings and functions are shared, not copied. A string knows which of its bytes came with the
/// request (MarkedText), and whoever makes a string of another one passes that on.
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
  /// A mapping, a namespace or an object.
  Dict* dict() const;
  /// A mapping alone.
  const Dict* mapping() const;
  const Function* function() const;
  /// What a call of the value does: a function, or an object that can be called; else null.
  const Function* callable() const;
  const MarkedText* marked() const;
  /// The bytes of a string.
  const std::string* string() const;
  bool is_undefined() const { return as<Undefined>() != nullptr; }
  bool is_none() const { return as<None>() != nullptr; }
  bool is_number() const {
    return as<std::int64_t>() != nullptr || as<double>() != nullptr || as<bool>() != nullptr;
  }
  /// Requires: is_number().
  double number() const;

  /// Python's truth: not empty, not zero.
  bool truth() const;
  /// As Python prints it.
  MarkedText text() const;
  /// As Python's json.dumps writes it.
  MarkedText json(const JsonStyle& style = {}) const;
  /// The bytes that a walk through it meets; such a walk ends, with more than `most`, once it has met those.
  /// Throws where it is nested too deeply. A namespace that is met as a member is known as one from now on.
  std::size_t weight(std::size_t most) const;
  /// The most closures of a function in it. Requires: not nested deeper than a walk allows.
  int closures() const;
  /// The bytes of the strings in it.
  std::size_t bytes() const;
  /// What it is, for errors.
  std::string_view kind() const;

 private:
  void weigh(int depth, std::size_t most, std::size_t& bytes) const;
  Variant held_;
};

inline List::List(std::vector<Value> members, Sequence kind)
    : std::vector<Value>(std::move(members)), kind(kind) {}

}  // namespace spectr::jinja
