#include "spectr/base/version.h"

#include "spectr/base/build_identity.inc"

namespace spectr {

std::string_view version() {
  return SPECTR_VERSION;
}

std::string_view commit() {
  return SPECTR_COMMIT;
}

std::uint64_t build_identity() {
  return SPECTR_BUILD_IDENTITY;
}

}  // namespace spectr
