// spectr-card: shows that a device computes the right bits, and how fast. Needs no model files: it makes its
// own.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "spectr/base/stopwatch.h"
#include "tests/card/card.h"

namespace spectr::card {
namespace {

namespace fs = std::filesystem;

struct Section {
  std::string_view name;
  void (*run)(const Card&, const Extent&, Report&);
};
constexpr Section sections[] = {
    {"card", describe},           {"copies", measure_copies},     {"products", compare_products},
    {"kernels", compare_kernels}, {"passes", compare_passes},     {"widths", measure_widths},
    {"plans", measure_plans},     {"drafting", measure_drafting}, {"auto", measure_auto}};

constexpr std::string_view usage =
    R"(spectr-card: compares the bits of a device with the twins, and measures its passes.

  --device NAME   the device: CUDA0, Vulkan0, … (default: the first device; with --dry-run, the twins and all
                  Vulkan devices)
  --dry-run       the two smallest sizes of everything
  --only LIST     these sections, separated by commas: card, copies, products, kernels, passes, widths, plans,
                  drafting, auto
  --json FILE     also writes the results to FILE
  --folder DIR    keeps the files of random models in DIR (default: a temporary folder, deleted at the end)
  --list          prints the devices, and ends

The exit status is 0 if all bits are equal, 1 if bits differ or a section fails, 2 for unknown arguments. The
variable SPECTR_SOURCE_DIR names the project's folder, whose small models are computed.
)";

struct Arguments {
  std::vector<std::string> devices;
  std::string only, json;
  fs::path folder;
  bool dry = false, lists = false, helps = false;
};

/// Returns nothing for unknown arguments.
std::optional<Arguments> parse(int count, char** words) {
  Arguments all;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const bool has_value = i + 1 < count;
    if (word == "--dry-run") {
      all.dry = true;
    } else if (word == "--list") {
      all.lists = true;
    } else if (word == "--help" || word == "-h") {
      all.helps = true;
    } else if (word == "--device" && has_value) {
      all.devices.emplace_back(words[++i]);
    } else if (word == "--only" && has_value) {
      all.only = words[++i];
    } else if (word == "--json" && has_value) {
      all.json = words[++i];
    } else if (word == "--folder" && has_value) {
      all.folder = words[++i];
    } else {
      return std::nullopt;
    }
  }
  return all;
}

/// Returns true if a list separated by commas has the name, or is empty.
bool lists(const std::string& list, std::string_view name) {
  return list.empty() || fmt::format(",{},", list).contains(fmt::format(",{},", name));
}

/// Returns true if the list has names of sections only.
bool is_list_of_sections(const std::string& list) {
  std::size_t length = 0;
  for (const Section& one : sections) length += lists(list, one.name) ? one.name.size() + 1 : 0;
  return list.empty() || length == list.size() + 1;
}

std::vector<std::string> chosen_devices(const Arguments& arguments) {
  if (!arguments.devices.empty()) return arguments.devices;
  std::vector<std::string> names = card_names();
  if (arguments.dry) {
    std::erase_if(names, [](const std::string& name) { return name.starts_with("CUDA"); });
    return names;
  }
  names.erase(names.begin());  // the twins
  names.resize(std::min<std::size_t>(names.size(), 1));
  return names;
}

Json examine(const std::string& name, const Arguments& arguments, const Extent& extent, bool& is_right) {
  Report report(name);
  try {
    const Card card = open_card(name);
    for (const Section& section : sections) {
      if (!lists(arguments.only, section.name)) continue;
      Stopwatch watch;
      try {
        section.run(card, extent, report);
      } catch (const std::exception& error) {
        report.fail(error.what());
      }
      report.end(watch.lap());
    }
  } catch (const std::exception& error) {
    report.fail(error.what());
  }
  fmt::print("\n{}: {} comparisons, {} with other bits, {} sections failed\n", name, report.compared(),
             report.differences(), report.failures());
  is_right = is_right && report.differences() == 0 && report.failures() == 0;
  return report.json();
}

int run(const Arguments& arguments) {
  const std::vector<std::string> devices = chosen_devices(arguments);
  if (devices.empty()) {
    fmt::print(stderr, "spectr-card: error: there is no device; --dry-run computes on the processor\n");
    return 1;
  }
  const bool keeps = !arguments.folder.empty();
  const fs::path folder =
      keeps ? arguments.folder : fs::temp_directory_path() / fmt::format("spectr-card-{}", getpid());
  fs::create_directories(folder);
  ThreadPool pool(static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u)));
  bool is_right = true;
  Json all = Json::array();
  for (const std::string& name : devices)
    all.push_back(examine(name, arguments, {arguments.dry, folder, &pool}, is_right));
  if (!keeps) fs::remove_all(folder);
  if (!arguments.json.empty() && !(std::ofstream(arguments.json) << all.dump(2) << '\n' << std::flush)) {
    fmt::print(stderr, "spectr-card: error: {}: cannot be written\n", arguments.json);
    return 1;
  }
  return is_right ? 0 : 1;
}

int main_of(int count, char** words) {
  const std::optional<Arguments> arguments = parse(count, words);
  if (!arguments || !is_list_of_sections(arguments->only)) {
    fmt::print(stderr, "{}", usage);
    return 2;
  }
  if (arguments->helps) {
    fmt::print("{}", usage);
    return 0;
  }
  if (arguments->lists) {
    for (const std::string& name : card_names()) fmt::print("{}\n", name);
    return 0;
  }
  return run(*arguments);
}

}  // namespace
}  // namespace spectr::card

int main(int count, char** words) {
  try {
    return spectr::card::main_of(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "spectr-card: error: {}\n", error.what());
    return 1;
  }
}
