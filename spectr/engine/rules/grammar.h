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

/// A constraint on the text of a completion.
struct Constraint {
  enum class Kind {
    json_schema,  ///< JSON that conforms to a schema
    grammar,      ///< text of the rule "root" of a GBNF grammar
    regex,        ///< text that a regular expression matches as a whole
    structure,    ///< an answer with optional tool calls, see call_structure()
  };
  Kind kind;
  std::string source;
  std::string field = "grammar";  ///< name of the constraint in errors
  std::string after = {};  ///< applies after the first such mark in the answer; empty: from the beginning
  std::vector<GrammarTrigger> triggers = {};  ///< applies from the first of them on; empty: immediately
};

/// A constraint that is compiled for a tokenizer. Immutable.
struct Grammar;

/// Compiles constraints for the tokenizer of a target. Thread-safe. Token masks are computed on demand; those
/// of grammar rules are cached up to a memory limit, the most recently used ones.
class GrammarCompiler {
 public:
  static constexpr std::size_t max_bytes = std::size_t{256} << 10;  ///< of a source

  /// `vocabulary`: entries in a row of logits. The tokenizer must outlive the compiler. Fails if this build
  /// does not support grammars (SPECTR_GRAMMAR).
  static Result<std::unique_ptr<GrammarCompiler>> make(const Tokenizer& tokenizer, std::size_t vocabulary);
  virtual ~GrammarCompiler() = default;

  /// Fails if the source is malformed or too large, has a keyword that would be kept in part only, or takes
  /// longer than half a second of processor time. ErrorCode::timeout: it takes longer than ten seconds
  /// because the machine is busy.
  virtual Result<std::shared_ptr<const Grammar>> compile(const Constraint& constraint) = 0;
};

/// Returns a rule that allows only what the grammar allows: from the beginning of the answer, or after the
/// first `after` in its text, and there from the first trigger on that the grammar can begin with. After a
/// complete text, only end tokens are allowed. `prompt`: tokens of the prompt. `triggers`: null if there are
/// none. The tokenizer must outlive the rule.
std::shared_ptr<const LogitRule> grammar_rule(std::shared_ptr<const Grammar> grammar,
                                              const Tokenizer& tokenizer, std::size_t prompt,
                                              std::string after = "",
                                              std::shared_ptr<const GrammarTriggers> triggers = nullptr);

}  // namespace spectr
