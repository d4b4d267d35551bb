#include "apps/cli/flags/device_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/failure.h"
#include "spectr/engine/costs/kept_measurements.h"
#include "spectr/engine/devices.h"

namespace spectr::cli {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr int surely_all_layers = 99;  // the value that users of llama.cpp give for "all"

/// Returns the device selected by `auto`. If there is none, prints a notice and returns "".
std::string first_device() {
  const auto devices = list_devices();
  if (devices) {
    const auto found = std::ranges::find(*devices, false, &ListedDevice::is_processor);
    if (found != devices->end()) return found->name;
  }
  fmt::print(stderr, "--device auto: {}; computing on the CPU\n",
             devices ? "there is no device but the processor" : devices.error().message);
  return "";
}

std::string device_of(const std::string& name) {
  if (name == "none") return "";
  keep_device_trials_in(measurements_folder());
  if (name == "auto") return first_device();
  need(device_backend(name));
  return name;
}

/// Returns true if all layers shall run on the device, false if none. Throws Failure otherwise.
bool all_layers(const char* flag, const std::string& layers) {
  if (layers == "all" || layers == "auto") return true;
  const bool is_number = !layers.empty() && layers.find_first_not_of("0123456789") == std::string::npos;
  if (is_number && layers.find_first_not_of('0') == std::string::npos) return false;
  if (is_number && (layers.size() > 4 || std::stoi(layers) >= surely_all_layers)) return true;
  throw Failure(Status::usage,
                fmt::format("{} {}: a model is computed in one place; give 0 or all", flag, layers));
}

void print_devices() {
  const auto devices = list_devices();
  fmt::print("Available devices:\n");
  if (devices) {
    for (const ListedDevice& one : *devices) {
      fmt::print("  {}: {} ({} MiB", one.name, one.description, one.bytes / mebibyte);
      if (one.free_bytes) fmt::print(", {} MiB free", *one.free_bytes / mebibyte);
      fmt::print(")\n");
    }
  } else {
    fmt::print(stderr, "{}\n", devices.error().message);
  }
}

}  // namespace

void add_device_flags(CLI::App& app, DeviceChoice& choice) {
  app.add_flag_callback(
      "--list-devices",
      [] {
        print_devices();
        throw CLI::Success();
      },
      "prints the devices that models can be computed on, and ends");
  app.add_option_function<std::string>(
         "--device",
         [&choice](const std::string& name) {
           choice.target = device_of(name);
           choice.target_given = true;
         },
         "-dev NAME: where models are computed: none (the CPU, the default), auto (the first device), or one "
         "of --list-devices")
      ->envname("LLAMA_ARG_DEVICE")
      ->type_name("NAME");
  app.add_option_function<std::string>(
         "--device-draft,--spec-draft-device",
         [&choice](const std::string& name) {
           choice.draft = device_of(name);
           choice.draft_given = true;
         },
         "-devd NAME: where draft models are computed (default: where the target is)")
      ->type_name("NAME");
  app.add_option_function<std::string>(
         "--n-gpu-layers,--gpu-layers",
         [&choice](const std::string& layers) {
           if (!all_layers("-ngl", layers)) {
             choice.target.clear();
           } else if (!choice.target_given) {
             choice.target = first_device();
           }
         },
         "-ngl 0|all: with all --device auto where no device was given, with 0 none")
      ->envname("LLAMA_ARG_N_GPU_LAYERS")
      ->type_name("0|all");
  app.add_option_function<std::string>(
         "--n-gpu-layers-draft,--gpu-layers-draft,--spec-draft-ngl",
         [&choice](const std::string& layers) {
           if (!all_layers("-ngld", layers)) {
             choice.draft.clear();
           } else if (!choice.draft_given) {
             choice.draft = choice.target.empty() ? first_device() : choice.target;
           }
           choice.draft_given = true;
         },
         "-ngld 0|all: the same for draft models")
      ->envname("LLAMA_ARG_N_GPU_LAYERS_DRAFT")
      ->type_name("0|all");
}

}  // namespace spectr::cli
