#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "spectr/decode/methods.h"

namespace spectr {

/// A method and its settings as somebody asks for them: what was not given is filled in.
struct MethodRequest {
  std::optional<std::string> method = {};
  std::optional<std::size_t> drafts = {};  ///< K
  std::optional<std::size_t> length = {};  ///< L
  MethodOptions others = {};               ///< K and L do not count

  /// The method: the first of these that applies. Error: there is no method of that name.
  ///
  /// 1. the one that is named;
  ///
  /// 2. `tree`, where the factors of a tree are given;
  ///
  /// 3. `spectr`, or `specinfer` with several draft models, where a plan or K is given, and with a draft
  /// model also where L is given or costs are not known; without one L counts for nothing, as it is often
  /// set for all runs;
  ///
  /// 4. `auto` with a draft model, `plain` without.
  Result<const MethodRule*> rule(std::size_t draft_models, bool costs_known = true) const;

  /// All settings.
  MethodOptions settings(std::size_t drafts_otherwise = 4, std::size_t length_otherwise = 4) const;
};

}  // namespace spectr
