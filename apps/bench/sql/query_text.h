#pragma once

#include <string>
#include <string_view>

namespace spectr::bench {

/// Returns the query of an answer: from the first SELECT or WITH up to a semicolon, an empty line or the end
/// of a code block (```). Empty if there is none.
std::string query_of(std::string_view answer);

/// Returns true if a query specifies an order of its rows.
bool orders_rows(std::string_view query);

}  // namespace spectr::bench
