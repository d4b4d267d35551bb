// Measurements of a pair of models are saved for later runs.
#include "spectr/engine/costs/cost_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/data.h"
#include "tests/support/real_model.h"

namespace spectr {
namespace {

using namespace test;

class CostFileTest : public testing::Test {
 protected:
  ~CostFileTest() override { std::filesystem::remove(path_); }

  std::shared_ptr<const Costs> costs() const { return file_.costs(*target_, drafts_, 1).value(); }
  void keep(const CostCheck& check, const std::vector<Learned>& learned) const {
    EXPECT_TRUE(file_.keep(*target_, drafts_, 1, check, learned));
  }
  std::optional<std::vector<LearnedPosition>> learned(Support support) const {
    return costs()->drafts.front().learned[static_cast<std::size_t>(support)];
  }

  std::string path_ = testing::TempDir() + "costs-" + std::to_string(getpid()) + ".json";
  CostFile file_{{.path = path_}};
  RealModel target_ = RealModel::load(tiny_target), draft_ = RealModel::load(tiny_draft);
  std::vector<const Transformer*> drafts_ = {draft_.transformer.get()};
};

TEST_F(CostFileTest, AcceptanceIsLearnedOnceSoThatTextsCanBeRepeated) {
  const std::uint64_t before = costs()->hash();
  using Positions = std::vector<LearnedPosition>;
  const Positions first = {{.confidence = 0.25, .merging = 0.5, .accepted = {0.5, 0.6, 0.7, 0.8}},
                           {.confidence = 0.75, .merging = 0.5, .accepted = {0.5, 0.6, 0.7, 0.8}}},
                  second = {
                      {.confidence = 1.0, .merging = 0.9, .accepted = {0.1, 0.2, 0.3, 0.4}, .level = 2}};
  keep({}, {{Support::cut, 3, first}});
  EXPECT_EQ(costs()->hash(), before) << "three positions tell too little";
  keep({}, {{Support::cut, 100, first}});
  EXPECT_EQ(learned(Support::cut), first);
  const std::uint64_t after = costs()->hash();
  EXPECT_NE(after, before);
  keep({}, {{Support::cut, 1000, second}});
  EXPECT_EQ(costs()->hash(), after);
  keep({}, {{Support::whole, 100, second}});
  EXPECT_EQ(learned(Support::cut), first);
  EXPECT_EQ(learned(Support::whole), second);
}

TEST_F(CostFileTest, CostsThatAreOffAreMeasuredAnew) {
  const auto first = costs();
  CostCheck check;
  for (int i = 0; i < 100; ++i) check.add(2.0, 1.0);
  keep(check, {});
  const auto second = costs();
  EXPECT_NE(second->hash(), first->hash());
  EXPECT_EQ(costs()->hash(), second->hash()) << "and kept";
}

TEST_F(CostFileTest, SmallDraftsStayAsTheyAre) {
  const ChosenDraft chosen =
      file_.slim(*target_, *target_.tokenizer, find_data(tiny_draft).value(), *target_.pool, {}).value();
  EXPECT_EQ(chosen.options, SlimOptions());
  EXPECT_FALSE(chosen.model);
}

}  // namespace
}  // namespace spectr
