#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/model/gguf.h"

namespace spectr {

/// The metadata that begins with the name of an architecture, ARCH.NAME, read within bounds.
class Hyperparameters {
 public:
  Hyperparameters(const Gguf& file, std::string_view architecture);

  /// "ARCH.NAME"
  std::string key(std::string_view name) const { return prefix_ + std::string(name); }
  bool has(std::string_view name) const { return file_.find(key(name)) != nullptr; }

  /// An integer from 1 to most. An array that gives the same one to every layer will do.
  Result<std::size_t> count(std::string_view name, std::uint64_t most) const;
  Result<std::size_t> count(std::string_view name, std::uint64_t most, std::size_t otherwise) const;

  /// A number from least to most.
  Result<float> real(std::string_view name, double least, double most) const;
  Result<float> real(std::string_view name, double least, double most, float otherwise) const;

 private:
  Result<std::uint64_t> same_in_all_layers(const std::string& key) const;

  const Gguf& file_;
  std::string prefix_;
};

}  // namespace spectr
