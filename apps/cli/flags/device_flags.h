#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace spectr::cli {

/// The devices that run the models: a name, or empty for the processor.
struct DeviceChoice {
  std::string target, draft;
  bool target_given = false;  ///< true after --device, also for the processor
  bool draft_given = false;   ///< otherwise draft models run where the target does

  bool any() const { return !target.empty() || !of_drafts().empty(); }
  const std::string& of_drafts() const { return draft_given ? draft : target; }
};

/// Adds --device and --device-draft, llama.cpp's --n-gpu-layers and --n-gpu-layers-draft, and
/// --list-devices. The choice must live as long as the app. Parsing throws Failure if a requested device
/// is unavailable.
void add_device_flags(CLI::App& app, DeviceChoice& choice);

}  // namespace spectr::cli
