#include "apps/bench/prompts.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "apps/bench/csv.h"
#include "apps/support/json.h"
#include "apps/support/json_input.h"
#include "apps/support/open_file.h"

namespace spectr::bench {
namespace {

using Prompts = Result<std::vector<Prompt>>;

/// Returns the first named member that is a string or a list starting with one; empty if there is none.
std::string first_of(const JsonInput& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found == object.end()) continue;
    if (found->is_string()) return found->get<std::string>();
    if (found->is_array() && !found->empty() && found->front().is_string())
      return found->front().get<std::string>();
  }
  return {};
}

Result<Prompt> from_json(const JsonInput& object) {
  if (!object.is_object()) return error("is not a JSON object");
  Prompt prompt;
  if (const auto turns = object.find("turns"); turns != object.end()) {
    if (!turns->is_array()) return error("'turns' is not a list of strings");
    for (const JsonInput& turn : *turns) {
      if (!turn.is_string()) return error("'turns' is not a list of strings");
      prompt.turns.push_back(turn.get<std::string>());
    }
  } else {
    for (const char* name : {"prompt", "question", "instruction"}) {
      if (!prompt.turns.empty() || !object.contains(name)) continue;
      if (!object[name].is_string()) return error("'{}' is not a string", name);
      prompt.turns.push_back(object[name].get<std::string>());
    }
  }
  if (prompt.turns.empty()) return error("has neither 'prompt' nor 'turns' nor 'question' nor 'instruction'");
  if (const std::string input = first_of(object, {"input"}); !input.empty() && object.contains("instruction"))
    prompt.turns.front() += "\n\n" + input;
  for (const std::string& turn : prompt.turns) {
    if (turn.empty()) return error("its prompt is empty");
  }
  prompt.reference = first_of(object, {"reference", "answer", "canonical_solution", "output", "query"});
  prompt.category = first_of(object, {"category"});
  prompt.database = first_of(object, {"db_id"});
  return prompt;
}

Prompts from_lines(std::istream& in, const std::string& name, std::size_t limit, bool json) {
  std::vector<Prompt> prompts;
  std::string line;
  for (std::size_t number = 1; prompts.size() < limit && std::getline(in, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    if (!json) {
      prompts.push_back({{line}});
      continue;
    }
    const auto object = parse_json(line);
    auto prompt = object ? from_json(*object) : Result<Prompt>(std::unexpected(object.error()));
    if (!prompt) return error("{}: line {} {}", name, number, prompt.error().message);
    prompts.push_back(std::move(*prompt));
  }
  return prompts;
}

/// Reads a list of objects, which may span several lines.
Prompts from_list(std::istream& in, const std::string& name, std::size_t limit) {
  std::ostringstream contents;
  contents << in.rdbuf();
  const auto list = parse_json(std::move(contents).str());
  if (!list) return error("{}: the list {}", name, list.error().message);
  std::vector<Prompt> prompts;
  for (std::size_t i = 0; i < std::min(limit, list->size()); ++i) {
    auto prompt = from_json((*list)[i]);
    if (!prompt) return error("{}: entry {} {}", name, i + 1, prompt.error().message);
    prompts.push_back(std::move(*prompt));
  }
  return prompts;
}

/// Skips a byte-order mark, which some editors write.
void skip_mark(std::istream& in) {
  char begin[3] = {};
  in.read(begin, sizeof begin);
  if (std::string_view(begin, sizeof begin) == "\xEF\xBB\xBF") return;
  const auto read = in.gcount();
  in.clear();
  for (auto i = read; i > 0; --i) in.unget();  // within the buffer, since a pipe is not seekable
}

/// Returns true if the first character begins a JSON list. Consumes nothing.
bool is_list(std::istream& in) {
  const auto begin = in.tellg();
  in >> std::ws;
  const bool list = in.peek() == '[';
  in.clear();
  in.seekg(begin);
  return list;
}

Prompts from_csv(std::istream& in, const std::string& name, std::size_t limit) {
  std::ostringstream contents;
  contents << in.rdbuf();
  auto table = parse_csv(std::move(contents).str());
  if (!table) return error("{}: {}", name, table.error().message);
  const std::size_t prompt = table->column("prompt"), reference = table->column("reference");
  if (prompt == CsvTable::none) {
    return error("{}: no column 'prompt' among {}", name, fmt::join(table->columns, ", "));
  }
  std::vector<Prompt> prompts;
  for (const auto& row : table->rows) {
    if (prompts.size() == limit) break;
    if (row[prompt].empty()) continue;
    prompts.push_back({{row[prompt]}, reference == CsvTable::none ? "" : row[reference]});
  }
  return prompts;
}

}  // namespace

Prompts read_prompts(const std::filesystem::path& file, std::size_t limit) {
  const std::string name = file.string();
  SPECTR_TRY(std::ifstream in, open_file(file));
  skip_mark(in);
  const std::size_t max = limit == 0 ? std::string::npos : limit;
  const std::string extension = file.extension().string();
  Prompts prompts = extension == ".csv" ? from_csv(in, name, max)
                    : extension == ".json" && is_list(in)
                        ? from_list(in, name, max)
                        : from_lines(in, name, max, extension == ".jsonl" || extension == ".json");
  if (in.bad()) return error("{}: cannot be read", name);
  if (prompts && prompts->empty()) return error("{}: there is no prompt in it", name);
  return prompts;
}

void keep_words(std::vector<Prompt>& prompts, std::size_t words) {
  constexpr std::string_view blanks = " \t\r\n";
  for (Prompt& prompt : prompts) {
    std::string& text = prompt.turns.front();
    std::size_t end = 0;
    for (std::size_t n = 0; n < words && end != std::string::npos; ++n) {
      const std::size_t word = text.find_first_not_of(blanks, end);
      end = word == std::string::npos ? word : text.find_first_of(blanks, word);
    }
    if (end != std::string::npos) text.resize(end);
  }
}

}  // namespace spectr::bench
