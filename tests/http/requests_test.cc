// Tests of parsing requests and of finding their end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/http/request_reader.h"
#include "apps/http/target.h"

namespace spectr::http {
namespace {

using testing::HasSubstr;
using Progress = RequestReader::Progress;

const std::string host = "Host: localhost\r\n";

/// The result of reading these bytes in pieces of `size`.
struct Read {
  Progress end = Progress::more;
  Request request = {};
  RequestReader::Failure failure = {};
  std::string left = {};  ///< unread bytes
};

Read read(const std::string& bytes, std::size_t size = std::string::npos, const Limits& limits = {}) {
  RequestReader reader(limits);
  std::string buffer;
  Read all;
  std::size_t at = 0;
  while (all.end == Progress::more || all.end == Progress::head) {
    if (all.end == Progress::more) {
      if (at >= bytes.size()) break;
      buffer += bytes.substr(at, size);
      at += std::min(size, bytes.size() - at);
    }
    all.end = reader.take(buffer);
  }
  if (all.end == Progress::whole) all.request = reader.request();
  if (all.end == Progress::failed) all.failure = reader.failure();
  all.left = buffer + bytes.substr(std::min(at, bytes.size()));
  return all;
}

TEST(Requests, AreTheSameHoweverTheirBytesAreCut) {
  const std::string chunks = "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
  const std::string requests[] = {
      "GET /a HTTP/1.1\r\n" + host + "X: y\r\n\r\n",
      "\r\n\r\nPOST /b?c HTTP/1.1\r\n" + host + "Content-Length: 4\r\n\r\nbody",
      "POST /c HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n" + chunks,
  };
  const std::string bodies[] = {"", "body", "abc0123456789"};
  for (std::size_t i = 0; i < std::size(requests); ++i) {
    for (std::size_t size = 1; size <= requests[i].size(); ++size) {
      const Read all = read(requests[i] + "GET /next", size);
      ASSERT_EQ(all.end, Progress::whole) << all.failure.message << " in pieces of " << size;
      EXPECT_EQ(all.request.body, bodies[i]);
      EXPECT_EQ(all.request.path, std::string("/") + static_cast<char>('a' + i));
      EXPECT_EQ(all.left, "GET /next");
      EXPECT_FALSE(all.request.headers.has("Trailer")) << "a head does not change behind its end";
    }
  }
}

TEST(Requests, HaveOneHostUnlessTheyAreOld) {
  EXPECT_EQ(read("GET / HTTP/1.1\r\n\r\n").failure.status, 400);
  EXPECT_EQ(read("GET / HTTP/1.1\r\n" + host + host + "\r\n").failure.status, 400);
  EXPECT_EQ(read("GET / HTTP/1.0\r\n" + host + host + "\r\n").failure.status, 400);
  EXPECT_EQ(read("GET / HTTP/1.0\r\n\r\n").end, Progress::whole);
}

TEST(Requests, MayNameTheHostInTheTarget) {
  const Request request = read("GET http://other.example:8/a%20b?c HTTP/1.1\r\n" + host + "\r\n").request;
  EXPECT_EQ(request.path, "/a b");
  EXPECT_EQ(request.headers.get("host"), "other.example:8") << "it counts, not the one beside it";
  EXPECT_EQ(request.headers.count("Host"), 1u);
}

TEST(Targets, AreAPathAUrlOrAStar) {
  const std::pair<const char*, const char*> paths[] = {
      {"/", "/"},          {"/a/b?c=/d", "/a/b"},     {"/%2e%2E/x%", "/../x%"},
      {"/a%4", "/a%4"},    {"/a%zz", "/a%zz"},        {"http://h", "/"},
      {"HTTP://h?q", "/"}, {"https://h:1/x#y", "/x"}, {"*", "*"},
  };
  for (const auto& [target, path] : paths) {
    const auto read = read_target(target);
    ASSERT_TRUE(read) << target;
    EXPECT_EQ(read->path, path);
  }
  EXPECT_EQ(read_target("/a?b=c#d")->query, "b=c");
  EXPECT_EQ(read_target("http://h?q#d?e")->query, "q");
  for (const char* none : {"", "a", "h:80", "*?a", "http://", "http:///x", "http://me@h/", "ftp://h/x", "**"})
    EXPECT_FALSE(read_target(none)) << none;
}

TEST(Queries, HaveValuesByName) {
  const char* const query = "action=save&name=a%20b&empty=&flag&action=again";
  EXPECT_EQ(query_value(query, "action"), "save");
  EXPECT_EQ(query_value(query, "name"), "a b");
  EXPECT_EQ(query_value(query, "empty"), "");
  EXPECT_EQ(query_value(query, "flag"), "");
  EXPECT_EQ(query_value(query, "act"), std::nullopt);
  EXPECT_EQ(query_value("", "action"), std::nullopt);
}

TEST(Requests, ThatCanBeReadInTwoWaysAreRefused) {
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  for (const std::string& fields :
       {std::string("Content-Length: 1\r\nContent-Length: 2\r\n"), "Content-Length: 1\r\n" + chunked,
        chunked + "Content-Length: 1\r\n", chunked + chunked,
        std::string("Transfer-Encoding: gzip, chunked\r\n"), std::string("Transfer-Encoding: identity\r\n"),
        std::string("Content-Length: 1, 1\r\n"), std::string("Content-Length: +1\r\n"),
        std::string("Content-Length: 0x1\r\n"), std::string("Content-Length: 99999999999999999999\r\n"),
        std::string("Content-Length : 1\r\n"), std::string("X: a\nContent-Length: 1\r\n"),
        std::string("X: a\rY: b\r\n"), std::string("no colon\r\n"), std::string("X: \x01\r\n"),
        std::string(": empty\r\n")}) {
    EXPECT_EQ(read("POST / HTTP/1.1\r\n" + host + fields + "\r\n").failure.status, 400) << fields;
  }
  EXPECT_EQ(read("POST / HTTP/1.0\r\n" + chunked + "\r\n").failure.status, 400) << "it knows no chunks";
}

TEST(Requests, WithChunksThatAreNoneAreRefused) {
  const std::string head = "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n";
  for (const char* chunks : {"x\r\n", "-1\r\n", "1\r\nab\r\n", "1 \r\na\r\n", "0x1\r\na\r\n",
                             "11111111111111111\r\n", "1\na\n0\n\n"}) {
    EXPECT_EQ(read(head + chunks + "0\r\n\r\n").end, Progress::failed) << chunks;
  }
}

TEST(Requests, AreNoLongerThanTheirLimits) {
  Limits limits;
  limits.head_bytes = 100;
  limits.body_bytes = 10;
  const std::string head = "POST / HTTP/1.1\r\n" + host;
  for (const std::size_t size : {std::size_t{1}, std::string::npos}) {
    const Read fields = read(head + "X: " + std::string(100, 'x') + "\r\n\r\n", size, limits);
    EXPECT_EQ(fields.failure.status, 431);
    EXPECT_EQ(read(std::string(200, 'x'), size, limits).failure.status, 431) << "also without any line";
    const Read body = read(head + "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\nabcdef\r\n0\r\n\r\n",
                           size, limits);
    EXPECT_EQ(body.failure.status, 413);
    EXPECT_THAT(body.failure.message, HasSubstr("at most 10 bytes"));
    const std::string endless(1000, 'x');
    EXPECT_EQ(read(head + "Transfer-Encoding: chunked\r\n\r\n1;" + endless, size, limits).end,
              Progress::failed);
    EXPECT_EQ(read(head + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + endless, size, limits).end,
              Progress::failed);
  }
}

TEST(Requests, OfAnotherVersionAreToldSo) {
  EXPECT_EQ(read("GET / HTTP/2.0\r\n" + host + "\r\n").failure.status, 505);
  EXPECT_EQ(read("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").failure.status, 505);
  EXPECT_EQ(read("hello\r\n\r\n").failure.status, 400);
}

TEST(Requests, SayWhetherTheConnectionStaysOpen) {
  const std::tuple<const char*, const char*, bool> cases[] = {
      {"1.1", "", true},
      {"1.1", "Connection: close\r\n", false},
      {"1.1", "Connection: Close\r\n", false},
      {"1.1", "Connection: TE, close\r\n", false},
      {"1.1", "Connection: keep-alive\r\n", true},
      {"1.0", "", false},
      {"1.0", "Connection: Keep-Alive\r\n", true},
  };
  for (const auto& [version, field, stays] : cases) {
    RequestReader reader({});
    std::string bytes = std::string("GET / HTTP/") + version + "\r\n" + host + field + "\r\n";
    ASSERT_EQ(reader.take(bytes), Progress::head);
    EXPECT_EQ(reader.keeps_alive(), stays) << version << ' ' << field;
  }
}

TEST(Requests, AreBegunByTheirFirstLineOnly) {
  RequestReader reader({});
  std::string bytes = "\r\n\r\n\r";
  EXPECT_EQ(reader.take(bytes), Progress::more);
  EXPECT_FALSE(reader.begun());
  bytes += "\nG";
  EXPECT_EQ(reader.take(bytes), Progress::more);
  EXPECT_TRUE(reader.begun());
}

}  // namespace
}  // namespace spectr::http
