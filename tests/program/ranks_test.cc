// Models shared by several ranks: threads of one process (--ranks), or processes of an MPI job (--shard).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "spectr/backend/sharded/mpi_job.h"
#include "tests/program/spectr.h"
#include "tests/server/raw_connection.h"
#include "tests/support/data.h"

namespace spectr::test {
namespace {

using testing::HasSubstr;

// The bundled pair: the target has six heads of 48 columns, which are divisible among three ranks.
const Arguments pair = {"-m", data("models/spectr-stories-7m-q8_0.gguf"), "-md", stranger(), "-t", "1"};
const Arguments text =
    Arguments{"generate", "-p", "Once upon a time", "-n", "48", "--temp", "0", "--seed", "1"} + pair;

class Lossless : public testing::TestWithParam<const char*> {};

TEST_P(Lossless, GivesOneRanksTextWithThree) {
  Arguments run = text + Arguments{"--method", GetParam()};
  if (GetParam() == std::string("tree")) run = run + Arguments{"--tree", "2,2"};
  const Outcome one = spectr(run);
  for (const char* const split : {"row", "layer"}) {
    const Outcome three = spectr(run + Arguments{"--ranks", "3", "--split", split});
    ASSERT_EQ(three.status, 0) << three.err;
    EXPECT_EQ(three.out, one.out) << split;
  }
  // Its 288 columns are nine blocks of Q8_0, and two ranks have half of them each.
  const Arguments halves = run + Arguments{"-m", data("models/spectr-stories-7m-f16.gguf")};
  EXPECT_EQ(spectr(halves + Arguments{"--ranks", "2"}).out, spectr(halves).out);
}

INSTANTIATE_TEST_SUITE_P(Methods, Lossless,
                         testing::Values("plain", "speculative", "spectr", "tree", "batch", "specinfer",
                                         "block", "traversal", "ngram", "suffix", "auto"),
                         [](const auto& method) { return method.param; });

TEST(Ranks, GiveTheSameSampledTextOnEveryRun) {
  // K and L are fixed, because otherwise measured costs select them.
  const Arguments run =
      Arguments{"generate", "-p",     "Lily", "-n", "40", "--temp", "1",       "--seed", "7",
                "--method", "spectr", "-K",   "2",  "-L", "3",      "--ranks", "3"} +
      pair;
  const Outcome first = spectr(run), second = spectr(run);
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(second.out, first.out);
}

TEST(Ranks, WhatTheyCannotShareIsNamed) {
  const Outcome two = spectr(text + Arguments{"--ranks", "2"});
  EXPECT_EQ(two.status, 2);
  EXPECT_THAT(two.err, HasSubstr("blk.0.attn_output.weight"));
  const Outcome four = spectr(text + Arguments{"--ranks", "4"});
  EXPECT_EQ(four.status, 2);
  EXPECT_THAT(four.err, HasSubstr("cannot be shared by 4 ranks"));
  const Outcome none = spectr(text + Arguments{"--ranks", "0"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("--ranks"));
}

TEST(Ranks, WithLayersOfTheirOwnShareWhatOthersCannot) {
  const Outcome two = spectr(text + Arguments{"--ranks", "2", "--split", "layer"});
  EXPECT_EQ(two.status, 0) << two.err;
  const Outcome seven = spectr(text + Arguments{"--ranks", "7", "--split", "layer"});
  EXPECT_EQ(seven.status, 2);
  EXPECT_THAT(seven.err, HasSubstr("6 layers cannot be shared by 7 ranks"));
  const Outcome neither = spectr(text + Arguments{"--split", "column"});
  EXPECT_EQ(neither.status, 2);
  EXPECT_THAT(neither.err, HasSubstr("--split"));
}

TEST(Ranks, GiveTheirTextWhereverTheyRun) {
  const std::string alone = spectr(text).out;
  for (const char* const where : {"distribute", "isolate", "numactl"}) {
    const Outcome outcome = spectr(text + Arguments{"--ranks", "3", "--numa", where});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, alone) << where;
  }
  EXPECT_THAT(spectr(text + Arguments{"--numa", "mirror"}).err, HasSubstr("--numa"));
}

const Arguments cluster = {"bench",   "cluster", "-m",    data("models/spectr-stories-7m-f16.gguf"),
                           "-t",      "1",       "-r",    "1",
                           "--depth", "8",       "--json"};

TEST(Cluster, TellsWhatPassesCostOnOneRankAndOnMore) {
  const Outcome outcome = spectr(cluster + Arguments{"--ranks", "3", "--widths", "2"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json told = Json::parse(outcome.out);
  EXPECT_EQ(told["ranks"], 3);
  EXPECT_EQ(told["exchanges"].size(), 2 * 6);
  ASSERT_EQ(told["passes"].size(), 3 * 5) << "of 1, 2 and 8 rows alone, and by both splits on 2 and 3";
  for (const Json& row : told["passes"]) {
    EXPECT_GT(row["ms"], 0.0);
    EXPECT_GE(row["predicted_ms"], row["computing_ms"]);
    EXPECT_EQ(row["exchanges"], row["ranks"] == 1 ? 0 : row["split"] == "row" ? 13 : row["ranks"].get<int>());
  }
  EXPECT_EQ(told["extrapolated"].size(), 3 * 3 * 3 * 2);
  EXPECT_NEAR(told["bits_per_weight"].get<double>(), 16.0, 1e-9);
}

TEST(Cluster, GoesOnWhereSomeRanksCannotShareTheModel) {
  const Outcome outcome = spectr({"bench", "cluster", "-m", data("models/spectr-stories-7m-q8_0.gguf"), "-t",
                                  "1", "-r", "1", "--depth", "8", "--ranks", "2", "--read-gbps", "200"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2 ranks, split row: "));
  EXPECT_THAT(outcome.out, HasSubstr("which 2 ranks would cut"));
  EXPECT_THAT(outcome.out, HasSubstr("Extrapolated, not measured"));
  EXPECT_THAT(outcome.out, HasSubstr("200 GB/s"));
}

TEST(Shard, WithoutMpiSaysWhichPackage) {
  if (has_mpi()) GTEST_SKIP() << "this build has MPI";
  const Outcome outcome = spectr(text + Arguments{"--shard"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("libopenmpi-dev"));
}

std::string contents_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the path of a program, or an empty string if it is not on the PATH.
std::string found(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path(folder) / program;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

class Job : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_mpi()) GTEST_SKIP() << "this build has no MPI";
    if (mpirun_.empty()) GTEST_SKIP() << "mpirun is not installed";
  }
  /// Returns mpirun's arguments for this number of processes on this machine, even if it has fewer CPUs.
  static Arguments job(int processes, const Arguments& arguments,
                       const std::string& program = spectr_program()) {
    // In builds with a leak detector, it must unwind calls from Open MPI through
    // libraries without frame pointers.
    const char* const options = std::getenv("ASAN_OPTIONS");
    const std::string unwind = std::string(options == nullptr ? "" : options) + ":fast_unwind_on_malloc=0";
    return Arguments{"--allow-run-as-root",
                     "--oversubscribe",
                     "--bind-to",
                     "none",
                     "-x",
                     "ASAN_OPTIONS=" + unwind,
                     "-n",
                     std::to_string(processes),
                     program} +
           arguments;
  }
  /// Runs mpirun. Ranks time out by themselves, and so does their job: one that has not ended
  /// within two minutes, or ten seconds after a rank has aborted, hangs in Open MPI, whose own time
  /// limit also hangs then. In that case the job is restarted once.
  Outcome run(const Arguments& arguments) const {
    RunningProgram job(mpirun_, arguments);
    int polls_after_abort = 0;
    const auto ends_or_hangs = [&] {
      if (!job.has_ended() && job.err().contains("MPI_ABORT was invoked")) ++polls_after_abort;
      return job.has_ended() || polls_after_abort > 200;
    };
    if (comes_true(ends_or_hangs, std::chrono::milliseconds(50)) && job.has_ended()) return job.wait();
    std::cerr << "mpirun is started once more, after:\n" << job.err();
    job.send(SIGKILL);
    return run_program(mpirun_, arguments);
  }

  std::string mpirun_ = found("mpirun");
};

TEST_F(Job, GivesOneProcessesText) {
  const Arguments speculative = text + Arguments{"--method", "spectr"};
  const Outcome alone = spectr(speculative);
  for (const char* const split : {"row", "layer"}) {
    const Outcome together = run(job(3, speculative + Arguments{"--shard", "--split", split}));
    EXPECT_EQ(together.status, 0) << together.err;
    EXPECT_EQ(together.out, alone.out) << split;
  }
}

// Uses TCP through a relay that delays all data by a millisecond.
TEST_F(Job, GivesTheSameTextThroughASlowNetwork) {
  const Arguments slow = {"--mca", "pml",
                          "ob1",   "--mca",
                          "btl",   "tcp,self",
                          "-x",    "LD_PRELOAD=" + slow_network(),
                          "-x",    "SLOW_NETWORK_US=1000",
                          "-x",    "SLOW_NETWORK_MBIT=1000"};
  const Arguments brief = {"generate", "-p", "Once",
                           "-n",       "8",  "--temp",
                           "0",        "-m", data("models/spectr-stories-7m-q8_0.gguf"),
                           "-t",       "1",  "--method",
                           "plain"};
  const Outcome alone = spectr(brief);
  for (const char* const split : {"row", "layer"}) {
    const Outcome together = run(slow + job(3, brief + Arguments{"--shard", "--split", split}));
    EXPECT_EQ(together.status, 0) << together.err;
    EXPECT_EQ(together.out, alone.out) << split;
  }
}

TEST_F(Job, MeasuresWithMoreAndMoreOfItsRanks) {
  const Outcome outcome = run(job(3, cluster + Arguments{"--shard", "--split", "row"}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json told = Json::parse(outcome.out);
  EXPECT_EQ(told["ranks"], 3);
  ASSERT_EQ(told["passes"].size(), 3 * 2);
  EXPECT_EQ(told["passes"].back()["ranks"], 3);
}

// These passes have hundreds of rows, whose sums are exchanged in parts.
TEST_F(Job, GivesALongTextTheProbabilityThatOneProcessGives) {
  std::string words;
  for (int i = 0; i < 60; ++i) words += "The little dog number " + std::to_string(i) + " ran home. ";
  const TemporaryFile file(words);
  const Arguments measure = {
      "perplexity", "-m", data("models/spectr-stories-7m-f16.gguf"), "-f", file.path(), "-t", "1", "--json"};
  const Outcome alone = spectr(measure), together = run(job(3, measure + Arguments{"--shard"}));
  ASSERT_EQ(together.status, 0) << together.err;
  const double expected = Json::parse(alone.out)["nll"];
  EXPECT_NEAR(Json::parse(together.out)["nll"].get<double>(), expected, 1e-4 * expected);
}

TEST_F(Job, AProgramByItselfIsAJobOfOne) {
  const Outcome alone = spectr(text), job_of_one = spectr(text + Arguments{"--shard"});
  EXPECT_EQ(job_of_one.status, 0) << job_of_one.err;
  EXPECT_EQ(job_of_one.out, alone.out);
}

TEST_F(Job, ARankWithoutTheFileIsNamedWithItsPath) {
  const Arguments there = text + Arguments{"--shard"};
  const Arguments elsewhere = {"generate", "-m", "/nowhere/model.gguf", "-p", "x", "-n", "2", "--shard"};
  const Outcome outcome = run(job(1, there) + Arguments{":", "-n", "2", spectr_program()} + elsewhere);
  EXPECT_NE(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("rank 1 ("));
  EXPECT_THAT(outcome.err, HasSubstr("/nowhere/model.gguf"));
}

TEST_F(Job, AModelThatRanksCannotShareEndsThemAll) {
  const Outcome outcome = run(job(2, text + Arguments{"--shard=true"}));
  EXPECT_NE(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("blk.0.attn_output.weight"));
}

TEST_F(Job, FailuresOfTheLeaderEndTheOthers) {
  const Outcome outcome = run(job(3, text + Arguments{"--shard", "--no-such-flag"}));
  EXPECT_NE(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("--no-such-flag"));
}

/// Returns the descendants of a process that run the program.
std::vector<pid_t> processes_below(pid_t parent) {
  std::vector<pid_t> below;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    std::ifstream stat(entry.path() / "stat");
    std::string line;
    if (pid == 0 || !std::getline(stat, line)) continue;
    std::istringstream behind_name(line.substr(line.rfind(')') + 1));
    char state = 0;
    pid_t its_parent = 0;
    behind_name >> state >> its_parent;
    if (its_parent != parent) continue;
    if (line.find("(spectr)") != std::string::npos) below.push_back(pid);
    for (const pid_t further : processes_below(pid)) below.push_back(further);
  }
  return below;
}

/// Tests that a call that timed out no longer accesses its caller's memory when a late rank arrives.
class LateRanks : public Job, public testing::WithParamInterface<const char*> {};

TEST_P(LateRanks, LeaveMemoryOfACallerThatGaveUpAlone) {
  const std::string call = GetParam();
  const TemporaryFile verdict("");
  const Outcome outcome = run(job(call == "parts" ? 3 : 2, {call, verdict.path()}, late_ranks()));
  EXPECT_EQ(contents_of(verdict.path()), "kept apart") << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Calls, LateRanks, testing::Values("receive", "send", "sum", "parts", "answer"),
                         [](const auto& call) { return call.param; });

TEST_F(Job, AServerWithARankThatHangsSaysSoAndEnds) {
  RunningProgram server(mpirun_, job(3, Arguments{"serve", "--port", "0", "--shard"} + pair));
  ASSERT_TRUE(says(server, "ready")) << server.err();
  const std::vector<pid_t> ranks = processes_below(getpid());
  ASSERT_EQ(ranks.size(), 3);
  server::RawConnection client(port_of(server));
  ASSERT_EQ(kill(ranks.back(), SIGSTOP), 0);
  ASSERT_TRUE(says(server, "has not answered")) << server.err();
  client.send("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.receive_all(), testing::AnyOf(HasSubstr("503"), testing::IsEmpty()))
      << "or it has ended";
  const Outcome ended = server.wait();
  EXPECT_NE(ended.status, 0);
  EXPECT_THAT(ended.err, testing::ContainsRegex("rank [12] \\(.*\\) has not answered"));
}

/// Returns the process that is the leader of its job.
pid_t leader_of(const std::vector<pid_t>& ranks) {
  for (const pid_t rank : ranks) {
    std::ifstream file("/proc/" + std::to_string(rank) + "/environ");
    const std::string environment((std::istreambuf_iterator<char>(file)), {});
    if (environment.contains(std::string("OMPI_COMM_WORLD_RANK=0") + '\0')) return rank;
  }
  return -1;
}

/// Terminates a server of three ranks that cannot finish loading, and expects mpirun to report no
/// crash.
void expect_orderly_end(const std::string& mpirun, const Arguments& job, const std::string& before) {
  RunningProgram server(mpirun, job);
  ASSERT_TRUE(says(server, before)) << server.err();
  std::vector<pid_t> ranks;
  ASSERT_TRUE(comes_true([&] { return (ranks = processes_below(getpid())).size() == 3; }));
  ASSERT_EQ(kill(leader_of(ranks), SIGTERM), 0);
  const Outcome ended = server.wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("stopped before the models were loaded"));
  for (const char* const crash : {"aborted", "ABORT", "exited", "terminated", "without calling", "error"})
    EXPECT_THAT(ended.err, testing::Not(HasSubstr(crash)));
}

TEST_F(Job, AServerThatIsEndedWhileItLoadsEndsAllRanksInOrder) {
  const Arguments serve = Arguments{"serve", "--port", "0", "--shard"} + pair;
  expect_orderly_end(mpirun_, job(3, serve), "listening");
  // The pipe with the costs never gets a writer, so loading blocks after the models are loaded.
  const TemporaryFile name("");
  const std::string pipe = name.path() + ".pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_orderly_end(mpirun_, job(3, serve + Arguments{"--cost-file", pipe}), "keys and values may come to");
  std::filesystem::remove(pipe);
}

}  // namespace
}  // namespace spectr::test
