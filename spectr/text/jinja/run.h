#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spectr/text/jinja/value.h"

namespace spectr::jinja {

/// Resource limits of a template, as templates come from untrusted files. Limits with `_per_byte` grow by
/// this amount for each byte of the variables.
struct Limits {
  std::size_t source = 256 << 10;  ///< size of a template
  int nesting = 64;                ///< depth of expressions and blocks
  int calls = 32;                  ///< nested macro calls, and nested closures of macros
  int depth = 1000;                ///< nested nodes in evaluation
  std::size_t steps = 1'000'000;   ///< evaluated nodes and loop iterations
  std::size_t steps_per_byte = 16;
  std::size_t bytes = 32 << 20;  ///< bytes made or walked through
  std::size_t bytes_per_byte = 1024;
  std::size_t output = 8 << 20;  ///< bytes of output
};

/// The state of a running template: its variables, its output and its resource usage. Throws TemplateError if
/// a limit is exceeded.
class Run {
 public:
  using Scopes = std::vector<std::map<std::string, Value>>;

  /// `input`: bytes of the variables.
  Run(const Limits& limits, std::size_t input);

  const Value* find(const std::string& name) const;
  /// Sets a variable in the innermost scope.
  void set(const std::string& name, Value value) { scopes_.back()[name] = std::move(value); }

  /// A scope: variables that are set during its lifetime are removed at its end.
  class Scope {
   public:
    explicit Scope(Run& run) : run_(run) { run_.scopes_.emplace_back(); }
    ~Scope() { run_.scopes_.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Run& run_;
  };

  /// Returns the variables inside the outermost scope, which a macro defined there sees, and the number of
  /// its closures. Walks through all of their values.
  std::pair<Scopes, int> inner();

  /// A macro call: during its lifetime, only the template's outermost variables and these are visible.
  class Call {
   public:
    Call(Run& run, const Scopes& seen);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Run& run_;
    Scopes inner_;
  };

  /// Captures the output of `body` as a new value, and charges it.
  Value capture(const std::function<void()>& body);

  /// Prints text of the template itself.
  void print(std::string_view text);
  void print(const MarkedText& text);
  const MarkedText& output() const { return output_; }

  /// Counts one more node or loop iteration.
  void step();
  /// Counts one more node, nested in those that exist.
  class Node {
   public:
    explicit Node(Run& run);
    ~Node() { --run_.depth_; }
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

   private:
    Run& run_;
  };

  /// Charges bytes that were made or read. Their sum bounds the cost of a template.
  void charge(std::size_t bytes);
  /// Charges all bytes of a value.
  void walk(const Value& value) { charge(value.weight(limits_.bytes - bytes_)); }
  /// Returns the member with that key, or null. This search and that of set_member are charged.
  const Value* member(const Dict& dict, const Value& key);
  void set_member(Dict& dict, const Value& key, Value value);
  /// Charges all bytes of a new value and returns it.
  Value made(Value value);

 private:
  /// Charges one step per member, and the bytes of keys that have the same length.
  void charge_search(const Dict& dict, const Value& key);
  void check_output() const;

  Limits limits_;
  Scopes scopes_;
  MarkedText output_;
  std::size_t steps_ = 0;
  std::size_t bytes_ = 0;
  int calls_ = 0;
  int depth_ = 0;
};

}  // namespace spectr::jinja
