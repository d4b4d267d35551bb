#include "spectr/base/version.h"

namespace spectr {

std::string_view version() {
  return SPECTR_VERSION;
}

}  // namespace spectr
