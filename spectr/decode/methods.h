#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/decode/decoder.h"

namespace spectr {

/// Settings of all methods; each reads its own.
struct MethodOptions {
  std::optional<std::string> plan;  ///< none: the method's default
  std::size_t drafts = 4;           ///< K
  std::size_t length = 4;           ///< L
};

/// How many draft models a method works with.
enum class DraftModels { none, one, several };

/// One row of the table of methods: which drafter and which verifier make it.
struct MethodRule {
  std::string_view name;
  std::string_view summary;
  bool lossless;  ///< the output's law is the target's, exactly
  DraftModels models;
  std::string_view plan;  ///< the default plan; empty: the method has none to choose
  Result<Decoder> (*build)(const MethodOptions& options);
};

/// Every method, in the order of the documentation.
std::span<const MethodRule> method_rules();

/// The method of that name, or an error that lists the names.
Result<const MethodRule*> find_method(std::string_view name);

/// The decoder of a method. Error: an option outside its range, or one that the method cannot have.
Result<Decoder> make_decoder(const MethodRule& method, const MethodOptions& options);

}  // namespace spectr
