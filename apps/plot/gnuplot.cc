#include "apps/plot/gnuplot.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>

#include "spectr/base/os/process.h"

namespace spectr::plot {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File temporary_file() {
  return {std::tmpfile(), std::fclose};
}

/// Returns the first line that is not blank.
std::string first_line(std::FILE* file) {
  std::array<char, 500> line{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), file) != nullptr) {
    std::string text = line.data();
    text.erase(text.find_last_not_of(" \n") + 1);
    if (!text.empty()) return text;
  }
  return "it says nothing";
}

}  // namespace

Result<void> run_gnuplot(std::string_view script) {
  // Uses files rather than pipes so that neither process can block on the other.
  const File in = temporary_file(), out = temporary_file();
  if (!in || !out) return error("no temporary file for gnuplot: {}", std::strerror(errno));
  if (std::fwrite(script.data(), 1, script.size(), in.get()) != script.size() || std::fflush(in.get()) != 0) {
    return error("gnuplot's script cannot be written: {}", std::strerror(errno));
  }
  const auto status = run_process({"gnuplot"}, {.input = in.get(), .output = out.get(), .error = out.get()});
  if (!status && status.error() == std::errc::no_such_file_or_directory) {
    return error("gnuplot is not installed, so there is no picture: apt-get install gnuplot-nox");
  }
  if (!status) return error("gnuplot cannot be started: {}", status.error().message());
  if (*status != 0) return error("gnuplot: {}", first_line(out.get()));
  return {};
}

}  // namespace spectr::plot
