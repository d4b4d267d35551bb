#include "apps/cli/json_output.h"

#include <cstdio>
#include <string>

namespace spectr::cli {

void print_json(const Json& value) {
  const std::string line = text_of(value) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

}  // namespace spectr::cli
