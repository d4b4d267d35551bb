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

/// Values one behind the other, as their bytes stand in memory: ranks are of one build and one byte order.
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

/// The same, read back. What was not written gives false, and everything behind it, too.
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

/// What the leader tells the others to do.
enum class Order : std::uint8_t {
  load,         ///< LoadOrder
  reserve,      ///< rows
  open_cache,   ///< CacheId, CacheSize
  close_cache,  ///< CacheId
  copy_cache,   ///< CacheCopy
  move,         ///< of a pass that the leader has no memory for: its moves
  pass,         ///< the place of its logits, its batch
  ask,          ///< Question
  answer,       ///< to say that one is there
  times,        ///< to say what passes have taken since they were last told
  sums,         ///< Rounds
  ring,         ///< Rounds
  end,          ///< of the model
};

/// A model to load a part of, as the leader does.
struct LoadOrder {
  std::size_t ranks;  ///< that share it
  Split split;
  std::uint64_t fingerprint;  ///< of the leader's file
  std::uint64_t build;        ///< of the program
  KvChoice kv;
  RopeChoice rope;
};

/// Of a row of logits.
struct Question {
  enum class Kind : std::uint8_t { at, top, log_sum_exp, values };
  Kind kind;
  std::uint32_t pass;  ///< the place of its logits
  std::size_t row, size;
  Token token = 0;         ///< of at
  std::size_t k = 0;       ///< of top
  double temperature = 1;  ///< of log_sum_exp
};

void put_copy(MessageWriter& out, const CacheCopy& copy);
bool get_copy(MessageReader& in, CacheCopy& copy);

/// A batch without words of its own (a head that is shared has no shortlist).
void put_batch(MessageWriter& out, const PassBatch& batch);
bool get_batch(MessageReader& in, PassBatch& batch);

}  // namespace spectr
