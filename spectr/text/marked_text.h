#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spectr {

/// A text that tracks which of its bytes are quoted: the words of others that the text repeats. Bytes stay
/// quoted however the text is cut and joined.
class MarkedText {
 public:
  /// The bytes from `begin` to before `end`.
  struct Span {
    std::size_t begin, end;
    bool operator==(const Span&) const = default;
  };
  /// A maximal run of bytes that are all quoted or all unquoted. A view of the text.
  struct Piece {
    std::string_view bytes;
    bool quoted;
  };

  MarkedText() = default;
  explicit MarkedText(std::string bytes, bool quoted = false);

  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  /// Returns the quoted spans in order; no span is empty, and no two are adjacent.
  std::span<const Span> quotes() const { return quotes_; }
  /// True if the whole text is quoted.
  bool is_quoted() const { return quotes_.size() == 1 && quotes_[0] == Span{0, bytes_.size()}; }
  /// Returns the whole text as pieces, none of them empty.
  std::vector<Piece> pieces() const;

  /// Returns the text that `view` shows, with its quotes. Requires: a view of this text.
  MarkedText part(std::string_view view) const { return MarkedText().append(*this, view); }
  MarkedText& append(std::string_view bytes, bool quoted = false);
  MarkedText& append(const MarkedText& other) { return append(other, other.bytes_); }
  /// Appends the part of `other` that `view` shows, with its quotes. Requires: a view of `other`. Cost:
  /// linear in the bytes and quotes of the part, plus a search among the quotes of `other`.
  MarkedText& append(const MarkedText& other, std::string_view view);

  /// Applies `change` to every byte, in place.
  template <class Change>
  void change_bytes(Change change) {
    for (char& byte : bytes_) byte = change(byte);
  }

 private:
  std::string bytes_;
  std::vector<Span> quotes_;
};

}  // namespace spectr
