#include <fmt/format.h>

#include <memory>
#include <optional>

#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/operations.h"
#include "spectr/text/jinja/sequences.h"

namespace spectr::jinja {
namespace {

/// Returns loop.cycle, which returns its arguments in turn, one per iteration.
Function cycle(std::size_t i) {
  return [i](Run&, const Arguments& arguments) {
    if (arguments.positional.empty() || !arguments.named.empty())
      throw TemplateError("loop.cycle takes the values that take turns");
    return arguments[i % arguments.positional.size()];
  };
}

/// The previous arguments of loop.changed.
using LastValues = std::shared_ptr<std::optional<List>>;

/// Returns loop.changed, which is true if its arguments differ from those of the previous call.
Function changed(LastValues last) {
  return [last = std::move(last)](Run& run, const Arguments& arguments) -> Value {
    if (!arguments.named.empty()) throw TemplateError("loop.changed takes values without names");
    List given(arguments.positional.begin(), arguments.positional.end());
    run.walk(given);
    if (*last && equal(run, **last, given)) return false;
    *last = std::move(given);
    return true;
  };
}

/// A running loop.
class Rounds {
 public:
  /// `seen`: the variables around a recursive loop, which its calls see; null if it is not recursive.
  Rounds(const Loop& loop, std::shared_ptr<const Run::Scopes> seen, int closures, std::int64_t depth)
      : loop_(loop), seen_(std::move(seen)), closures_(closures), depth_(depth) {}
  /// Releases the values that loop.changed holds, because `loop` itself may be among them.
  ~Rounds() { last_->reset(); }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  void execute(Run& run, const Value& over) {
    List members = members_of(run, over);
    if (loop_.condition) {
      std::erase_if(members, [&](const Value& member) {
        const Run::Scope scope(run);
        assign(run, loop_.target, member);
        return !loop_.condition->evaluate(run).truth();
      });
    }
    if (members.empty()) return jinja::execute(loop_.fallback, run);
    const auto call = loop_.uses_state ? std::make_shared<Function>(recursion()) : nullptr;
    for (std::size_t i = 0; i < members.size(); ++i) {
      run.step();
      const Run::Scope scope(run);
      assign(run, loop_.target, members[i]);
      if (loop_.uses_state) run.set("loop", state(members, i, call));
      try {
        jinja::execute(loop_.body, run);
      } catch (const Jump& where) {
        if (where == Jump::leave) return;
      }
    }
  }

 private:
  /// Returns the function of `loop`: it runs the loop over other members, one level deeper, and returns the
  /// output.
  Function recursion() const {
    Function made = [&loop = loop_, seen = seen_, closures = closures_, depth = depth_](
                        Run& run, const Arguments& arguments) {
      if (!seen) throw TemplateError("the loop is not recursive");
      constexpr std::string_view parameter = "iterable";
      const Value over = arguments.bound("loop", {&parameter, 1}, 1)[0];
      const Run::Call frame(run, *seen);
      return run.capture([&] { Rounds(loop, seen, closures, depth + 1).execute(run, over); });
    };
    made.closures = closures_;
    return made;
  }

  /// Returns the variable `loop` of the body.
  Dict state(const List& members, std::size_t i, std::shared_ptr<Function> call) const {
    const auto n = static_cast<std::int64_t>(members.size()), at = static_cast<std::int64_t>(i);
    Dict dict;
    dict.kind = Dict::Kind::object;
    dict.shown = fmt::format("<LoopContext {}/{}>", at + 1, n);
    dict.call = std::move(call);
    dict.members = {{"index", at + 1},
                    {"index0", at},
                    {"revindex", n - at},
                    {"revindex0", n - at - 1},
                    {"first", at == 0},
                    {"last", at + 1 == n},
                    {"length", n},
                    {"depth", depth_ + 1},
                    {"depth0", depth_},
                    {"cycle", cycle(i)},
                    {"changed", changed(last_)}};
    if (i > 0) dict.members.emplace_back("previtem", members[i - 1]);
    if (i + 1 < members.size()) dict.members.emplace_back("nextitem", members[i + 1]);
    return dict;
  }

  const Loop& loop_;
  std::shared_ptr<const Run::Scopes> seen_;
  int closures_;
  std::int64_t depth_;
  LastValues last_ = std::make_shared<std::optional<List>>();
};

class LoopNode final : public Statement {
 public:
  explicit LoopNode(Loop loop) : loop_(std::move(loop)) {}

  void execute(Run& run) const override {
    const Run::Node node(run);
    const Value over = loop_.over->evaluate(run);
    if (!loop_.is_recursive) return Rounds(loop_, nullptr, 0, 0).execute(run, over);
    auto [seen, closures] = run.inner();
    Rounds(loop_, std::make_shared<const Run::Scopes>(std::move(seen)), closures, 0).execute(run, over);
  }

 private:
  Loop loop_;
};

}  // namespace

StatementPtr loop(Loop loop) {
  return std::make_unique<LoopNode>(std::move(loop));
}

}  // namespace spectr::jinja
