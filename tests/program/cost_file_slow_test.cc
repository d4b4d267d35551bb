// The file with the costs that `auto` uses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

#include "spectr/base/version.h"
#include "spectr/gguf/gguf.h"
#include "tests/program/spectr.h"
#include "tests/support/data.h"

namespace spectr::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class CostFile : public testing::Test {
 protected:
  CostFile()
      : folder_(std::filesystem::temp_directory_path() / ("spectr-costs-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~CostFile() override { std::filesystem::remove_all(folder_); }

  /// Returns the default path of the file.
  std::string path() const { return folder_ / "spectr" / "costs.json"; }

  Outcome automatic(const Arguments& more = {}) const {
    const Arguments text = {"-p", "Once upon a time", "-n", "8", "--seed", "1", "--method", "auto"};
    return spectr(generate() + text + more, {.variables = {{"XDG_CACHE_HOME", folder_.string()}}});
  }
  std::string contents() const {
    std::ostringstream text;
    text << std::ifstream(path()).rdbuf();
    return text.str();
  }
  void write(const std::string& text) const { std::ofstream(path()) << text; }
  /// Rewrites the costs as if an older version of the program had measured them; returns the contents.
  std::string write_older() const {
    EXPECT_EQ(automatic().status, 0);
    std::string older = contents();
    const std::string mine = "spectr " + std::string(version());
    older.replace(older.find(mine), mine.size(), "spectr 0.0.0");
    write(older);
    return older;
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(CostFile, IsMeasuredOnceAndThenRead) {
  EXPECT_THAT(automatic().err, HasSubstr("measuring this machine"));
  const std::string first = contents();
  EXPECT_THAT(automatic().err, Not(HasSubstr("measuring this machine")));
  EXPECT_EQ(contents(), first);
}

TEST_F(CostFile, SaysEveryTimeThatTheMachineWasBusyWhenItWasMeasured) {
  EXPECT_EQ(automatic().status, 0);
  Json quiet = Json::parse(contents()), busy = quiet;
  quiet.front().erase("disturbed");
  busy.front()["disturbed"] = 6.7;
  write(quiet.dump());
  const std::string told = automatic({"--verbose"}).err;
  EXPECT_THAT(told, Not(HasSubstr("busy")));
  write(busy.dump());
  const std::string warned = automatic({"--verbose"}).err;
  EXPECT_THAT(warned, HasSubstr("6.7 times slower than it can be"));
  EXPECT_THAT(warned, HasSubstr("delete " + path() + " to measure again"));
  const auto hash = [](const std::string& err) { return err.substr(err.find(", hash "), 23); };
  EXPECT_EQ(hash(warned), hash(told)) << "the costs are the same";
  EXPECT_THAT(automatic().err, Not(HasSubstr("hash"))) << "that is for those who ask";
}

TEST_F(CostFile, ThatPassesContradictIsMeasuredAnewOnce) {
  EXPECT_EQ(automatic().status, 0);
  Json wrong = Json::parse(contents());
  for (Json& point : wrong.front()["target"]["passes"]) point[1] = 40.0 * point[1].get<double>();
  write(wrong.dump());
  const Arguments longer = {"-n", "200", "--ignore-eos"};
  const std::string noticed = automatic(longer).err;
  EXPECT_THAT(noticed, HasSubstr("times as long as " + path() + " says"));
  EXPECT_THAT(noticed, Not(HasSubstr("measuring this machine")));
  EXPECT_THAT(automatic().err, HasSubstr("measuring this machine"));
  EXPECT_FALSE(Json::parse(contents()).front().contains("off"));
  EXPECT_THAT(automatic().err, Not(HasSubstr("measuring this machine")));
}

TEST_F(CostFile, IsNotNamedWhereItCannotBeWritten) {
  const Outcome ran = spectr(generate() + Arguments{"-p", "Once", "-n", "2", "--verbose"},
                             {.variables = {{"XDG_CACHE_HOME", "/proc"}}});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("costs of passes: not kept"));
  EXPECT_THAT(ran.err, Not(HasSubstr("delete")));
}

TEST_F(CostFile, BehindALinkStaysThere) {
  const std::string real = path() + ".real";
  std::filesystem::create_directories(std::filesystem::path(path()).parent_path());
  std::filesystem::create_symlink(real, path());
  EXPECT_EQ(automatic().status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path()));
  EXPECT_THAT(contents(), HasSubstr("target"));
  EXPECT_TRUE(std::filesystem::is_regular_file(real));
}

TEST_F(CostFile, HoldsAnEntryForEverySetOfModels) {
  const auto measures = [this](const Arguments& models) {
    const Outcome ran =
        spectr(Arguments{"generate", "-p", "Once", "-n", "8", "--method", "auto", "-m", target()} + models,
               {.variables = {{"XDG_CACHE_HOME", path() + ".d"}}});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.err.contains("measuring this machine");
  };
  const Arguments one = {"-md", draft()}, two = {"-md", draft(), "-md", target()};
  for (const Arguments& models : {Arguments{}, one, two}) EXPECT_TRUE(measures(models));
  for (const Arguments& models : {two, one, Arguments{}}) EXPECT_FALSE(measures(models));
}

TEST_F(CostFile, IsMeasuredByOneProgramAtATime) {
  Outcome other;
  std::thread also([&] { other = automatic(); });
  const Outcome one = automatic();
  also.join();
  EXPECT_NE(one.err.contains("measuring this machine"), other.err.contains("measuring this machine"));
}

/// Returns the name of a copy of an F16 file whose weights are labelled BF16.
std::string as_bf16(const std::string& name) {
  std::ostringstream file;
  file << std::ifstream(name).rdbuf();
  std::string bytes = file.str();
  constexpr std::uint32_t f16 = 1;
  const Gguf gguf = Gguf::open(name).value();
  for (const GgufTensor& tensor : gguf.tensors()) {
    if (tensor.type != f16) continue;
    const std::uint64_t length = tensor.name.size();
    const std::string described = std::string(reinterpret_cast<const char*>(&length), sizeof length);
    const std::size_t at = bytes.find(described + std::string(tensor.name)) + sizeof length + length;
    const auto dimensions = static_cast<std::size_t>(bytes[at]);
    bytes[at + 4 + 8 * dimensions] = 30;
  }
  return bytes;
}

TEST_F(CostFile, HoldsAnEntryForEveryFormatOfOneModel) {
  const std::string f16 = (source_folder() / "models/spectr-stories-draft-0.3m-f16.gguf").string();
  const TemporaryFile bf16(as_bf16(f16));
  const auto measures = [this](const std::string& model) {
    const Outcome ran = spectr({"generate", "-p", "Once", "-n", "2", "--method", "auto", "-m", model},
                               {.variables = {{"XDG_CACHE_HOME", path() + ".d"}}});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.err.contains("measuring this machine");
  };
  EXPECT_TRUE(measures(f16));
  EXPECT_TRUE(measures(bf16.path()));
  EXPECT_FALSE(measures(f16));
}

TEST_F(CostFile, OfAnotherFormIsMeasuredAgainUnlessItWasNamed) {
  ASSERT_EQ(automatic().status, 0);
  std::string strange = contents();
  strange.replace(strange.find("\"law\""), 5, "\"lore\"");
  write(strange);
  const Outcome named = automatic({"--cost-file", path()});
  EXPECT_EQ(named.status, 2);
  EXPECT_THAT(named.err, HasSubstr("does not hold the costs of these models"));
  EXPECT_EQ(contents(), strange);

  const Outcome unnamed = automatic();
  EXPECT_EQ(unnamed.status, 0) << unnamed.err;
  EXPECT_THAT(unnamed.err, HasSubstr("measuring this machine"));
  EXPECT_THAT(contents(), HasSubstr("\"law\""));
}

TEST_F(CostFile, MustNotSayThatWiderPassesTakeLess) {
  ASSERT_EQ(automatic().status, 0);
  Json all = Json::parse(contents());
  for (auto& [models, entry] : all.items()) entry["drafts"][0]["passes"] = {{1, 1e-3}, {32, 5e-4}};
  write(all.dump());
  const Outcome named = automatic({"--cost-file", path()});
  EXPECT_EQ(named.status, 2);
  EXPECT_THAT(named.err, HasSubstr("does not hold the costs of these models"));
}

TEST_F(CostFile, CannotBeWrittenForAContextOfOneToken) {
  std::ostringstream file;
  file << std::ifstream(draft()).rdbuf();
  std::string bytes = file.str();
  const std::string key = "llama.context_length";
  bytes[bytes.find(key) + key.size() + 4] = 1;
  bytes[bytes.find(key) + key.size() + 5] = 0;
  const TemporaryFile short_draft(bytes);
  const Outcome ran = automatic({"-md", short_draft.path()});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("has a context of 1 tokens: its passes cannot be measured"));
}

TEST_F(CostFile, OfAnotherVersionIsMeasuredAgainAndKept) {
  write_older();
  EXPECT_THAT(automatic().err, HasSubstr("measuring this machine"));
  EXPECT_THAT(contents(), HasSubstr("spectr 0.0.0"));
  EXPECT_THAT(contents(), HasSubstr("spectr " + std::string(version())));
}

TEST_F(CostFile, ThatIsNoJsonIsMeasuredAgainUnlessItWasNamed) {
  ASSERT_EQ(automatic().status, 0);
  write("no costs");
  const Outcome named = automatic({"--cost-file", path()});
  EXPECT_EQ(named.status, 2);
  EXPECT_THAT(named.err, HasSubstr(path() + ": is not a file of measured costs"));

  const Outcome unnamed = automatic();
  EXPECT_EQ(unnamed.status, 0) << unnamed.err;
  EXPECT_THAT(unnamed.err, HasSubstr(path() + ": is not a file of measured costs"));
  EXPECT_THAT(contents(), HasSubstr("\"law\""));
}

TEST_F(CostFile, OfSomebodyElseIsNotWritten) {
  const std::string others = "{\"name\": \"a package\", \"version\": {\"major\": 1}}";
  const TemporaryFile file(others);
  const Outcome ran = automatic({"--cost-file", file.path()});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("is not a file of measured costs"));
  std::ostringstream after;
  after << std::ifstream(file.path()).rdbuf();
  EXPECT_EQ(after.str(), others);
}

/// Simulates a full disk: limits the size of written files to `bytes` during its lifetime.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, SIG_DFL);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

TEST_F(CostFile, IsAsItWasWhenTheDiskIsFull) {
  const std::string older = write_older();
  {
    const FullDisk full(1024);
    EXPECT_THAT(automatic().err, HasSubstr("cannot be written: File too large"));
    const Outcome named = automatic({"--cost-file", path()});
    EXPECT_EQ(named.status, 1);
    EXPECT_THAT(named.err, HasSubstr("cannot be written: File too large"));
  }
  EXPECT_EQ(contents(), older);
  const auto folder = std::filesystem::path(path()).parent_path();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);  // and no other file
}

TEST_F(CostFile, KeepsItsPermissions) {
  namespace fs = std::filesystem;
  const std::string older = write_older();
  const auto group =
      fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read | fs::perms::group_write;
  fs::permissions(path(), group);
  EXPECT_EQ(automatic().status, 0);
  EXPECT_NE(contents(), older);
  EXPECT_EQ(fs::status(path()).permissions(), group);
}

TEST_F(CostFile, ThatCannotBeWrittenIsToldBeforeAnythingIsMeasured) {
  const Outcome ran = automatic({"--cost-file", "/proc/nobody/costs.json"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("'/proc/nobody/costs.json' cannot be written"));
  EXPECT_THAT(ran.err, Not(HasSubstr("measuring this machine")));
}

TEST_F(CostFile, NeedsANameThatAFileCanHave) {
  const Outcome empty = automatic({"--cost-file", ""});
  EXPECT_EQ(empty.status, 2);
  EXPECT_THAT(empty.err, HasSubstr("--cost-file: the file name is empty"));
  const Outcome longer = automatic({"--cost-file", "/tmp/" + std::string(300, 'x')});
  EXPECT_EQ(longer.status, 2);
  EXPECT_THAT(longer.err, HasSubstr("File name too long"));
}

TEST_F(CostFile, IsNotMeasuredForAPromptThatDoesNotFit) {
  const Outcome ran = automatic({"-c", "2"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, Not(HasSubstr("measuring this machine")));
}

}  // namespace
}  // namespace spectr::test
