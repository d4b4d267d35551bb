#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace spectr {

/// A precondition was broken by the calling code. Never caused by user input.
class BrokenContract : public std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] inline void broken_contract(const char* condition,
                                         std::source_location at = std::source_location::current()) {
  throw BrokenContract(std::string(at.file_name()) + ":" + std::to_string(at.line()) + ": " +
                       at.function_name() + " requires " + condition);
}

}  // namespace spectr

/// States a precondition; throws BrokenContract where it does not hold.
#define SPECTR_CHECK(condition) ((condition) ? void(0) : ::spectr::broken_contract(#condition))
