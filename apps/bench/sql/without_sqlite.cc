#include "apps/bench/scores.h"

// Stub for builds without SQLite (SPECTR_SQLITE).

namespace spectr::bench {
namespace {

std::unexpected<Error> missing() {
  return error("SQL answers cannot be run: this program was built without SQLite (SPECTR_SQLITE)");
}

}  // namespace

Result<Scorer> sql_scorer(const std::string&) {
  return missing();
}

Result<void> show_tables(std::vector<Prompt>&, const std::string&) {
  return missing();
}

}  // namespace spectr::bench
