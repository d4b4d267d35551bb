// The mock as a library with the CUDA driver's name, for child processes. The variable SPECTR_MOCK_CUDA
// describes its device: comma-separated words like "bytes=300000".
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

#include "tests/support/devices/mock_cuda.h"

namespace spectr::test {
namespace {

MockCuda& begin() {
  std::map<std::string, std::size_t> said;
  const char* const words = std::getenv("SPECTR_MOCK_CUDA");
  std::istringstream in(words == nullptr ? "" : words);
  for (std::string word; std::getline(in, word, ',');)
    said[word.substr(0, word.find('='))] = std::stoull(word.substr(word.find('=') + 1));
  const auto value = [&said](const char* name, std::size_t otherwise) {
    return said.contains(name) ? said[name] : otherwise;
  };
  MockCuda::Settings settings;
  settings.devices = static_cast<int>(value("devices", 1));
  settings.bytes = value("bytes", settings.bytes);
  settings.major = static_cast<int>(value("major", 9));
  settings.version = static_cast<int>(value("version", 13000));
  settings.wrong_download = static_cast<int>(value("wrong_download", 0));
  auto* const mock = new MockCuda(settings);  // NOLINT: a driver is never unloaded
  if (said.contains("lose_at")) mock->lose_at(static_cast<int>(said["lose_at"]));
  return *mock;
}

[[maybe_unused]] const MockCuda& mock = begin();

}  // namespace
}  // namespace spectr::test
