// The server's log, whose readers cannot block the server.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "tests/program/spectr.h"
#include "tests/server/http_client.h"

namespace spectr::test {
namespace {

using testing::HasSubstr;

const Arguments serve = {"serve", "-m", target(), "--method", "plain", "--port", "0"};

/// Returns a port that has no listener at the moment.
int free_port() {
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(listening, reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(listening);
  return ntohs(address.sin_port);
}

/// A server whose standard error is a pipe.
class PipedServer {
 public:
  explicit PipedServer(const Arguments& more = {}) {
    EXPECT_EQ(mkfifo(path().c_str(), 0600), 0);
    reading_ = open(path().c_str(), O_RDONLY | O_NONBLOCK);
    run_ = std::make_unique<RunningProgram>(
        "/bin/sh", Arguments{"-c", "exec \"$0\" \"$@\" 2>" + path(), spectr_program()} + serve + more);
    EXPECT_TRUE(comes_true([&] { return read().find("ready") != std::string::npos; })) << said_;
  }
  ~PipedServer() {
    close_pipe();
    std::filesystem::remove(path());
  }
  PipedServer(const PipedServer&) = delete;
  PipedServer& operator=(const PipedServer&) = delete;

  /// Returns all output so far.
  const std::string& read() {
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(reading_, buffer, sizeof buffer)) > 0;)
      said_.append(buffer, static_cast<std::size_t>(n));
    return said_;
  }
  void close_pipe() {
    if (reading_ >= 0) close(std::exchange(reading_, -1));
  }
  /// Fills the pipe.
  void fill_pipe() const {
    const int writing = open(path().c_str(), O_WRONLY | O_NONBLOCK);
    const std::string much(4096, 'x');
    while (write(writing, much.data(), much.size()) > 0) continue;
    while (write(writing, "x", 1) > 0) continue;
    close(writing);
  }
  int status_of(const std::string& path) const {
    return server::ask("127.0.0.1", port(), "GET", path, {}, "").status;
  }
  RunningProgram& run() const { return *run_; }

 private:
  std::string path() const { return name_.path() + ".pipe"; }
  int port() const {
    const std::string before = "http://127.0.0.1:";
    return std::stoi(said_.substr(said_.find(before) + before.size()));
  }

  TemporaryFile name_{""};
  int reading_ = -1;
  std::string said_;
  std::unique_ptr<RunningProgram> run_;
};

TEST(ServeLog, ThatNobodyReadsAnyMoreEndsNothing) {
  PipedServer server;
  server.close_pipe();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(server.status_of("/nope"), 404);
  server.run().send(SIGTERM);
  EXPECT_EQ(server.run().wait().status, 0);
}

TEST(ServeLog, ThatHasNoRoomHoldsNothingUp) {
  PipedServer server;
  server.fill_pipe();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(server.status_of("/nope"), 404);
  server.run().send(SIGTERM);
  EXPECT_EQ(server.run().wait().status, 0);
}

TEST(ServeLog, MayBeClosedFromTheBeginning) {
  const int port = free_port();
  const Arguments shell = {"-c", "exec \"$0\" \"$@\" 2>&-", spectr_program()};
  RunningProgram run("/bin/sh", shell + serve + Arguments{"--port", std::to_string(port)});
  const auto health = [port] { return server::ask("127.0.0.1", port, "GET", "/health", {}, "").status; };
  EXPECT_TRUE(comes_true([&] { return health() == 200; }));
  run.send(SIGTERM);
  EXPECT_EQ(run.wait().status, 0);
}

TEST(ServeLog, HasAnObjectForEveryRequest) {
  PipedServer server({"--log-format", "json"});
  EXPECT_EQ(server.status_of("/nope"), 404);
  EXPECT_EQ(server.status_of("/health"), 200);
  ASSERT_TRUE(comes_true([&] { return server.read().find("\"/nope\"") != std::string::npos; }));
  server.run().send(SIGTERM);
  server.run().wait();
  std::istringstream lines(server.read());
  int requests = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('{')) continue;  // printed before the log started
    const Json object = Json::parse(line);
    EXPECT_TRUE(object.contains("time") && object.contains("level") && object.contains("message")) << line;
    if (object["message"] != "request") continue;
    ++requests;
    EXPECT_EQ(object["path"], "/nope") << "probes that succeed are not logged";
    EXPECT_EQ(object["reason"], "there is no /nope");
  }
  EXPECT_EQ(requests, 1);
}

TEST(ServeLog, HasAnObjectForWhatMeasuresThisMachine) {
  const TemporaryFile name("");
  PipedServer server(
      {"-md", draft(), "--method", "auto", "--log-format", "json", "--cost-file", name.path() + ".costs"});
  std::istringstream lines(server.read());
  int measured = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("measuring") == std::string::npos) continue;
    ++measured;
    EXPECT_TRUE(Json::accept(line)) << line;
  }
  EXPECT_GE(measured, 1) << server.read();
  std::filesystem::remove(name.path() + ".costs");
}

TEST(ServeLog, WarnsOfAServerThatOthersCanReachWithoutAKey) {
  const TemporaryFile no_model("no model");
  const auto err = [&](const Arguments& more) {
    return spectr(Arguments{"serve", "-m", no_model.path(), "--port", "0"} + more).err;
  };
  EXPECT_THAT(err({"--host", "0.0.0.0"}), HasSubstr("0.0.0.0 can be reached from other machines"));
  EXPECT_THAT(err({"--host", "0.0.0.0", "--api-key", "x"}), testing::Not(HasSubstr("can be reached")));
  EXPECT_THAT(err({}), testing::Not(HasSubstr("can be reached")));
}

TEST(ServeLog, IsTextOrJson) {
  expect_error(serve + Arguments{"--log-format", "xml"}, "--log-format");
}

}  // namespace
}  // namespace spectr::test
