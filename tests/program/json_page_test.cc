// docs/json.md names every field that commands print as JSON.
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tests/program/spectr.h"
#include "tests/support/data.h"

namespace spectr::test {
namespace {

void collect(const Json& json, std::set<std::string>& names) {
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) {
      names.insert(name);
      if (name != "parameters") collect(value, names);
    }
  } else if (json.is_array() && !json.empty()) {
    collect(json.front(), names);
  }
}

TEST(JsonPage, NamesEveryField) {
  std::stringstream read;
  read << std::ifstream(source_folder() / "docs/json.md").rdbuf();
  const std::string page = read.str();
  const Arguments printing[] = {
      generate() + Arguments{"-p", "Once", "-n", "4", "--method", "auto", "--compare", "--profile", "--json"},
      {"bench", "methods", "-m", target(), "-md", draft(), "--method", "spectr,mtad,auto", "--count", "2",
       "-n", "4", "-t", "1", "--json"},
      {"bench", "methods", "--list-presets", "--json"},
      {"bench", "widths", "-m", target(), "--widths", "1", "-t", "1", "--json"},
      {"bench", "widths", "-m", target(), "--lengths", "2", "--runs", "1", "-t", "1", "--json"},
      {"bench", "cluster", "-m", target(), "-t", "1", "-r", "1", "--depth", "1", "--json"},
      {"bench", "select", "--plan", "maximal", "--json"},
      {"law", "--method", "spectr", "--vocab", "2", "--json"},
      {"plan", "time", "--plan", "k-seq", "--vocab", "10"},
      {"tokenize", "-m", target(), "-p", "Once", "--json"},
      {"logits", "-m", target(), "--tokens", "1", "--json"},
      {"models", "--json"}};
  for (const Arguments& arguments : printing) {
    const Outcome ran = spectr(arguments);
    ASSERT_EQ(ran.status, 0) << ran.err;
    std::set<std::string> names;
    collect(Json::parse(ran.out), names);
    EXPECT_FALSE(names.empty());
    for (const std::string& name : names) {
      EXPECT_TRUE(page.contains("`" + name + "`")) << arguments.front() << ": " << name;
    }
  }
}

}  // namespace
}  // namespace spectr::test
