#include "spectr/decode/source.h"

namespace spectr {

std::string_view name(Source source) {
  switch (source) {
    case Source::draft:
      return "draft";
    case Source::correction:
      return "correction";
    case Source::bonus:
      return "bonus";
    case Source::target:
      return "target";
  }
  return "";
}

}  // namespace spectr
