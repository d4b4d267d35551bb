// The two functions that xgrammar calls instead of printing (XGRAMMAR_LOG_CUSTOMIZE).
#include <support/logging.h>
#include <xgrammar_log.h>

#include <stdexcept>

namespace {

thread_local xgrammar_log::Warnings* collector = nullptr;

}  // namespace

namespace xgrammar_log {

Warnings::Warnings() {
  collector = this;
}
Warnings::~Warnings() {
  collector = nullptr;
}

}  // namespace xgrammar_log

namespace xgrammar {

void LogFatalImpl(const std::string& /*file*/, int /*line*/, const std::string& message) {
  throw std::runtime_error(message);
}

void LogMessageImpl(const std::string& /*file*/, int /*line*/, int level, const std::string& message) {
  if (level == XGRAMMAR_LOG_LEVEL_WARNING && collector != nullptr) collector->add(message);
}

}  // namespace xgrammar
