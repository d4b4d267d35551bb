#pragma once

#include "apps/chat/nodes.h"
#include "apps/chat/token_reader.h"

namespace spectr::chat {

/// Reads an expression; the tokens after it are left.
ExpressionPtr parse_expression(TokenReader& reader);
/// The same without "A if B else C": where an `if` belongs to the statement.
ExpressionPtr parse_operand(TokenReader& reader);

}  // namespace spectr::chat
