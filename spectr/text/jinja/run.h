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

/// How much a template may do: templates come from files that nobody may have looked at. What has a
/// `_per_byte` grows by so much with each byte of the variables.
struct Limits {
  std::size_t source = 256 << 10;  ///< bytes of a template
  int nesting = 64;                ///< of expressions and blocks
  int calls = 32;                  ///< of macros within each other, and of those that macros remember
  int depth = 1000;                ///< nodes evaluated within each other
  std::size_t steps = 1'000'000;   ///< nodes evaluated, and rounds of loops
  std::size_t steps_per_byte = 16;
  std::size_t bytes = 32 << 20;  ///< made, or walked through
  std::size_t bytes_per_byte = 1024;
  std::size_t output = 8 << 20;  ///< bytes
};

/// A template while it runs: its variables, its output, and what it has used up. Throws TemplateError beyond
/// a limit.
class Run {
 public:
  using Scopes = std::vector<std::map<std::string, Value>>;

  /// input: bytes of the variables.
  Run(const Limits& limits, std::size_t input);

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

  /// The variables inside the outermost scope, as they are now: what a macro that is defined there sees; and
  /// the closures that it then has. All that is in them is walked through.
  std::pair<Scopes, int> inner();

  /// A call of a macro: while it lives, only the template's outermost variables are seen, and these.
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

  /// Output that is collected apart, and counted as a new value.
  Value capture(const std::function<void()>& body);

  /// What the template writes itself.
  void print(std::string_view text);
  void print(const MarkedText& text);
  const MarkedText& output() const { return output_; }

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
  /// The member of that key, null where there is none. Its search is charged, as it is in set_member.
  const Value* member(const Dict& dict, const Value& key);
  void set_member(Dict& dict, const Value& key, Value value);
  /// A new value, all of whose bytes count.
  Value made(Value value);

 private:
  /// Every member is looked at, and all of a name that is as long.
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
