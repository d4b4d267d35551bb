#include "apps/bench/results_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "spectr/base/hash.h"
#include "spectr/base/os/files.h"

namespace spectr::bench {
namespace {

/// Appends text and syncs it to disk.
Result<void> append(const std::filesystem::path& path, std::string_view text) {
  const std::error_code failed = write_file(path, text, {.syncs = true});
  if (failed) return error("{}: cannot be written: {}", path.string(), failed.message());
  return {};
}

/// Hashes 64 samples of 4 KiB, evenly spaced from the beginning to the end of the file.
std::uint64_t sampled_hash(const std::filesystem::path& file, std::uint64_t bytes) {
  constexpr std::uint64_t samples = 64, sample_bytes = 4096;
  std::ifstream in(file, std::ios::binary);
  Fnv1a hash;
  for (std::uint64_t i = 0; i < samples; ++i) {
    std::array<char, sample_bytes> sample{};
    in.clear();  // clears EOF, set by files that are shorter than a sample
    in.seekg(static_cast<std::streamoff>((bytes - std::min(bytes, sample_bytes)) * i / (samples - 1)));
    in.read(sample.data(), sample.size());
    for (const char byte : sample) hash.add(static_cast<unsigned char>(byte));
  }
  return hash.value();
}

/// Returns true if a line is a valid beginning of a row, as left by a kill during a write.
bool is_beginning_of_row(std::string_view line) {
  constexpr std::string_view begin = R"({"key":)";
  if (!line.starts_with(begin.substr(0, line.size()))) return false;
  try {
    [[maybe_unused]] const Json whole = Json::parse(line);
    return false;
  } catch (const Json::parse_error& wrong) {
    return wrong.byte > line.size();
  }
}

}  // namespace

Json identity_of(const std::filesystem::path& file) {
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(file, failed);
  if (failed) return {file.filename().string(), 0};
  return {file.filename().string(), bytes, fmt::format("{:016x}", sampled_hash(file, bytes))};
}

Result<ResultsFile> ResultsFile::open(std::filesystem::path path) {
  ResultsFile file(std::move(path));
  const std::string name = file.path_.string();
  // Fail on an unwritable file now rather than after the first measurement.
  SPECTR_TRY_VOID(append(file.path_, ""));
  std::ifstream in(file.path_, std::ios::binary);
  if (!in) return error("{}: {}", name, std::strerror(errno));
  std::string line;
  std::size_t complete = 0;       // length of the complete lines in bytes
  bool lacks_line_break = false;  // the last row has no line break
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const bool is_last = in.eof();
    const Json entry = Json::parse(line, nullptr, false);
    if (entry.is_object() && entry.contains("key") && entry.contains("row")) {
      file.rows_[text_of(entry["key"])] = entry["row"];
      complete += line.size() + (is_last ? 0 : 1);
      lacks_line_break = is_last;
    } else if (!is_last || !is_beginning_of_row(line)) {
      return error("{}: line {} is not a result of spectr bench", name, number);
    }
  }
  in.close();
  std::error_code failed;
  std::filesystem::resize_file(file.path_, complete, failed);
  if (failed) return error("{}: cannot be written: {}", name, failed.message());
  if (lacks_line_break) SPECTR_TRY_VOID(append(file.path_, "\n"));
  return file;
}

std::optional<Json> ResultsFile::find(const Json& key) const {
  const auto found = rows_.find(text_of(key));
  return found == rows_.end() ? std::nullopt : std::optional(found->second);
}

Result<void> ResultsFile::add(const Json& key, const Json& row) {
  const std::string line = text_of(Json{{"key", key}, {"row", row}}) + "\n";
  SPECTR_TRY_VOID(append(path_, line));
  rows_[text_of(key)] = row;
  return {};
}

}  // namespace spectr::bench
