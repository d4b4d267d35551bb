#pragma once

#include <httplib.h>

#include <cstddef>

namespace spectr::server {

/// The lines of a head, character by character. The library skips header lines without a colon, and ends a
/// line at every line feed, where a proxy may see another head.
class HeadLines {
 public:
  /// Whether the head may go on so: a line feed behind each carriage return and nowhere else, a colon in each
  /// line but the first and the empty one.
  bool take(char c);

 private:
  char last_ = '\0';
  bool first_ = true, empty_ = true, colon_ = false;  // the line
};

/// Takes out of a head what would make the HTTP library do more than is wanted: send parts of an answer,
/// compress it (a stream would come in one piece at its end), or read a body as a form.
void simplify(httplib::Request& request);

/// Whether the connection must not be read on after this request, as what comes might not be the next one:
/// behind a body that nobody reads, because its method has none, and behind one in chunks, whose sizes the
/// library reads more laxly than others do.
/// Throws ApiError where the head does not tell in exactly one way how long the body is, as a proxy may read
/// it otherwise and see other requests than this server does.
bool leaves_body(const httplib::Request& request);

/// Throws ApiError where a body is to be read whose length is not told, or is more than `max` bytes.
/// Requires: a head that leaves_body has seen.
void check_length(const httplib::Request& request, std::size_t max);

}  // namespace spectr::server
