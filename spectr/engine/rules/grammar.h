#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/engine/rules/grammar_triggers.h"
#include "spectr/sampling/logit_rule.h"
#include "spectr/text/tokenizer.h"

namespace spectr {

/// A condition on the text of a completion.
struct Constraint {
  enum class Kind {
    json_schema,  ///< JSON that a schema describes
    grammar,      ///< a text of the rule "root" of a grammar in GBNF
    regex,        ///< a text that a regular expression matches as a whole
    structure,    ///< an answer that may have calls of tools, see call_structure()
  };
  Kind kind;
  std::string source;
  std::string field = "grammar";  ///< by which errors name it
  std::string after = {};  ///< it holds behind the first such mark in the answer; empty: from the beginning
  std::vector<GrammarTrigger> triggers = {};  ///< it holds from the first of them on; empty: at once
};

/// A constraint, compiled for a tokenizer. Immutable.
struct Grammar;

/// Compiles constraints for the tokenizer of a target. Thread-safe. Compiled grammars are kept, the least
/// recently used ones up to a bound of memory. The masks of a grammar are computed when they are needed.
class GrammarCompiler {
 public:
  static constexpr std::size_t max_bytes = std::size_t{256} << 10;  ///< of a source

  /// `vocabulary`: entries of a row of logits. The tokenizer must outlive the compiler. Fails if this build
  /// has no grammars (SPECTR_GRAMMAR).
  static Result<std::unique_ptr<GrammarCompiler>> make(const Tokenizer& tokenizer, std::size_t vocabulary);
  virtual ~GrammarCompiler() = default;

  /// Fails if the source is malformed or too large, has a keyword that would be kept in part only, or takes
  /// longer than half a second of processor time. ErrorCode::timeout: it takes longer than ten seconds
  /// because the machine is busy.
  virtual Result<std::shared_ptr<const Grammar>> compile(const Constraint& constraint) = 0;
};

/// Returns the rule that allows only what the grammar allows: from the beginning of the answer on, or behind
/// the first `after` in its text, and there from the first trigger on that the grammar can begin with. After
/// the whole text only end tokens may follow. `prompt`: tokens of the prompt. `triggers`: null if there are
/// none. The tokenizer must outlive the rule.
std::shared_ptr<const LogitRule> grammar_rule(std::shared_ptr<const Grammar> grammar,
                                              const Tokenizer& tokenizer, std::size_t prompt,
                                              std::string after = "",
                                              std::shared_ptr<const GrammarTriggers> triggers = nullptr);

}  // namespace spectr
