#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spectr/text/jinja/run.h"
#include "spectr/text/jinja/value.h"

namespace spectr::jinja {

/// A part of a template that has a value.
class Expression {
 public:
  virtual ~Expression() = default;
  virtual Value evaluate(Run& run) const = 0;
};
using ExpressionPtr = std::unique_ptr<Expression>;

/// A part of a template that has an effect.
class Statement {
 public:
  virtual ~Statement() = default;
  virtual void execute(Run& run) const = 0;
};
using Block = std::vector<std::unique_ptr<Statement>>;

void execute(const Block& block, Run& run);

/// The arguments of a call, unevaluated.
struct ArgumentNodes {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr all_positional;  ///< *args, or null
  ExpressionPtr all_named;       ///< **kwargs, or null
  Arguments evaluate(Run& run) const;
};

// The expressions.
ExpressionPtr literal(Value value);
ExpressionPtr variable(std::string name);
ExpressionPtr list(std::vector<ExpressionPtr> members);
ExpressionPtr tuple(std::vector<ExpressionPtr> members);
ExpressionPtr mapping(std::vector<std::pair<ExpressionPtr, ExpressionPtr>> members);
ExpressionPtr unary(std::string symbol, ExpressionPtr operand);
/// Arithmetic operators, "~", "and", "or".
ExpressionPtr binary(std::string symbol, ExpressionPtr left, ExpressionPtr right);
/// True if each comparison holds between the previous value and its own.
ExpressionPtr comparisons(ExpressionPtr first, std::vector<std::pair<std::string, ExpressionPtr>> rest);
ExpressionPtr choice(ExpressionPtr condition, ExpressionPtr then, ExpressionPtr fallback);
ExpressionPtr member(ExpressionPtr object, ExpressionPtr key);
ExpressionPtr slice(ExpressionPtr object, ExpressionPtr begin, ExpressionPtr end, ExpressionPtr step);
/// object.name.
ExpressionPtr attribute(ExpressionPtr object, std::string name);
/// `name` is the name of the function in errors, if it has one.
ExpressionPtr call(ExpressionPtr function, std::string name, ArgumentNodes arguments);
ExpressionPtr method_call(ExpressionPtr object, std::string name, ArgumentNodes arguments);
ExpressionPtr filter(ExpressionPtr input, std::string name, ArgumentNodes arguments);
ExpressionPtr test(ExpressionPtr input, std::string name, ArgumentNodes arguments);

/// Returns the output of the block.
ExpressionPtr captured(std::shared_ptr<const Block> block);

// The statements.
using StatementPtr = std::unique_ptr<Statement>;
StatementPtr text(std::string text);
StatementPtr print(ExpressionPtr value);
/// Executes the first block whose condition is true; a null condition is always true.
StatementPtr branches(std::vector<std::pair<ExpressionPtr, Block>> branches);
/// Target of an assignment: a variable, a member of a namespace, or several targets.
struct Target {
  std::string name;             ///< of the variable or the namespace
  std::string member;           ///< of the namespace; empty: a variable
  std::vector<Target> parts{};  ///< if not empty, the value's members are assigned to these
};
/// Assigns to variables of the innermost scope, or to members of namespaces.
void assign(Run& run, const Target& target, const Value& value);

struct Loop {
  Target target;
  ExpressionPtr over;
  ExpressionPtr condition;  ///< null: every member
  Block body;
  Block fallback;
  bool uses_state = true;     ///< the body reads `loop`
  bool is_recursive = false;  ///< `loop` can be called
};
StatementPtr loop(Loop loop);
StatementPtr assignment(Target target, ExpressionPtr value);
/// Executes a block at its place. Unless `scoped`, it sees only the template's outermost variables.
StatementPtr named_block(std::shared_ptr<const Block> body, bool scoped);
/// Sets `self`, whose members render the blocks of these names.
StatementPtr blocks_by_name(std::vector<std::pair<std::string, std::shared_ptr<const Block>>> blocks);
/// Executes the block with additional variables that only it sees.
StatementPtr with(std::vector<std::pair<std::string, ExpressionPtr>> variables, Block body);
struct Macro {
  std::string name;
  std::vector<std::pair<std::string, ExpressionPtr>> parameters;  ///< with their defaults, or null
  Block body = {};
  bool any_positional = false;  ///< the body reads varargs
  bool any_named = false;       ///< the body reads kwargs
  bool calls_caller = false;    ///< the body reads caller
};
StatementPtr macro(Macro macro);
/// Returns the macro as a function.
ExpressionPtr function(std::shared_ptr<const Macro> macro);
enum class Jump { leave, next };
StatementPtr jump(Jump jump);

// Names that a template may use. Unknown ones throw TemplateError.
bool is_filter(std::string_view name);
bool is_test(std::string_view name);
Value apply_filter(Run& run, const std::string& name, const Value& input, const Arguments& arguments);
bool apply_test(Run& run, const std::string& name, const Value& input, const Arguments& arguments);
Value call_method(Run& run, const Value& object, const std::string& name, const Arguments& arguments);
/// Adds raise_exception, range, namespace, dict, cycler, joiner and strftime_now.
void add_functions(Run& run);

}  // namespace spectr::jinja
