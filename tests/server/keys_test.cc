#include "apps/server/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace spectr::server {
namespace {

/// Returns the keys in a file with these contents.
Result<Keys> keys_of(const std::string& contents) {
  char name[] = "/tmp/spectr-keys-XXXXXX";
  close(mkstemp(name));
  std::ofstream(name, std::ios::binary) << contents;
  Keys keys;
  const auto added = keys.add_file(name);
  std::filesystem::remove(name);
  if (!added) return std::unexpected(added.error());
  return keys;
}

TEST(Keys, OfAFileLoseWhatNoClientCanSend) {
  const auto keys = keys_of(
                        "\xEF\xBB\xBF"
                        "first\r\n  second \t\n# a comment\n   # another\n\n \t \nth ird")
                        .value();
  for (const char* key : {"first", "second", "th ird"}) EXPECT_TRUE(keys.contains(key)) << key;
  for (const char* none : {"", " ", "# a comment",
                           "\xEF\xBB\xBF"
                           "first",
                           "second "})
    EXPECT_FALSE(keys.contains(none));
  EXPECT_FALSE(keys_of("\xEF\xBB\xBF\n \t\r\n# none\n"));
  EXPECT_FALSE(keys_of("good\nno\x1bgood\n"));
}

TEST(Keys, OfAListStandBehindCommas) {
  Keys keys;
  ASSERT_TRUE(keys.add_list("a1, b2"));
  ASSERT_TRUE(keys.add_list("c3"));
  for (const char* key : {"a1", "b2", "c3"}) EXPECT_TRUE(keys.contains(key)) << key;
  EXPECT_FALSE(keys.contains("a1, b2"));
  for (const char* list : {"", " ", "a,,b", "a,", ",a", "a\x01", "\x7f", "a\nb"})
    EXPECT_FALSE(keys.add_list(list)) << list;
}

}  // namespace
}  // namespace spectr::server
