#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/text/jinja/value.h"

namespace spectr::jinja {

/// How much a template may do: templates come from files that nobody may have looked at.
struct Limits {
  std::size_t source = 256 << 10;  ///< bytes of a template
  int nesting = 64;                ///< of expressions and blocks
  int calls = 32;                  ///< of macros within each other
  int depth = 1000;                ///< nodes evaluated within each other
  std::size_t steps = 1'000'000;   ///< nodes evaluated, and rounds of loops
  std::size_t bytes = 32 << 20;    ///< made, or walked through
  std::size_t output = 8 << 20;    ///< bytes
};

/// A template while it runs: its variables, its output, and what it has used up. Throws TemplateError beyond
/// a limit.
class Run {
 public:
  explicit Run(const Limits& limits) : limits_(limits), scopes_(1) {}

  const Value* find(const std::string& name) const;
  /// In the innermost scope.
  void set(const std::string& name, Value value) { scopes_.back()[name] = std::move(value); }

  /// Variables that are set while it lives are forgotten afterwards.
  class Scope {
   public:
    explicit Scope(Run& run) : run_(run) { run_.scopes_.emplace_back(); }
    ~Scope() { run_.scopes_.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Run& run_;
  };

  /// A call of a macro: while it lives, only the template's outermost variables are seen.
  class Call {
   public:
    explicit Call(Run& run);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Run& run_;
    std::vector<std::map<std::string, Value>> inner_;
  };

  /// Output that is collected apart, and counted as a new value.
  Value capture(const std::function<void()>& body);

  void print(std::string_view text);
  const std::string& output() const { return output_; }

  /// One more node, or round of a loop.
  void step();
  /// One more node, within those that live.
  class Node {
   public:
    explicit Node(Run& run);
    ~Node() { --run_.depth_; }
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

   private:
    Run& run_;
  };

  /// Bytes were made, or looked at: what a template costs is bounded by their sum.
  void charge(std::size_t bytes);
  /// All bytes of a value are looked at.
  void walk(const Value& value) { charge(value.weight(limits_.bytes - bytes_)); }
  /// The member of that name, null where there is none. Its search is charged, as it is in set_member.
  const Value* member(const Dict& dict, std::string_view name);
  void set_member(Dict& dict, std::string_view name, Value value);
  /// A new value, all of whose bytes count.
  Value made(Value value);

 private:
  /// Every member is looked at, and all of a name that is as long.
  void charge_search(const Dict& dict, std::string_view name);

  const Limits& limits_;
  std::vector<std::map<std::string, Value>> scopes_;
  std::string output_;
  std::size_t steps_ = 0;
  std::size_t bytes_ = 0;
  int calls_ = 0;
  int depth_ = 0;
};

}  // namespace spectr::jinja
