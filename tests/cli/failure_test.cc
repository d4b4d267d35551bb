// Exit statuses.
#include "apps/cli/failure.h"

#include <gtest/gtest.h>

namespace spectr::cli {
namespace {

Status status_of_failure(ErrorCode code) {
  try {
    need(Result<void>(error(code, "why")));
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.what(), "why");
    return failure.status();
  }
  return Status::done;
}

TEST(Failures, HaveTheStatusOfTheirCode) {
  for (const ErrorCode code : {ErrorCode::bad_input, ErrorCode::unsupported, ErrorCode::io,
                               ErrorCode::context_full, ErrorCode::out_of_memory})
    EXPECT_EQ(status_of_failure(code), Status::usage);
  for (const ErrorCode code :
       {ErrorCode::cancelled, ErrorCode::timeout, ErrorCode::device_lost, ErrorCode::internal})
    EXPECT_EQ(status_of_failure(code), Status::failed);
  EXPECT_EQ(need(Result<int>(7)), 7);
}

}  // namespace
}  // namespace spectr::cli
