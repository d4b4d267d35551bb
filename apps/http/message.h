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

/// Whether two names of fields, hosts, origins or schemes are the same: the case of letters does not count.
bool same_name(std::string_view a, std::string_view b);

/// The fields of a head, in their order.
class Headers {
 public:
  using Field = std::pair<std::string, std::string>;
  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  void add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  /// The only one of that name.
  void set(std::string_view name, std::string value);
  /// The first one's value; empty: there is none.
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
/// What the handler finds again when it logs an exchange, by name. Never sent.
using Notes = std::map<std::string, Note, std::less<>>;

/// The identifier of a request that carried `sent` as its X-Request-Id: `sent` itself if it has 1 to 128
/// characters of [A-Za-z0-9._:+/=@-], otherwise a new one of 16 hexadecimal digits.
std::string request_id(std::string_view sent);

struct Request {
  std::string method = {};
  std::string path = {};  ///< of the target: percent signs decoded, without a query
  std::string query = {};  ///< of the target, as it was sent
  Headers headers = {};
  std::string body = {};
  std::string client = {};  ///< its address
  std::string id = {};      ///< request_id() of its head, once the answer has begun
};

/// A whole answer, or the head of one that is streamed. The connection adds what says how long it is and
/// whether the connection stays open.
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
