// Any text must be a list of tools that a chat template can print, or be refused with an error. A tool that
// must be called is one of the list. The first line is the tool choice, the rest is the list.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "spectr/engine/tools/tool_use.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), size);
  const auto use = spectr::read_tool_use(text.substr(std::min(line + 1, size)), text.substr(0, line));
  if (!use) return 0;
  for (const spectr::Tool& tool : use->tools)
    if (!nlohmann::json::accept(tool.definition)) std::abort();
  const spectr::ToolSet known(use->tools);
  if (!use->named.empty() && !known.has(use->named)) std::abort();
  if (use->choice == spectr::ToolUse::Choice::required && known.empty()) std::abort();
  return 0;
}
