#pragma once

#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/token_reader.h"

namespace spectr::jinja {

/// Reads an expression; the tokens after it are left.
ExpressionPtr parse_expression(TokenReader& reader);
/// The same without "A if B else C": where an `if` belongs to the statement.
ExpressionPtr parse_operand(TokenReader& reader);

}  // namespace spectr::jinja
