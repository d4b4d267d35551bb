#pragma once

#include <cstddef>
#include <string>

#include "spectr/base/result.h"
#include "spectr/gguf/gguf.h"

namespace spectr {

/// Position of a file among the parts of a split model.
struct SplitPlace {
  std::size_t number = 0;  ///< from 0
  std::size_t count = 1;   ///< 1: the model is not split
};

/// Returns the position of a part, which is given twice: by `split.no` and `split.count`, and by a name that
/// ends in -I-of-N.gguf with five digits each. Fails if one of them is missing or they differ.
Result<SplitPlace> split_place(const Gguf& part);

/// Returns the file name of another part. Requires: the name of a part of a split model.
std::string part_name(const std::string& part, std::size_t number);

/// Fails if the file is a single part of a split model.
Result<void> refuse_split(const Gguf& file);

}  // namespace spectr
