#pragma once

#include "spectr/text/jinja/nodes.h"
#include "spectr/text/jinja/token_reader.h"

namespace spectr::jinja {

/// Reads an expression; the tokens after it are left.
ExpressionPtr parse_expression(TokenReader& reader);
/// Reads an expression, or a tuple of several that are separated by commas.
ExpressionPtr parse_values(TokenReader& reader);
/// Reads the same without "A if B else C": where an `if` belongs to the statement.
ExpressionPtr parse_operands(TokenReader& reader);

/// The filters that come next, applied to a value: "|" before each, but before the first of a filter block.
ExpressionPtr parse_filters(TokenReader& reader, ExpressionPtr input, bool bar_before_first);

/// A call that ends its tag, with `caller` as one more argument.
ExpressionPtr parse_block_call(TokenReader& reader, ExpressionPtr caller);

}  // namespace spectr::jinja
