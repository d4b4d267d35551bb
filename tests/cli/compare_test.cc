// `generate --compare`: any method beside plain decoding.
#include <string>

#include "tests/cli/spectr.h"

namespace spectr::test {
namespace {

TEST(Compare, WorksForEveryMethodAndItsSettings) {
  for (const Arguments& method : {Arguments{"plain"},
                                  {"speculative"},
                                  {"spectr", "--plan", "optimal"},
                                  {"tree", "--tree", "2,2,1"},
                                  {"tree", "--tree", "2,1", "--plan", "recursive"},
                                  {"batch"},
                                  {"specinfer", "-md", draft()},
                                  {"block"},
                                  {"traversal"},
                                  {"traversal", "--tree", "2,1,2"},
                                  {"mtad"},
                                  {"mtjd", "--beams", "2"},
                                  {"bild"},
                                  {"biased-opt", "--epsilon", "0.1"},
                                  {"biased-uno", "--epsilon", "0.1"},
                                  {"ngram"},
                                  {"auto"}}) {
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
