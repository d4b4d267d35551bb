#pragma once

#include <cstddef>
#include <string>

#include "spectr/base/result.h"
#include "spectr/gguf/gguf.h"

namespace spectr {

/// Where a file belongs among the parts that make up a model together.
struct SplitPlace {
  std::size_t number = 0;  ///< from 0
  std::size_t count = 1;   ///< 1: it is whole
};

/// The place of a part, which it says twice: in `split.no` and `split.count`, and by a name that ends in
/// -I-of-N.gguf with five digits each. Error: it says so once only, or not the same.
Result<SplitPlace> split_place(const Gguf& part);

/// The file name of another part. Requires: the name of a part with a place.
std::string part_name(const std::string& part, std::size_t number);

/// An error for a part by itself.
Result<void> refuse_split(const Gguf& file);

}  // namespace spectr
