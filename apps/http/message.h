#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
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

struct Request {
  std::string method = {};
  std::string path = {};  ///< of the target: percent signs decoded, without a query
  Headers headers = {};
  std::string body = {};
  std::string client = {};  ///< its address
};

/// A whole answer, or the head of one that is streamed. The connection adds what says how long it is and
/// whether the connection stays open.
struct Response {
  int status = 200;
  Headers headers = {};
  std::string body = {};

  static Response of(std::string_view type, std::string body, int status = 200) {
    return {status, {{"Content-Type", std::string(type)}}, std::move(body)};
  }
};

}  // namespace spectr::http
