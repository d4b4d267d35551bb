// Replaces grammar.cc in builds without the component "grammar".
#include <utility>

#include "spectr/engine/rules/grammar.h"

namespace spectr {

struct Grammar {};

Result<std::unique_ptr<GrammarCompiler>> GrammarCompiler::make(const Tokenizer& /*tokenizer*/,
                                                               std::size_t /*vocabulary*/) {
  return error(ErrorCode::unsupported,
               "this build has no grammars; ./run with --grammar or --json-schema adds them, or build with "
               "-DSPECTR_COMPONENTS=all");
}

std::shared_ptr<const LogitRule> grammar_rule(std::shared_ptr<const Grammar> /*grammar*/,
                                              const Tokenizer& /*tokenizer*/, std::size_t /*prompt*/,
                                              std::string /*after*/,
                                              std::shared_ptr<const GrammarTriggers> /*triggers*/) {
  return nullptr;  // never called: no grammar can be created
}

}  // namespace spectr
