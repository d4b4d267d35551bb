// `generate --compare`: any method compared with plain decoding.
#include <string>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

TEST(Compare, WorksForEveryMethodAndItsSettings) {
  for (const Arguments& method : every_method()) {
    const Outcome ran =
        spectr(generate() + Arguments{"-p", "Once", "-n", "8", "--json", "--compare", "--method"} + method);
    ASSERT_EQ(ran.status, 0) << method[0] << ": " << ran.err;
    const Json out = Json::parse(ran.out);
    EXPECT_EQ(out["stats"]["method"], method[0]);
    EXPECT_GT(out["compare"]["speedup"].get<double>(), 0.0) << method[0];
  }
}

}  // namespace
}  // namespace spectr::test
