#include "apps/server/model_facts.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <system_error>
#include <type_traits>
#include <variant>

#include "spectr/gguf/fingerprint.h"
#include "spectr/gguf/stored_format.h"

namespace spectr::server {
namespace {

using SystemTime = std::chrono::system_clock::time_point;

/// Returns the modification time of the model file, or the epoch if it is unknown.
std::string modified_at(const std::string& path) {
  std::error_code failure;
  const auto time = std::filesystem::last_write_time(path, failure);
  return timestamp_of(
      failure ? SystemTime()
              : std::chrono::time_point_cast<SystemTime::duration>(std::chrono::file_clock::to_sys(time)));
}

/// Formats a count as in "7.2M" or "1.5B".
std::string rounded_count(std::uint64_t count) {
  const double number = static_cast<double>(count);
  if (number >= 1e9) return fmt::format("{:.1f}B", number * 1e-9);
  return number >= 1e6 ? fmt::format("{:.1f}M", number * 1e-6) : fmt::format("{:.1f}K", number * 1e-3);
}

/// Returns the format of the largest number of weights.
std::string quantization_of(const Gguf& file) {
  std::map<std::uint32_t, std::uint64_t> numbers;
  std::uint32_t most = 0;
  for (const GgufTensor& tensor : file.tensors()) {
    numbers[tensor.type] += tensor.cols() * tensor.rows();
    if (numbers[tensor.type] > numbers[most]) most = tensor.type;
  }
  const auto format = stored_format(most);
  return format ? std::string(format->name) : "";
}

Json details_of_model(const Transformer& model) {
  const Gguf& file = model.file();
  const std::string& family = model.spec().architecture;
  return {{"parent_model", ""},
          {"format", "gguf"},
          {"family", family},
          {"families", Json::array({family})},
          {"parameter_size", rounded_count(file.parameters())},
          {"quantization_level", quantization_of(file)}};
}

/// Converts a metadata value. Arrays, which can be long, and values that JSON cannot represent become null.
Json metadata_json(const GgufValue& value) {
  return std::visit(
      []<class T>(const T& held) -> Json {
        if constexpr (std::is_same_v<T, GgufArray>) {
          return nullptr;
        } else {
          return held;
        }
      },
      value);
}

}  // namespace

std::string timestamp_of(SystemTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time_of_day(std::chrono::floor<std::chrono::microseconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time_of_day.hours().count(), time_of_day.minutes().count(),
                     time_of_day.seconds().count(), time_of_day.subseconds().count());
}

Json listing_of(const std::filesystem::path& path) {
  std::error_code failure;
  const auto size = std::filesystem::file_size(path, failure);
  return {{"modified_at", modified_at(path.string())},
          {"size", failure ? 0 : size},
          {"digest", ""},
          {"details",
           {{"parent_model", ""},
            {"format", "gguf"},
            {"family", ""},
            {"families", Json::array()},
            {"parameter_size", ""},
            {"quantization_level", ""}}}};
}

ModelFacts ModelFacts::of(const EngineModels& models) {
  const Gguf& file = models.target->file();
  ModelFacts facts;
  facts.listing = {{"modified_at", modified_at(models.path)},
                   {"size", file.tensor_bytes()},
                   {"digest", fmt::format("{:016x}", fingerprint_of(file))},
                   {"details", details_of_model(*models.target)}};
  facts.metadata = Json::object();
  for (const std::string_view key : file.keys())
    facts.metadata[std::string(key)] = metadata_json(*file.find(key));
  facts.metadata["general.parameter_count"] = file.parameters();
  return facts;
}

}  // namespace spectr::server
