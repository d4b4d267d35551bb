#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace spectr::http {

/// Compares names of fields, hosts, origins or schemes case-insensitively.
bool same_name(std::string_view a, std::string_view b);

/// Header fields in their order.
class Headers {
 public:
  using Field = std::pair<std::string, std::string>;
  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  void add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  /// Replaces all fields of that name.
  void set(std::string_view name, std::string value);
  /// Returns the first value of that name; empty if there is none.
  std::string_view get(std::string_view name) const;
  std::size_t count(std::string_view name) const;
  bool has(std::string_view name) const { return count(name) > 0; }

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }

 private:
  std::vector<Field> fields_;
};

/// A value in the log of an exchange.
using Note = std::variant<std::string, std::uint64_t>;
/// Log fields of an exchange by name. They are never sent.
using Notes = std::map<std::string, Note, std::less<>>;

/// Returns the identifier of a request whose X-Request-Id is `sent`: `sent` itself if it has 1 to 128
/// characters of [A-Za-z0-9._:+/=@-], otherwise a new one of 16 hexadecimal digits.
std::string request_id(std::string_view sent);

struct Request {
  std::string method = {};
  std::string path = {};   ///< percent-decoded path of the target, without its query
  std::string query = {};  ///< query of the target, not decoded
  Headers headers = {};
  std::string body = {};
  std::string client = {};  ///< client address
  std::string id = {};      ///< request_id() of the head, set when the answer begins
};

/// A complete answer, or the head of a streamed one. The connection adds the fields that frame the body and
/// say whether the connection stays open.
struct Response {
  int status = 200;
  Headers headers = {};
  std::string body = {};
  Notes notes = {};

  static Response of(std::string_view type, std::string body, int status = 200) {
    return {.status = status, .headers = {{"Content-Type", std::string(type)}}, .body = std::move(body)};
  }
};

}  // namespace spectr::http
