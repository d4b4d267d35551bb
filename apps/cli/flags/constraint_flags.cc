#include "apps/cli/flags/constraint_flags.h"

#include "apps/cli/flags/flag_values.h"
#include "apps/cli/flags/text_input.h"

namespace spectr::cli {

void ConstraintFlags::add(CLI::App& command) {
  CLI::Option* all[] = {
      command.add_option("--grammar", grammar_, "a grammar in GBNF that the text follows from its rule root")
          ->type_name("GBNF")
          ->transform(not_empty("grammar")),
      command.add_option("--grammar-file", grammar_file_, "the same from a file")->transform(file_name()),
      command
          .add_option("-j,--json-schema", schema_,
                      "a JSON schema that the text follows; {\"type\": \"object\"}: any object")
          ->type_name("JSON")
          ->transform(not_empty("schema")),
      command.add_option("--json-schema-file", schema_file_, "-jf FILE: the same from a file")
          ->transform(file_name())};
  for (CLI::Option* one : all) {
    for (CLI::Option* other : all)
      if (one != other) one->excludes(other);
  }
}

std::optional<Constraint> ConstraintFlags::read() const {
  using Kind = Constraint::Kind;
  if (!grammar_.empty()) return Constraint{Kind::grammar, grammar_, "--grammar"};
  if (!grammar_file_.empty()) return Constraint{Kind::grammar, read_file(grammar_file_), "--grammar-file"};
  if (!schema_.empty()) return Constraint{Kind::json_schema, schema_, "--json-schema"};
  if (!schema_file_.empty())
    return Constraint{Kind::json_schema, read_file(schema_file_), "--json-schema-file"};
  return std::nullopt;
}

}  // namespace spectr::cli
