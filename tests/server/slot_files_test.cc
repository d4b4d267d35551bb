// Slots saved in files through llama.cpp's /slots/N?action=, and the cache of past sequences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/server/test_server.h"

namespace spectr::server {
namespace {

using testing::HasSubstr;

constexpr const char* cat =
    "The cat went to the park and saw a big tree. The cat went home and had a nap. Then the cat saw a mouse "
    "and "
    "ran after it, but the mouse was too fast. The cat was sad and went back to the big tree in the park to "
    "sit";
constexpr const char* dog =
    "One day a dog met a boy with a red ball. The boy was kind and threw the ball, and the dog ran after it "
    "and "
    "brought it back. They played all day until the sun went down, and then the boy said it was time to go "
    "home";

class SlotFiles : public testing::Test {
 protected:
  SlotFiles() { std::filesystem::create_directories(folder_); }
  ~SlotFiles() override { std::filesystem::remove_all(folder_); }

  ServerOptions options(std::size_t prefix_bytes = 0) const {
    ServerOptions options = TestServer::options(1);
    options.service.slot_files = folder_;
    options.service.engine.slots.prefix_bytes = prefix_bytes;
    return options;
  }
  /// Completes a prompt and returns llama.cpp's timings with the text.
  static TestJson complete(TestServer& server, const std::string& prompt) {
    const auto reply =
        server.post("/completion", TestJson{{"prompt", prompt}, {"n_predict", 4}, {"seed", 1}});
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json();
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("slots-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(SlotFiles, BringASlotsSequenceBackAfterARestart) {
  TestJson first;
  {
    TestServer server(options());
    first = complete(server, cat);
    const auto saved = server.post("/slots/0?action=save", TestJson{{"filename", "cat.bin"}});
    ASSERT_EQ(saved.status, 200) << saved.body;
    EXPECT_EQ(saved.json()["id_slot"], 0);
    EXPECT_EQ(saved.json()["filename"], "cat.bin");
    EXPECT_GT(saved.json()["n_saved"], 40);
    EXPECT_EQ(saved.json()["n_written"], std::filesystem::file_size(folder_ / "cat.bin"));
    EXPECT_GE(saved.json()["timings"]["save_ms"], 0.0);
  }
  TestServer server(options());
  const auto restored = server.post("/slots/0?action=restore", TestJson{{"filename", "cat.bin"}});
  ASSERT_EQ(restored.status, 200) << restored.body;
  EXPECT_GT(restored.json()["n_restored"], 40);
  const TestJson again = complete(server, cat);
  EXPECT_EQ(again["content"], first["content"]);
  EXPECT_EQ(again["timings"]["prompt_n"], 1) << again;

  const auto erased = server.post("/slots/0?action=erase", TestJson::object());
  EXPECT_GT(erased.json()["n_erased"], 40);
  EXPECT_GT(complete(server, cat)["timings"]["prompt_n"], 40);
}

TEST_F(SlotFiles, ThatCannotBeUsedAreRefusedByName) {
  TestServer server(options());
  const auto refused = [&](const std::string& path, const TestJson& body, int status, const char* what) {
    const auto reply = server.post(path, body);
    EXPECT_EQ(reply.status, status) << path << body;
    EXPECT_THAT(reply.body, HasSubstr(what));
  };
  const TestJson named = {{"filename", "x.bin"}};
  refused("/slots/0?action=save", named, 400, "no sequence");
  refused("/slots/0?action=restore", named, 500, "x.bin");
  refused("/slots/0?action=dance", named, 400, "'action' must be");
  refused("/slots/0", named, 400, "'action' must be");
  refused("/slots/1?action=erase", named, 400, "slot 1 does not exist");
  refused("/slots/one?action=erase", named, 404, "no slot");
  for (const char* name : {"", "../x", "a/b", ".hidden", "a\\b", "a\nb"})
    refused("/slots/0?action=save", TestJson{{"filename", name}}, 400, "'filename'");
  TestServer without(TestServer::options(1));
  EXPECT_EQ(without.post("/slots/0?action=save", named).status, 501);
}

TEST_F(SlotFiles, AreNotNeededByConversationsThatTakeTurns) {
  TestServer server(options(std::size_t{64} << 20));
  const std::string long_cat = std::string(cat) + ". " + cat;  // long enough to be saved
  const std::string told = complete(server, long_cat)["content"];
  complete(server, dog);
  const TestJson again = complete(server, long_cat);
  EXPECT_EQ(again["content"], told);
  EXPECT_LE(again["timings"]["prompt_n"], 2);
  EXPECT_THAT(server.get("/metrics").body, HasSubstr("prefix_cache_bytes "));
}

}  // namespace
}  // namespace spectr::server
