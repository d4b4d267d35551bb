#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/scores.h"
#include "apps/bench/sql/query_text.h"

// Execution of SQL answers with SQLite.

namespace spectr::bench {
namespace {

namespace fs = std::filesystem;

constexpr int steps_between_polls = 10'000;  // instructions of SQLite's virtual machine
constexpr int max_polls = 5'000;             // several seconds, more than a sensible query takes
constexpr std::size_t max_rows = 100'000;
constexpr int max_value_bytes = 1 << 20;              // per string, blob or row
constexpr std::size_t max_answer_bytes = 256 << 20;   // all rows of a result
constexpr sqlite3_int64 max_query_bytes = 256 << 20;  // SQLite's memory while a query runs

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinaliseStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinaliseStatement>;

/// The values of a row as texts that include their type.
using Row = std::vector<std::string>;

/// Limits SQLite's allocations to max_query_bytes beyond the current usage during its lifetime. Sorting and
/// grouping count, since temporary tables are kept in memory.
class MemoryLimit {
 public:
  MemoryLimit() { sqlite3_hard_heap_limit64(sqlite3_memory_used() + max_query_bytes); }
  ~MemoryLimit() { sqlite3_hard_heap_limit64(0); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
};

/// Authorizer that permits read access only.
int authorise(void*, int action, const char*, const char* function, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return function != nullptr && std::string_view(function) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

/// Progress handler that aborts a query that takes too long.
int too_long(void* polls) {
  return ++*static_cast<int*>(polls) > max_polls;
}

Result<Database> open_database(const fs::path& folder, const std::string& id) {
  const fs::path place = folder / id, file = place / (id + ".sqlite"), script = place / "schema.sql";
  const bool plain = id.find('/') == std::string::npos && id != ".." && !id.empty();
  std::error_code failed;
  const bool has_file = plain && fs::exists(file, failed), has_script = plain && fs::exists(script, failed);
  if (!has_file && !has_script)
    return error("database '{}': there is neither {} nor {}", id, file.string(), script.string());
  sqlite3* opened = nullptr;
  const int status = has_file ? sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr)
                              : sqlite3_open(":memory:", &opened);
  Database database(opened);
  if (status != SQLITE_OK) return error("{}: {}", file.string(), sqlite3_errstr(status));
  if (!has_file) {
    std::ostringstream text;
    text << std::ifstream(script, std::ios::binary).rdbuf();
    if (sqlite3_exec(opened, text.str().c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      return error("{}: {}", script.string(), sqlite3_errmsg(opened));
  }
  if (sqlite3_exec(opened, "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr) != SQLITE_OK)
    return error("{}: {}", file.string(), sqlite3_errmsg(opened));
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, max_value_bytes);
  sqlite3_set_authorizer(opened, authorise, nullptr);
  return database;
}

std::string value_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
    case SQLITE_FLOAT:
      return fmt::format("{:.9g}", sqlite3_column_double(statement, column));
    case SQLITE_NULL:
      return "null";
    default: {
      const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, column));
      const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
      return "'" + (text == nullptr ? std::string() : std::string(text, bytes));
    }
  }
}

/// Returns the rows of a query. Fails if it is not a query, does more than read, or exceeds the time or
/// memory limit.
Result<std::vector<Row>> rows_of(sqlite3* database, const std::string& query) {
  const MemoryLimit limit;
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(database, query.c_str(), -1, &prepared, nullptr) != SQLITE_OK)
    return error("{}", sqlite3_errmsg(database));
  const Statement statement(prepared);
  if (prepared == nullptr) return error("the query is empty");
  int polls = 0;
  sqlite3_progress_handler(database, steps_between_polls, too_long, &polls);
  std::vector<Row> rows;
  std::size_t bytes = 0;
  int status = sqlite3_step(prepared);
  while (status == SQLITE_ROW && rows.size() < max_rows && bytes <= max_answer_bytes) {
    Row& row = rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(prepared); ++i) {
      row.push_back(value_of(prepared, i));
      bytes += sizeof(std::string) + row.back().size();
    }
    status = sqlite3_step(prepared);
  }
  sqlite3_progress_handler(database, 0, nullptr, nullptr);
  if (bytes > max_answer_bytes) return error("rows of more than {} bytes", max_answer_bytes);
  if (status == SQLITE_ROW) return error("more than {} rows", max_rows);
  if (status != SQLITE_DONE) return error("{}", sqlite3_errmsg(database));
  return rows;
}

Result<std::optional<double>> score(const fs::path& folder, const Answered& one) {
  const Prompt& prompt = *one.prompt;
  if (prompt.reference.empty() || prompt.database.empty()) return std::nullopt;
  SPECTR_TRY(const Database database, open_database(folder, prompt.database));
  auto expected = rows_of(database.get(), prompt.reference);
  if (!expected) {
    return error("the reference '{}' on database '{}': {}", prompt.reference, prompt.database,
                 expected.error().message);
  }
  auto given = rows_of(database.get(), query_of(one.texts->front()));
  if (!given) return 0.0;
  if (!orders_rows(prompt.reference)) {
    std::ranges::sort(*expected);
    std::ranges::sort(*given);
  }
  return *expected == *given ? 100.0 : 0.0;
}

}  // namespace

Result<Scorer> sql_scorer(const std::string& folder) {
  std::error_code failed;
  if (!fs::is_directory(folder, failed)) return error("{}: is not a folder of databases", folder);
  return Scorer{"sql", [folder](std::span<const Answered> all) -> Result<Scores> {
                  Scores scores;
                  for (const Answered& one : all) {
                    SPECTR_TRY(const std::optional<double> number, score(folder, one));
                    scores.push_back(number);
                  }
                  return scores;
                }};
}

Result<void> show_tables(std::vector<Prompt>& prompts, const std::string& folder) {
  for (Prompt& prompt : prompts) {
    if (prompt.database.empty()) continue;
    SPECTR_TRY(const Database database, open_database(folder, prompt.database));
    const auto tables =
        rows_of(database.get(), "SELECT sql FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL");
    if (!tables) return error("database '{}': {}", prompt.database, tables.error().message);
    std::string text;
    for (const Row& table : *tables) text += table.front().substr(1) + ";\n";
    prompt.turns.front() = text + "\n-- The SQLite query for: " + prompt.turns.front() + "\n";
  }
  return {};
}

}  // namespace spectr::bench
