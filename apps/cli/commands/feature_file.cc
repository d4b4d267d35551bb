#include "apps/cli/commands/feature_file.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "apps/cli/failure.h"
#include "spectr/base/check.h"

namespace spectr::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "feature files are little-endian");

constexpr std::string_view feature_magic = "SPECTRF1";

template <class T>
void append_bytes(std::string& out, const std::vector<T>& values) {
  const std::size_t begin = out.size(), bytes = values.size() * sizeof(T);
  out.resize(begin + bytes);
  if (bytes > 0) std::memcpy(out.data() + begin, values.data(), bytes);
}

/// Rounds to the nearest bfloat16, ties to even.
std::uint16_t bfloat16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

std::string file_beginning(const Json& header) {
  const std::string text = header.dump();
  std::string out(feature_magic);
  append_bytes(out, std::vector{static_cast<std::uint32_t>(text.size())});
  return out + text;
}

}  // namespace

FeatureFile::FeatureFile(std::string path, const Json& header)
    : path_(std::move(path)),
      top_(header.at("top").get<std::size_t>()),
      width_(header.at("width").get<std::size_t>()),
      feature_bytes_(header.at("bytes").get<std::size_t>()) {
  const std::string begin = file_beginning(header);
  std::error_code failed;
  if (std::filesystem::exists(path_, failed) && std::filesystem::file_size(path_, failed) > 0) {
    std::string found(begin.size(), '\0');
    std::ifstream in(path_, std::ios::binary);
    in.read(found.data(), static_cast<std::streamsize>(found.size()));
    if (!in || found != begin) {
      throw Failure(
          Status::usage,
          fmt::format("{}: has other settings or another target; remove it or name another file", path_));
    }
    find_end(begin.size());
    out_.open(path_, std::ios::binary | std::ios::app);
  } else {
    out_.open(path_, std::ios::binary);
    out_ << begin << std::flush;
  }
  if (!out_) throw Failure(Status::failed, fmt::format("{} cannot be written", path_));
}

std::size_t FeatureFile::record_bytes(std::size_t tokens) const {
  return 8 + 4 * tokens + (tokens - 1) * (8 * top_ + feature_bytes_ * width_);
}

/// Counts the complete records from `begin` on and removes all that follows.
void FeatureFile::find_end(std::size_t begin) {
  std::error_code failed;
  const std::size_t bytes = std::filesystem::file_size(path_, failed);
  std::ifstream in(path_, std::ios::binary);
  std::size_t end = begin;
  for (std::uint32_t tokens = 0; end + sizeof tokens <= bytes;) {
    in.seekg(static_cast<std::streamoff>(end));
    in.read(reinterpret_cast<char*>(&tokens), sizeof tokens);
    if (!in || tokens < 2 || end + record_bytes(tokens) > bytes) break;
    end += record_bytes(tokens);
    ++size_;
  }
  std::filesystem::resize_file(path_, end, failed);
  if (failed) throw Failure(Status::failed, fmt::format("{}: {}", path_, failed.message()));
}

void FeatureFile::append(const FeatureRecord& record) {
  const std::size_t rows = record.tokens.size() - 1;
  SPECTR_CHECK(record.top.size() == rows * top_ && record.top_log_q.size() == rows * top_ &&
               record.features.size() == rows * width_);
  std::string bytes;
  bytes.reserve(record_bytes(record.tokens.size()));
  append_bytes(bytes, std::vector{static_cast<std::uint32_t>(record.tokens.size()),
                                  static_cast<std::uint32_t>(record.given)});
  append_bytes(bytes, record.tokens);
  append_bytes(bytes, record.top);
  append_bytes(bytes, record.top_log_q);
  if (feature_bytes_ == 4) {
    append_bytes(bytes, record.features);
  } else {
    std::vector<std::uint16_t> halves;
    halves.reserve(record.features.size());
    for (const float value : record.features) halves.push_back(bfloat16_of(value));
    append_bytes(bytes, halves);
  }
  out_ << bytes << std::flush;
  if (!out_) throw Failure(Status::failed, fmt::format("{} cannot be written", path_));
  ++size_;
}

}  // namespace spectr::cli
