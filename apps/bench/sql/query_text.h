#pragma once

#include <string>
#include <string_view>

namespace spectr::bench {

/// The query in an answer: the first word SELECT or WITH and what follows, up to a semicolon, an empty line
/// or the end of a block of code (```); empty where there is none.
std::string query_of(std::string_view answer);

/// Whether a query says in which order its rows are.
bool orders_rows(std::string_view query);

}  // namespace spectr::bench
