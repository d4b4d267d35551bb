#pragma once

#include <filesystem>
#include <memory>
#include <utility>

#include "spectr/backend/device/device_backend.h"
#include "spectr/nn/transformer.h"
#include "tests/twins/twin_device.h"

namespace spectr::test {

/// Loads a model on any backend.
inline Result<std::unique_ptr<Transformer>> load(const std::filesystem::path& file,
                                                 std::shared_ptr<const Backend> backend,
                                                 const KvChoice& kv = {}, const Slimming& slimming = {}) {
  return Transformer::load(Gguf::open(file).value(), std::move(backend), {.kv = kv, .slimming = slimming});
}

/// A model on the twins.
struct OnTwins {
  std::shared_ptr<TwinDevice> device;
  std::unique_ptr<Transformer> model;

  explicit OnTwins(const std::filesystem::path& file, const KvChoice& kv = {})
      : device(std::make_shared<TwinDevice>()),
        model(load(file, std::make_shared<DeviceBackend>(device), kv).value()) {}
};

}  // namespace spectr::test
