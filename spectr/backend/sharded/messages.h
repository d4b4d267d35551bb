#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "spectr/backend/sharded/split.h"
#include "spectr/base/token.h"
#include "spectr/nn/kv_type.h"
#include "spectr/nn/pass_batch.h"
#include "spectr/nn/rope_choice.h"

namespace spectr {

/// Serializes values as their in-memory bytes: all ranks run the same build with the same byte order.
class MessageWriter {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    add(&value, sizeof value);
  }
  template <class T>
  void put_all(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(values.size());
    if (!values.empty()) add(values.data(), values.size_bytes());
  }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  void add(const void* bytes, std::size_t size) {
    const std::size_t before = bytes_.size();
    bytes_.resize(before + size);
    std::memcpy(bytes_.data() + before, bytes, size);
  }

  std::vector<std::byte> bytes_;
};

/// Deserializes what MessageWriter wrote. If too few bytes are left, this read and all later ones fail.
class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  bool get(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return take(std::as_writable_bytes(std::span(&value, 1)));
  }
  template <class T>
  bool get_all(std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::size_t count = 0;
    if (!get(count) || count > bytes_.size() / sizeof(T)) return false;
    values.resize(count);
    return take(std::as_writable_bytes(std::span(values)));
  }
  bool is_at_end() const { return bytes_.empty(); }

 private:
  bool take(std::span<std::byte> out) {
    if (out.size() > bytes_.size()) {
      bytes_ = {};
      return false;
    }
    if (!out.empty()) std::memcpy(out.data(), bytes_.data(), out.size());
    bytes_ = bytes_.subspan(out.size());
    return true;
  }

  std::span<const std::byte> bytes_;
};

/// The messages of the leader to the other ranks, with their arguments.
enum class Order : std::uint8_t {
  load,         ///< LoadOrder
  reserve,      ///< rows
  open_cache,   ///< CacheId, CacheSize
  close_cache,  ///< CacheId
  copy_cache,   ///< CacheCopy
  move,         ///< the moves of a pass for which the leader had no memory
  pass,         ///< the slot of its logits, its batch
  ask,          ///< Question
  answer,       ///< no arguments: the rank replies that it is alive
  times,        ///< no arguments: the rank replies with its RankTimes since the last request
  sums,         ///< Rounds
  ring,         ///< Rounds
  end,          ///< no arguments: closes the model
};

/// Asks each rank to load its part of a model with the leader's settings.
struct LoadOrder {
  std::size_t ranks;  ///< number of ranks that share the model
  Split split;
  std::uint64_t fingerprint;  ///< of the leader's model file
  std::uint64_t build;        ///< identity of the program build
  KvChoice kv;
  RopeChoice rope;
};

/// A query about one row of logits.
struct Question {
  enum class Kind : std::uint8_t { at, top, log_sum_exp, values };
  Kind kind;
  std::uint32_t pass;  ///< slot of the pass's logits
  std::size_t row, size;
  Token token = 0;         ///< for `at`
  std::size_t k = 0;       ///< for `top`
  double temperature = 1;  ///< for `log_sum_exp`
};

void put_copy(MessageWriter& out, const CacheCopy& copy);
bool get_copy(MessageReader& in, CacheCopy& copy);

/// Serializes a batch, except its extra tokens: a head split over ranks has no shortlist.
void put_batch(MessageWriter& out, const PassBatch& batch);
bool get_batch(MessageReader& in, PassBatch& batch);

}  // namespace spectr
