// Stub for builds without OpenSSL.
#include "apps/http/tls.h"

namespace spectr::http {

Result<std::unique_ptr<Tls>> load_tls(const std::string& certificate_file, const std::string& /*key_file*/) {
  return error(ErrorCode::unsupported, "{}: this program was built without TLS (SPECTR_TLS)",
               certificate_file);
}

}  // namespace spectr::http
