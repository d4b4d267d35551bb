#pragma once

#include <httplib.h>

#include <map>
#include <string>
#include <string_view>

namespace spectr::server {

/// Whether two names of hosts, origins or schemes are the same: their case does not count.
bool same_name(std::string_view a, std::string_view b);

/// Which paths there are, and for which methods.
class Paths {
 public:
  /// `methods` as an Allow header lists them; they must outlive this. A path of several parts that ends in a
  /// slash stands for those below it.
  void add(std::string path, std::string_view methods);

  /// Throws ApiError: with status 404 where there is no such path, with 405 where it is for other methods.
  void check(const httplib::Request& request) const;

 private:
  std::map<std::string, std::string_view> methods_;
};

}  // namespace spectr::server
