#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace spectr {

/// Thrown if the calling code violates a precondition. Never caused by user input.
class BrokenContract : public std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] inline void broken_contract(const char* condition,
                                         std::source_location at = std::source_location::current()) {
  throw BrokenContract(std::string(at.file_name()) + ":" + std::to_string(at.line()) + ": " +
                       at.function_name() + " requires " + condition);
}

}  // namespace spectr

/// Checks a precondition; throws BrokenContract if it does not hold.
#define SPECTR_CHECK(condition) ((condition) ? void(0) : ::spectr::broken_contract(#condition))
