#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spectr {

/// A text that knows which of its bytes are quoted: what somebody else said, and the text repeats. However it
/// is cut and joined, what is quoted stays so.
class MarkedText {
 public:
  /// The bytes from `begin` up to `end`.
  struct Span {
    std::size_t begin, end;
    bool operator==(const Span&) const = default;
  };
  /// A stretch of bytes that are all quoted, or none of them. A view of the text.
  struct Piece {
    std::string_view bytes;
    bool quoted;
  };

  MarkedText() = default;
  explicit MarkedText(std::string bytes, bool quoted = false);

  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  /// What is quoted, in order; none is empty, and none begins where another ends.
  std::span<const Span> quotes() const { return quotes_; }
  /// Whether all of it is.
  bool is_quoted() const { return quotes_.size() == 1 && quotes_[0] == Span{0, bytes_.size()}; }
  /// All of it, none of the pieces empty.
  std::vector<Piece> pieces() const;

  /// What `view` shows. Requires: a view of this text.
  MarkedText part(std::string_view view) const { return MarkedText().append(*this, view); }
  MarkedText& append(std::string_view bytes, bool quoted = false);
  MarkedText& append(const MarkedText& other) { return append(other, other.bytes_); }
  /// Appends what `view` shows of the other. Requires: a view of it. Cost: its bytes and its quotes, and a
  /// search among the other's quotes.
  MarkedText& append(const MarkedText& other, std::string_view view);

  /// Changes every byte in its place.
  template <class Change>
  void change_bytes(Change change) {
    for (char& byte : bytes_) byte = change(byte);
  }

 private:
  std::string bytes_;
  std::vector<Span> quotes_;
};

}  // namespace spectr
