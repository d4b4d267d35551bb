// Arbitrary bytes must be answered or refused, and the requests must not depend on how the bytes are split,
// since a proxy could split them differently. The first byte is the size of the pieces.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/http/memory_client.h"
#include "tests/http/test_handler.h"

namespace {

using namespace spectr::http;

/// Returns all handled requests, each as one text.
std::vector<std::string> requests_of(const std::string& bytes, std::size_t piece) {
  TestHandler handler;
  handler.script->complete = true;
  MemoryClient client(handler);
  client.wire().most = piece;
  for (std::size_t at = 0; at < bytes.size() && !client.wire().closed; at += piece)
    client.send(bytes.substr(at, piece));
  client.end();
  std::vector<std::string> requests;
  for (const Request& request : handler.handled) {
    std::string text = request.method + '\n' + request.path + '\n';
    for (const auto& [name, value] : request.headers)
      text.append(name).append(": ").append(value).append("\n");
    requests.push_back(text + request.body);
  }
  const std::string& received = client.received();
  if (!received.empty() && !received.starts_with("HTTP/1.1 ")) std::abort();
  return requests;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (requests_of(bytes, std::size_t{data[0]} + 1) != requests_of(bytes, bytes.size())) std::abort();
  return 0;
}
