#include "spectr/engine/prompt_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "spectr/base/hash.h"
#include "spectr/base/temporary_name.h"
#include "spectr/base/version.h"
#include "spectr/gguf/fingerprint.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;

/// Header of the file. Tokens, blocks, the rest and a checksum of all preceding bytes follow.
struct Header {
  std::array<char, 8> magic = {'S', 'P', 'E', 'C', 'T', 'R', 'K', 'V'};
  std::uint64_t build = build_identity();
  std::uint64_t model = 0;
  std::uint64_t tokens = 0, block_tokens = 0, blocks = 0, block_bytes = 0, rest_bytes = 0;

  /// Returns the bytes between the header and the checksum. Requires: no number exceeds 2⁴⁰.
  std::uint64_t bytes() const { return tokens * sizeof(Token) + blocks * block_bytes + rest_bytes; }
};
static_assert(std::has_unique_object_representations_v<Header>);

/// Identifies what keys and values depend on, other than the tokens and the build.
std::uint64_t identity_of(const Transformer& model, std::size_t context) {
  Fnv1a hash;
  hash.add(fingerprint_of(model.file()));
  hash.add(static_cast<std::uint64_t>(model.kv().keys));
  hash.add(static_cast<std::uint64_t>(model.kv().values));
  for (const LayerSpec& layer : model.spec().layers) {
    const AttentionSpec* attention = layer.attention();
    if (attention == nullptr) continue;
    hash.add(std::bit_cast<std::uint32_t>(attention->rope.magnitude));
    for (const float frequency : attention->rope.frequencies_in(context))
      hash.add(std::bit_cast<std::uint32_t>(frequency));
  }
  return hash.value();
}

/// Adds bytes to a hash, eight at a time.
void add(Fnv1a& hash, std::span<const std::byte> bytes) {
  std::uint64_t word = 0;
  while (bytes.size() >= sizeof word) {
    std::memcpy(&word, bytes.data(), sizeof word);
    hash.add(word);
    bytes = bytes.subspan(sizeof word);
  }
  for (const std::byte byte : bytes) hash.add(std::to_integer<std::uint64_t>(byte));
}

/// Writes bytes and hashes them.
class Writer {
 public:
  explicit Writer(const fs::path& path) : out_(path, std::ios::binary) {}

  void write(std::span<const std::byte> bytes) {
    out_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    add(hash_, bytes);
    size_ += bytes.size();
  }
  /// Writes the checksum. Returns false if any write has failed.
  bool finish() {
    const std::uint64_t checksum = hash_.value();
    write(std::as_bytes(std::span(&checksum, 1)));
    out_.close();
    return !out_.fail();
  }
  std::size_t size() const { return size_; }

 private:
  std::ofstream out_;
  Fnv1a hash_;
  std::size_t size_ = 0;
};

Result<std::vector<std::byte>> bytes_of(const fs::path& path) {
  std::error_code failed;
  const auto size = fs::is_directory(path, failed) ? std::uintmax_t{0} : fs::file_size(path, failed);
  if (failed) return error(ErrorCode::io, "{}: {}", path.string(), failed.message());
  std::ifstream in(path, std::ios::binary);
  if (!in) return error(ErrorCode::io, "{}: {}", path.string(), std::strerror(errno));
  std::vector<std::byte> bytes(size);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(in.gcount()) != size)
    return error(ErrorCode::io, "{}: cannot be read", path.string());
  return bytes;
}

}  // namespace

Result<std::size_t> write_prompt_file(const fs::path& path, const Transformer& target, std::size_t context,
                                      const CachedSequence& sequence) {
  const SavedSequence& saved = sequence.saved;
  Header header;
  header.model = identity_of(target, context);
  header.tokens = sequence.tokens.size();
  header.block_tokens = saved.block_tokens;
  header.blocks = saved.blocks.size();
  header.block_bytes = saved.block_bytes;
  header.rest_bytes = saved.rest.size();
  const fs::path part = temporary_name(path.string());
  Writer writer(part);
  writer.write(std::as_bytes(std::span(&header, 1)));
  writer.write(std::as_bytes(std::span(sequence.tokens)));
  for (const SharedBlock& block : saved.blocks) writer.write({block.data(), saved.block_bytes});
  writer.write(saved.rest);
  std::error_code failed;
  if (!writer.finish()) {
    const std::string why = std::strerror(errno);
    fs::remove(part, failed);
    return error(ErrorCode::io, "{}: cannot be written: {}", path.string(), why);
  }
  fs::rename(part, path, failed);
  if (failed) return error(ErrorCode::io, "{}: {}", path.string(), failed.message());
  return writer.size();
}

Result<CachedSequence> read_prompt_file(const fs::path& path, const Transformer& target,
                                        std::size_t context) {
  SPECTR_TRY(const std::vector<std::byte> bytes, bytes_of(path));
  std::span<const std::byte> left = bytes;
  const auto take = [&left](std::size_t size) {
    const auto taken = left.first(size);
    left = left.subspan(size);
    return taken;
  };
  Header header;
  const auto damaged = [&path] { return error("{}: is truncated or damaged", path.string()); };
  const std::size_t magic = sizeof header.magic;
  if (left.size() < magic || std::memcmp(left.data(), header.magic.data(), magic) != 0)
    return error("{}: is not a saved prompt", path.string());
  if (left.size() < sizeof header + sizeof(std::uint64_t)) return damaged();
  std::memcpy(&header, take(sizeof header).data(), sizeof header);
  if (header.build != build_identity())
    return error("{}: was saved by another build of spectr", path.string());
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  for (const std::uint64_t size : {header.tokens, header.block_tokens, header.blocks, header.rest_bytes})
    if (size > most) return damaged();
  if (header.block_bytes > most / std::max<std::uint64_t>(header.blocks, 1) ||
      left.size() != header.bytes() + sizeof(std::uint64_t))
    return damaged();
  Fnv1a hash;
  add(hash, std::as_bytes(std::span(&header, 1)));
  CachedSequence sequence{&target, std::vector<Token>(header.tokens), {}};
  const auto tokens = take(header.tokens * sizeof(Token));
  std::memcpy(sequence.tokens.data(), tokens.data(), tokens.size());
  add(hash, tokens);
  sequence.saved.length = header.tokens;
  sequence.saved.block_tokens = header.block_tokens;
  sequence.saved.block_bytes = header.block_bytes;
  BlockPool pool(std::max<std::size_t>(header.block_bytes, 1));
  for (std::uint64_t i = 0; i < header.blocks; ++i) {
    const auto block = take(header.block_bytes);
    add(hash, block);
    std::ranges::copy(block, sequence.saved.blocks.emplace_back(pool.take()).data());
  }
  const auto rest = take(header.rest_bytes);
  add(hash, rest);
  sequence.saved.rest.assign(rest.begin(), rest.end());
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, left.data(), sizeof checksum);
  if (checksum != hash.value()) return damaged();
  if (header.model != identity_of(target, context)) {
    return error(
        "{}: was saved for another model than {}, another context, or other types of keys and values",
        path.string(), target.spec().file);
  }
  const auto unknown = [&target](Token token) {
    return token < 0 || static_cast<std::size_t>(token) >= target.vocabulary();
  };
  if (std::ranges::any_of(sequence.tokens, unknown)) return damaged();
  return sequence;
}

}  // namespace spectr
