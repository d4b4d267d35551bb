// Requests a completion from a running `spectr serve` and prints it as it arrives.
//   stream_client [PORT] [PROMPT]
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

namespace {

namespace http = boost::beast::http;

/// Prints and removes complete events. Returns false if one of them is an error.
bool print_events(std::string& stream) {
  for (std::size_t end; (end = stream.find("\n\n")) != std::string::npos; stream.erase(0, end + 2)) {
    if (!stream.starts_with("data: {")) continue;
    const auto event = nlohmann::json::parse(stream.substr(6, end - 6));
    if (event.contains("error")) {
      std::fprintf(stderr, "%s\n", event["error"].dump().c_str());
      return false;
    }
    for (const auto& choice : event["choices"]) std::printf("%s", choice["text"].get<std::string>().c_str());
    std::fflush(stdout);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) try {
  const unsigned short port = static_cast<unsigned short>(argc > 1 ? std::atoi(argv[1]) : 8080);
  const nlohmann::json body = {
      {"prompt", argc > 2 ? argv[2] : "Once upon a time"}, {"max_tokens", 60}, {"stream", true}};
  http::request<http::string_body> request{http::verb::post, "/v1/completions", 11, body.dump()};
  request.set(http::field::host, "127.0.0.1");
  request.set(http::field::content_type, "application/json");
  request.prepare_payload();

  boost::asio::io_context context;
  boost::asio::ip::tcp::socket socket(context);
  socket.connect({boost::asio::ip::address_v4::loopback(), port});
  http::write(socket, request);
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> answer;
  answer.body_limit(boost::none);
  http::read_header(socket, buffer, answer);
  const bool good = answer.get().result() == http::status::ok;
  while (!answer.is_done()) {
    http::read_some(socket, buffer, answer);
    if (good && !print_events(answer.get().body())) return 1;
  }
  if (!good) std::fprintf(stderr, "no text: %s\n", answer.get().body().c_str());
  std::puts("");
  return good ? 0 : 1;
} catch (const std::exception& failure) {
  std::fprintf(stderr, "no text: %s\n", failure.what());
  return 1;
}
