// Asks a running `spectr serve` for a text and prints it as it is written.
//   stream_client [PORT] [PROMPT]
#include <httplib.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

int main(int argc, char** argv) {
  const int port = argc > 1 ? std::atoi(argv[1]) : 8080;
  const nlohmann::json body = {
      {"prompt", argc > 2 ? argv[2] : "Once upon a time"}, {"max_tokens", 60}, {"stream", true}};

  httplib::Request request;
  request.method = "POST";
  request.path = "/v1/completions";
  request.set_header("Content-Type", "application/json");
  request.body = body.dump();
  std::string held;
  request.content_receiver = [&held](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
    held.append(data, size);
    for (std::size_t end; (end = held.find("\n\n")) != std::string::npos; held.erase(0, end + 2)) {
      if (!held.starts_with("data: {")) continue;
      const auto event = nlohmann::json::parse(held.substr(6, end - 6));
      if (event.contains("error")) {
        std::fprintf(stderr, "%s\n", event["error"].dump().c_str());
        return false;
      }
      for (const auto& choice : event["choices"])
        std::printf("%s", choice["text"].get<std::string>().c_str());
      std::fflush(stdout);
    }
    return true;
  };

  httplib::Client client("127.0.0.1", port);
  client.set_read_timeout(60);
  const auto result = client.send(request);
  if (!result || result->status != 200) {
    std::fprintf(stderr, "no text: %s\n", result ? held.c_str() : httplib::to_string(result.error()).c_str());
    return 1;
  }
  std::puts("");
}
