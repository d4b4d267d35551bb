#include "apps/server/slot_actions.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "apps/http/target.h"
#include "apps/server/api_error.h"
#include "apps/server/requests/fields.h"
#include "spectr/base/names.h"
#include "spectr/base/stopwatch.h"

namespace spectr::server {
namespace {

constexpr std::size_t max_shown = 200;  // bytes of a name in a message

std::size_t slot_of(std::string_view path) {
  const std::string_view digits = path.substr(path.rfind('/') + 1);
  std::size_t slot = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), slot);
  if (failed != std::errc() || end != digits.data() + digits.size())
    throw ApiError::not_found("there is no slot " + escape(digits, max_shown));
  return slot;
}

/// Returns the path of the file that a body names, in the folder of saved slots.
std::filesystem::path file_of(const Service& service, const std::string& body, std::string& name) {
  const JsonInput json = parse_body(body);
  Fields fields(json);
  name = fields.string("filename").value_or("");
  fields.ignore_others();
  const auto is_harmless = [](char c) {
    return c != '/' && c != '\\' && static_cast<unsigned char>(c) >= ' ';
  };
  if (name.empty() || name.size() > 200 || name.starts_with('.') || !std::ranges::all_of(name, is_harmless)) {
    throw ApiError::invalid(
        fmt::format("'filename' must be the name of a file without a path, got {}", quote(name)));
  }
  return service.options().slot_files / name;
}

}  // namespace

Json slot_action(Service& service, const http::Request& request) {
  const std::optional<std::string> action = http::query_value(request.query, "action");
  const std::size_t slot = slot_of(request.path);
  SlotPool& slots = service.open_engine().slots();
  const auto value = [](const Result<CompletionSlot::Sequence>& result) {
    if (!result) throw ApiError::of(result.error());
    return *result;
  };
  if (action == "erase") return {{"id_slot", slot}, {"n_erased", value(slots.erase(slot)).tokens}};
  if (action != "save" && action != "restore")
    throw ApiError::invalid("'action' must be save, restore or erase");
  if (service.options().slot_files.empty())
    throw ApiError::not_supported("start the server with --slot-save-path");
  std::string name;
  const std::filesystem::path file = file_of(service, request.body, name);
  const bool saves = action == "save";
  Stopwatch watch;
  const auto [tokens, bytes] = value(saves ? slots.save(slot, file) : slots.restore(slot, file));
  const double ms = 1e3 * watch.lap();
  Json answer = {{"id_slot", slot}, {"filename", name}};
  answer[saves ? "n_saved" : "n_restored"] = tokens;
  answer[saves ? "n_written" : "n_read"] = bytes;
  answer["timings"] = {{saves ? "save_ms" : "restore_ms", ms}};
  return answer;
}

}  // namespace spectr::server
