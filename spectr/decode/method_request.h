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

  /// The method that is asked for. Where none is named: tree where a tree is given; spectr, or specinfer with
  /// several draft models, where a plan, K or L is, or where auto knows no costs; else auto. Without a draft
  /// model it is plain instead of auto, and L asks for nothing: it is often set for all runs. Error: there is
  /// no such method.
  Result<const MethodRule*> rule(std::size_t draft_models, bool costs_known = true) const;

  /// All settings.
  MethodOptions settings(std::size_t drafts_otherwise = 4, std::size_t length_otherwise = 4) const;
};

}  // namespace spectr
