#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>

namespace spectr {

/// Runs `claim` for every instruction set that Highway supports on this machine.
template <class Claim>
void at_every_target(const Claim& claim) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    claim();
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace spectr
