#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/server/raw_connection.h"
#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string smuggled = "GET /slots HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::string length(const std::string& body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n";
}

std::string chunked(const std::string& body) {
  return fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", body.size(), body);
}

class Framing : public WithServer<1> {
 protected:
  /// Returns everything that the server sends on a connection until it closes it.
  static std::string answers(const std::string& method, const std::string& headers, const std::string& body) {
    RawConnection client(server().server().port());
    client.send(method + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n" + body);
    return client.receive_all();
  }
};

TEST_F(Framing, ABodyThatIsNotReadIsNotTheNextRequest) {
  const std::pair<std::string, std::string> bodies[] = {
      {length(smuggled), smuggled}, {"Transfer-Encoding: chunked\r\n", chunked(smuggled)}};
  for (const auto& [headers, body] : bodies) {
    for (const char* method : {"GET /health", "HEAD /health", "OPTIONS /health"}) {
      const std::string answer = answers(method, headers, body);
      EXPECT_THAT(answer, StartsWith("HTTP/1.1 20")) << method;
      EXPECT_THAT(answer, HasSubstr("Connection: close")) << method;
      EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << method << ": " << answer;
    }
  }
}

TEST_F(Framing, ALengthThatIsNotClearIsRefused) {
  const std::string body = R"({"content": "a"})", chunks = "Transfer-Encoding: chunked\r\n";
  const std::tuple<std::string, std::string, int> cases[] = {
      {"POST /tokenize", "", 411},
      {"POST /tokenize", length(body) + length(body + smuggled), 400},
      {"POST /tokenize", length(body) + chunks, 400},
      {"POST /tokenize", chunks + chunks, 400},
      {"POST /tokenize", "Transfer-Encoding: gzip, chunked\r\n", 400},
      {"POST /tokenize", "Transfer-Encoding: chunke%64\r\n", 400},
      {"POST /tokenize", "Content-Length: 1%36\r\n", 400},
      {"POST /tokenize", "Content-Length: +16\r\n", 400},
      {"POST /tokenize", "Content-Length: 16, 16\r\n", 400},
      {"POST /tokenize", "Content-Length: 99999999999999999999\r\n", 400},
      {"POST /tokenize", length(body) + "Content-Length : 3\r\n", 400},
      {"GET /health", length(body) + chunks, 400},
      {"DELETE /slots", length(body), 405},
      {"PUT /slots", "", 405},
  };
  for (const auto& [method, headers, status] : cases) {
    const std::string answer = answers(method, headers, body + smuggled);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + std::to_string(status))) << method << '\n' << headers;
    EXPECT_THAT(answer, HasSubstr("invalid_request_error"));
    EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << method << '\n' << headers;
  }
}

TEST_F(Framing, AHeadWhoseLinesOthersMayReadOtherwiseIsRefused) {
  const std::string size = std::to_string(smuggled.size());
  for (const std::string& headers :
       {"X: a\rContent-Length: " + size + "\r\n", "Content-Length: " + size + "\n",
        "X: a\nContent-Length: " + size + "\r\n", "Content-Length " + size + "\r\n",
        std::string("Host: evil.example\nX: a\r\n")}) {
    const std::string answer = answers("GET /health", headers, smuggled);
    EXPECT_THAT(answer, Not(HasSubstr("HTTP/1.1 20"))) << headers;
  }
}

TEST_F(Framing, NothingIsReadBehindABodyInChunks) {
  const std::string answer =
      answers("POST /tokenize", "Transfer-Encoding: chunked\r\n", chunked(R"({"content": "a"})") + smuggled);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << answer;
}

TEST_F(Framing, WhereNoBodyIsExpectedNoneIsMissing) {
  const std::string health = answers("POST /health", "", "");
  EXPECT_THAT(health, StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(health, HasSubstr("Allow: GET, HEAD, OPTIONS"));
  EXPECT_THAT(answers("POST /nope", "", ""), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(answers("POST /nope", "Content-Length: 5000000\r\n", ""), StartsWith("HTTP/1.1 404"));
}

TEST_F(Framing, ABodyThatIsAnnouncedTooLongIsRefusedBeforeItIsSent) {
  const std::string head = "POST /tokenize", length = "Content-Length: 5000000\r\n";
  for (const std::string& headers : {length, length + "Expect: 100-continue\r\n"}) {
    const std::string answer = answers(head, headers, "");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 413")) << headers;
    EXPECT_THAT(answer, HasSubstr("Content-Length is 5000000, at most 4194304 bytes are read"));
    EXPECT_THAT(answer, HasSubstr("Connection: close"));
  }
}

TEST_F(Framing, ABodyThatIsAskedForIsSaidToBeWelcome) {
  const std::string body = R"({"content": "a"})", asking = length(body) + "Expect: 100-continue\r\n";
  RawConnection client(server().server().port());
  client.send("POST /tokenize HTTP/1.1\r\nHost: localhost\r\n" + asking + "\r\n");
  EXPECT_THAT(client.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  client.send(body);
  EXPECT_THAT(client.receive_until("tokens"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answers("POST /slots", asking, ""), StartsWith("HTTP/1.1 405")) << "nobody wants this one";
}

TEST_F(Framing, ChunkedBodiesAreRead) {
  RawConnection client(server().server().port());
  client.send("POST /tokenize HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" +
              chunked(R"({"content": "a"})"));
  EXPECT_THAT(client.receive_until("tokens"), HasSubstr("tokens"));
}

TEST_F(Framing, AConnectionServesRequestsOneAfterTheOther) {
  RawConnection client(server().server().port());
  client.send(smuggled + smuggled + "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.receive_all(), HasSubstr("ok"));
}

TEST_F(Framing, ARequestIsAnsweredThoughItsClientSendsNoMore) {
  RawConnection client(server().server().port());
  client.send(smuggled);
  client.shut();
  EXPECT_THAT(client.receive_all(), StartsWith("HTTP/1.1 200"));
}

TEST_F(Framing, WhatTheProtocolAllowsIsRead) {
  const std::string host = "Host: localhost\r\n", body = R"({"content": "a"})";
  const std::string cases[] = {
      "POST /tokenize HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n10\r\n" + body +
          "\r\n0\r\nX-Trailer: a\r\n\r\n",
      "GET http://localhost/health HTTP/1.1\r\n" + host + "Connection: Close\r\n\r\n",
      "\r\nGET /health HTTP/1.1\r\n" + host + "Connection: TE, close\r\n\r\n",
      "GET /health?x=y HTTP/1.0\r\n\r\n",
  };
  for (const std::string& request : cases) {
    RawConnection client(server().server().port());
    client.send(request);
    const std::string answer = client.receive_all();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200")) << request;
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n")) << request;
  }
}

TEST_F(Framing, WhatItDoesNotIsRefused) {
  const std::string chunks = "Host: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::pair<std::string, std::string> cases[] = {
      {"GET /health HTTP/1.1\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", "400"},
      {"POST /tokenize HTTP/1.1\r\n" + chunks + "500000\r\n", "413"},
      {"GET /health HTTP/3.0\r\nHost: localhost\r\n\r\n", "505"},
  };
  for (const auto& [request, status] : cases) {
    RawConnection client(server().server().port());
    client.send(request);
    const std::string answer = client.receive_all();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + status)) << request;
    EXPECT_THAT(answer, HasSubstr("invalid_request_error"));
  }
}

TEST_F(Framing, AStreamToAnOldClientHasNoChunks) {
  const std::string body = R"({"prompt": "Once", "max_tokens": 3, "stream": true})";
  RawConnection client(server().server().port());
  client.send("POST /v1/completions HTTP/1.0\r\n" + length(body) + "\r\n" + body);
  const std::string answer = client.receive_all();
  EXPECT_THAT(answer, HasSubstr("\r\n\r\ndata: {"));
  EXPECT_THAT(answer, testing::EndsWith("data: [DONE]\n\n"));
  EXPECT_THAT(answer, Not(HasSubstr("chunked")));
}

TEST_F(Framing, ARefusedBodyDoesNotTakeItsAnswerAway) {
  const std::string body(1 << 20, ' ');
  EXPECT_THAT(answers("POST /tokenize", length(body) + "Content-Encoding: gzip\r\n", body),
              StartsWith("HTTP/1.1 415"));
}

TEST_F(Framing, AFormsTypeMakesNoDifference) {
  const std::string body = R"({"content": ")" + std::string(50'000, 'a') + R"("})";
  const auto reply =
      server().post("/tokenize", body, {{"Content-Type", "application/x-www-form-urlencoded"}});
  EXPECT_EQ(reply.status, 200) << reply.body;
}

TEST(Streams, ComeAsTheyAreWrittenWhateverEncodingIsAccepted) {
  ServerOptions options = TestServer::options(1);
  options.service.engine.models.context = 0;
  const TestServer server(std::move(options));
  const std::string body = R"({"prompt": "Once", "ignore_eos": true, "stream": true, "n": 16})";
  RawConnection client(server.server().port());
  client.send("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip, br\r\n" +
              length(body) + "\r\n" + body);
  const std::string begin = client.receive_until("data: ");
  EXPECT_THAT(begin, HasSubstr("data: "));
  EXPECT_THAT(begin, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_THAT(begin, Not(HasSubstr("Content-Encoding")));
  EXPECT_EQ(server.busy(), 1) << "the texts are still being written";
}

}  // namespace
}  // namespace spectr::server
