#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace spectr::cli {

/// Where models are computed: the name of a device, or empty for the processor.
struct DeviceChoice {
  std::string target, draft;
  bool draft_given = false;  ///< otherwise drafts are where the target is

  bool any() const { return !target.empty() || !of_drafts().empty(); }
  const std::string& of_drafts() const { return draft_given ? draft : target; }
};

/// --device and --device-draft, --n-gpu-layers and --n-gpu-layers-draft as llama.cpp's users give them, and
/// --list-devices. The choice must live as long as the app. Their reading throws Failure where what is asked
/// for is not to be had.
void add_device_flags(CLI::App& app, DeviceChoice& choice);

}  // namespace spectr::cli
