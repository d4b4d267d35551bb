#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "apps/bench/scores.h"
#include "apps/support/json.h"
#include "spectr/base/os/process.h"

namespace spectr::bench {
namespace {

/// A temporary file without a name. It is deleted when its last user closes it.
struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::string lines_of(std::span<const Answered> all) {
  std::string lines;
  for (const Answered& one : all) {
    lines += text_of(Json{{"prompt", one.prompt->turns},
                          {"answers", *one.texts},
                          {"reference", one.prompt->reference},
                          {"category", one.prompt->category}}) +
             "\n";
  }
  return lines;
}

std::string contents_of(std::FILE* file) {
  std::string text;
  std::array<char, 4096> part;
  while (const std::size_t bytes = std::fread(part.data(), 1, part.size(), file))
    text.append(part.data(), bytes);
  return text;
}

/// Parses one number per line.
Result<Scores> numbers_of(const std::string& text) {
  Scores numbers;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    double number = 0.0;
    const char* last = text.data() + end;
    if (end > begin && last[-1] == '\r') --last;
    const auto [stop, bad] = std::from_chars(text.data() + begin, last, number);
    if (bad != std::errc{} || stop != last || !std::isfinite(number))
      return error("line {} is not a number: '{}'", numbers.size() + 1, text.substr(begin, end - begin));
    numbers.emplace_back(number);
    begin = end + 1;
  }
  return numbers;
}

}  // namespace

Scorer command_scorer(std::string command) {
  const auto score = [command](std::span<const Answered> all) -> Result<Scores> {
    const auto fails = [&](std::string_view why) { return error("--score command:{}: {}", command, why); };
    const File in(std::tmpfile()), out(std::tmpfile());
    if (!in || !out) return fails(std::strerror(errno));
    const std::string lines = lines_of(all);
    if (std::fwrite(lines.data(), 1, lines.size(), in.get()) != lines.size() || std::fflush(in.get()) != 0)
      return fails(std::strerror(errno));
    const auto status = run_process({"/bin/sh", "-c", command}, {.input = in.get(), .output = out.get()});
    if (!status) return fails(status.error().message());
    if (*status != 0) return fails(fmt::format("exit status {}", *status));
    auto numbers = numbers_of(contents_of(out.get()));
    if (!numbers) return fails(numbers.error().message);
    if (numbers->size() != all.size())
      return fails(fmt::format("{} numbers for {} answers", numbers->size(), all.size()));
    return numbers;
  };
  return {"command:" + command, score, false};
}

}  // namespace spectr::bench
