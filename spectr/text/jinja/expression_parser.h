#pragma once

#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/token_reader.h"

namespace spectr::jinja {

/// Reads an expression; the tokens after it are not taken.
ExpressionPtr parse_expression(TokenReader& reader);
/// Reads an expression, or a tuple of several comma-separated ones.
ExpressionPtr parse_values(TokenReader& reader);
/// Reads the same without "A if B else C", for places where an `if` belongs to the statement.
ExpressionPtr parse_operands(TokenReader& reader);

/// Reads filters and applies them to a value. Each follows a "|", except the first one of a filter block.
ExpressionPtr parse_filters(TokenReader& reader, ExpressionPtr input, bool bar_before_first);

/// Reads a call that ends its tag, and adds `caller` as an argument.
ExpressionPtr parse_block_call(TokenReader& reader, ExpressionPtr caller);

}  // namespace spectr::jinja
