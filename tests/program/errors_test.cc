// An error is one line on stderr and nothing on stdout, with status 2 (or 1 if a model fails during a
// run).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "tests/program/spectr.h"

namespace spectr {
namespace {

using namespace test;

Arguments story() {
  return generate() + Arguments{"-p", "Once", "-n", "4"};
}

TEST(Errors, UnknownWordsAreNamed) {
  expect_error({}, "no command is given; see spectr --help");
  expect_error({"sing"}, "sing");
  expect_error({"sing", "-m", target()}, "sing");
  expect_error({"--sing"}, "--sing");
  expect_error(story() + Arguments{"--sing"}, "--sing");
  expect_error(story() + Arguments{"--method", "magic"}, "magic");
  expect_error(story() + Arguments{"--plan", "magic"}, "magic");
  expect_error(story() + Arguments{"--beam-mode", "magic"}, "magic");
  expect_error(story() + Arguments{"--beam-mode", "1"}, "must be draw or top");
  expect_error(story() + Arguments{"--beam-warp", "row"}, "--beam-warp: must be token or joint, got 'row'");
  expect_error(story() + Arguments{"--joint", "both"}, "--joint: must be warped or raw, got 'both'");
  expect_error(story() + Arguments{"--gammas", "2,0"}, "--gammas");
  expect_error(story() + Arguments{"--rounds", "0"}, "--rounds");
  expect_error({"bench", "magic"}, "there is no command 'bench magic'");
  expect_error({"plan", "magic"}, "there is no command 'plan magic'");
  expect_error({"lab", "magic"}, "there is no command 'lab magic'");
  expect_error(story() + Arguments{"--sing", "loud"}, "--sing loud");
}

TEST(Errors, ImpossibleNumbersAreRefused) {
  for (const auto& [flag, value] : std::vector<std::pair<std::string, std::string>>{{"-K", "0"},
                                                                                    {"-K", "-1"},
                                                                                    {"-k", "0"},
                                                                                    {"-L", "0"},
                                                                                    {"-L", "-4"},
                                                                                    {"--draft-max", "0"},
                                                                                    {"--temp", "-0.1"},
                                                                                    {"--temp", "nan"},
                                                                                    {"--temp", "inf"},
                                                                                    {"--temp", "warm"},
                                                                                    {"--top-p", "1.5"},
                                                                                    {"--top-p", "-0.5"},
                                                                                    {"--top-p", "nan"},
                                                                                    {"--min-p", "2"},
                                                                                    {"--top-k", "many"},
                                                                                    {"--repeat-penalty", "0"},
                                                                                    {"-n", "-2"},
                                                                                    {"-n", "1e999"},
                                                                                    {"-n", "four"},
                                                                                    {"-t", "0"},
                                                                                    {"-t", "-2"},
                                                                                    {"-c", "-1"},
                                                                                    {"--seed", "one"},
                                                                                    {"--logit-bias", "5"},
                                                                                    {"--logit-bias", "x+1"},
                                                                                    {"--logit-bias", "3+inf"},
                                                                                    {"-K", "99999999"},
                                                                                    {"-L", "2000"}}) {
    Arguments arguments = {"generate", "-m", target(), "-md", draft(), "-p", "Once", flag, value};
    if (flag != "-n") arguments = arguments + Arguments{"-n", "4"};
    expect_error(arguments, "");
  }
}

TEST(Errors, NumbersOfTheMethodsAreRefused) {
  const auto with = [](const Arguments& more) { return story() + more; };
  expect_error(with({"--method", "mtad", "--tau", "-0.1"}), "tau");
  expect_error(with({"--method", "mtad", "--tau", "1.1"}), "tau");
  expect_error(with({"--method", "mtad", "--tau", "nan"}), "tau");
  expect_error(with({"--method", "mtad", "--beams", "0"}), "beams");
  expect_error(with({"--method", "biased-opt", "--epsilon", "inf"}), "epsilon");
  expect_error(with({"--method", "biased-uno", "--epsilon", "nan"}), "epsilon");
  expect_error(with({"--method", "bild", "--bild-fallback", "1.5"}), "fallback");
  expect_error(with({"--method", "bild", "--bild-rollback", "-1"}), "rollback");
  expect_error(with({"--method", "ngram", "--ngram", "0"}), "--ngram");
  expect_error(with({"--method", "suffix", "--suffix-reach", "1.5"}),
               "suffix_reach must lie in [0, 1], got 1.5");
}

TEST(Errors, ImpossibleCombinationsAreRefused) {
  const auto with = [](const Arguments& more) { return story() + more; };
  for (const char* method :
       {"speculative", "batch", "block", "traversal", "conditional", "univer", "gbv", "mtad", "mtjd", "bild",
        "ngram", "suffix", "plain", "biased-opt", "biased-uno"}) {
    expect_error(with({"--method", method, "--plan", "k-seq"}), "plan");
  }
  expect_error(with({"--method", "tree"}), "(tree k1,k2,");
  expect_error(with({"--method", "tree", "--tree", "0,2"}), "--tree");
  expect_error(with({"--method", "tree", "--tree", "2,x"}), "x");
  expect_error(with({"--method", "tree", "--tree", "64,64"}), "4160");
  expect_error(with({"--method", "traversal", "--tree", "100,100,100"}), "too large");
  expect_error(with({"--method", "spectr", "--tree", "2,2"}), "these do: tree, traversal, conditional");
  expect_error(with({"--method", "spectr", "-L", "2", "--trunk", "2"}), "got trunk 2, L 2");
  expect_error(with({"--method", "traversal", "--tree", "2,2", "--trunk", "1"}),
               "not with the factors of a tree");
  expect_error(with({"--method", "traversal", "--tree", "2,2", "--trunk", "auto"}),
               "--trunk auto goes with K and L");
  expect_error({"law", "--method", "conditional", "--trunk", "auto"},
               "--trunk auto goes by what passes cost");
  expect_error(with({"--method", "spectr", "--trunk", "some"}), ", or auto");
  expect_error(with({"--method", "specinfer", "--plan", "optimal"}), "optimal");
  expect_error(with({"--plan", "epsilon-uno", "-K", "2"}), "plan epsilon-uno");
  expect_error(with({"--plan", "otm-lp", "-K", "4"}), "top-k 40 with 4 drafts can give 2560000");
  expect_error(with({"--plan", "epsilon-opt"}), "plan epsilon-opt");  // K is 4, but must be 1
  expect_error(with({"--method", "tree", "--tree", "1,2", "--plan", "epsilon-opt"}), "plan epsilon-opt");
  expect_error(with({"--method", "spectr", "-md", draft()}), "one draft model");
  expect_error({"generate", "-m", target(), "-p", "Once", "--method", "spectr"}, "draft model");
  expect_error({"generate", "-md", draft(), "-p", "Once"}, "-m");
}

TEST(Errors, DraftsMustShareTheVocabulary) {
  expect_error({"generate", "-m", target(), "-md", stranger(), "-p", "Once"}, "cannot draft for");
  expect_error(
      {"generate", "-m", target(), "-md", draft(), "-md", stranger(), "-p", "Once", "--method", "specinfer"},
      "cannot draft for");
}

TEST(Errors, FilesThatCannotBeReadAreNamed) {
  for (const Arguments& command : {Arguments{"generate", "-p", "a", "-m"},
                                   {"tokenize", "-p", "a", "-m"},
                                   {"inspect"},
                                   {"logits", "--tokens", "1", "-m"},
                                   {"detokenize", "--tokens", "1", "-m"}}) {
    expect_error(command + Arguments{"/nowhere/model.gguf"}, "/nowhere/model.gguf");
    expect_error(command + Arguments{"/tmp"}, "/tmp");
    expect_error(command + Arguments{""}, "the file name is empty");
  }
  expect_error({"generate", "-m", target(), "-f", "/nowhere/text"}, "/nowhere/text");
  expect_error({"generate", "-m", target(), "-f", "/tmp"}, "/tmp: is a directory");
  expect_error({"generate", "-m", target(), "-f", "/proc/self/mem"}, "/proc/self/mem: cannot be read");
  expect_error({"perplexity", "-m", target(), "-f", "/nowhere/text"}, "/nowhere/text");
  expect_error({"generate", "-m", target(), "-md", "/nowhere/draft", "-p", "a"}, "/nowhere/draft");
  const auto suffix = [](const std::string& corpus) {
    return Arguments{"generate", "-m",     target(),          "-p",  "Once",
                     "--method", "suffix", "--suffix-corpus", corpus};
  };
  expect_error(suffix("/nowhere/corpus"), "/nowhere/corpus");
  expect_error(suffix("/tmp"), "/tmp");
  const TemporaryFile empty(""), bytes("once \xff"), zeros(std::string("a\0b", 3));
  expect_error(suffix(empty.path()), empty.path());
  expect_error(suffix(bytes.path()), bytes.path() + ": is not text: byte 255 at offset 5");
  expect_error(suffix(zeros.path()), zeros.path() + ": is not text: byte 0 at offset 1");
  if (geteuid() != 0) {
    const TemporaryFile secret("x");
    std::filesystem::permissions(secret.path(), std::filesystem::perms::none);
    expect_error({"generate", "-m", target(), "-f", secret.path()}, "ermission");
  }
}

TEST(Errors, AnEmptyValueIsNotTakenForNone) {
  const Arguments serve = {"serve", "-m", "/nowhere/model", "--port", "0"};
  const Arguments bench = {"bench", "methods", "-m", "/nowhere/model"};
  const Arguments lab = {"lab", "run", "opt-vs-uno", "--quick"};
  const std::pair<Arguments, std::string> cases[] = {
      {{"generate", "-m", target(), "-f"}, "--file: the file name is empty"},
      {{"generate", "-m", target(), "-p", "a", "-md"}, "--model-draft: the file name is empty"},
      {{"generate", "-m", target(), "-p", "a", "--cost-file"}, "--cost-file: the file name is empty"},
      {{"perplexity", "-m", target(), "-f"}, "--file: the file name is empty"},
      {{"inspect"}, "--model: the file name is empty"},
      {{"chat", "-m", target(), "--chat-template-file"}, "--chat-template-file: the file name is empty"},
      {serve + Arguments{"--api-key-file"}, "--api-key-file: the file name is empty"},
      {serve + Arguments{"--chat-template-file"}, "--chat-template-file: the file name is empty"},
      {serve + Arguments{"--chat-template"}, "--chat-template: the template is empty"},
      {serve + Arguments{"--host"}, "--host: the address is empty"},
      {bench + Arguments{"--prompts"}, "--prompts: the file name is empty"},
      {bench + Arguments{"--resume"}, "--resume: the file name is empty"},
      {bench + Arguments{"--plot"}, "--plot: the name of the folder is empty"},
      {bench + Arguments{"--preset"}, "--preset: the name is empty"},
      {lab + Arguments{"--out"}, "--out: the name of the folder is empty"},
      {lab + Arguments{"--out", "/tmp", "--prompts"}, "--prompts: the file name is empty"},
      {lab + Arguments{"--out", "/tmp", "--scorer"}, "--scorer: the file name is empty"},
  };
  for (const auto& [command, reason] : cases) expect_error(command + Arguments{""}, reason);
}

std::string bytes_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

TEST(Errors, MalformedModelsAreRefused) {
  const std::string whole = bytes_of(target());
  std::string huge_count = whole;
  for (int i = 8; i < 16; ++i) huge_count[static_cast<std::size_t>(i)] = '\x7f';
  for (const std::string& contents : {std::string(), std::string("GGUF"), std::string("not a model at all"),
                                      whole.substr(0, 1000), whole.substr(0, whole.size() - 1), huge_count}) {
    const TemporaryFile model(contents);
    for (const Arguments& command : {Arguments{"generate", "-p", "a", "-m"},
                                     {"tokenize", "-p", "a", "-m"},
                                     {"inspect"},
                                     {"logits", "--tokens", "1", "-m"},
                                     {"check-pair", "-md", draft(), "-m"}}) {
      expect_error(command + Arguments{model.path()}, model.path());
    }
  }
  expect_error({"generate", "-p", "a", "-m", data("ggml-vocab-gpt-2.gguf")}, "ggml-vocab-gpt-2.gguf");
}

TEST(Errors, ThePromptMustBeThereAndFit) {
  expect_error({"generate", "-m", target()}, "-p");
  const TemporaryFile nothing("");
  expect_error({"generate", "-m", target(), "-p", "a", "-f", nothing.path()}, "");
  std::string longer;
  for (int i = 0; i < 600; ++i) longer += "word ";
  expect_error({"generate", "-m", target(), "-p", longer}, "the context holds 512");
  expect_error({"generate", "-m", target(), "-p", "Once upon a time", "-c", "3"}, "the context holds 3");
  expect_error({"generate", "-m", target(), "-p", "a", "-c", "100000000"}, "100000000");
}

TEST(Errors, LongNamesBehindOneDashAreNotTakenApart) {
  expect_error({"generate", "-hf", "foo/bar", "-p", "a"}, "foo/bar is in no cache");
  expect_error({"serve", "-hf=foo/bar"}, "This downloads it: hf download foo/bar --include '*Q4_K_M*.gguf'");
  for (const char* name : {"-smx", "-xy", "-cbs", "-pc"}) {
    expect_error({"generate", name, "none", "-p", "a"}, std::string(name) + " was not expected");
  }
}

TEST(Errors, WhatLooksLikeAnOptionMayBeATextOrAFile) {
  EXPECT_EQ(spectr(generate() + Arguments{"-n", "1", "--method", "plain", "-p", "-hf"}).status, 0);
  for (const char* flag : {"-m", "--model", "-md", "--model-draft", "--cost-file"})
    expect_error({"generate", "-m", "-xyz", "-p", "a", flag, "-xyz"}, "-xyz: cannot be opened");
  expect_error(
      {"lab", "run", "opt-vs-uno", "--out", "/tmp", "-m", target(), "-md", draft(), "--prompts", "-xyz"},
      "-xyz: ");
  for (const char* flag : {"--api-key", "-a", "--allowed-host"}) {
    const Outcome ran = spectr({"serve", "-m", "/nowhere/model", "--port", "0", flag, "-Xk3abc"});
    EXPECT_THAT(ran.err, testing::HasSubstr("/nowhere/model: cannot be opened")) << flag;
    EXPECT_THAT(ran.err, testing::Not(testing::HasSubstr("Xk3abc"))) << flag;
  }
}

TEST(Errors, AnOriginIsWhatABrowserCallsIt) {
  for (const char* other : {"http://a.example/", "a.example", "://a", "http://", "-x"})
    expect_error({"serve", "--cors", other}, std::string("'") + other + "' is neither");
}

TEST(Errors, ATemplateIsGivenOnceAndIsOne) {
  for (const char* command : {"chat", "serve"}) {
    expect_error({command, "--chat-template", ""}, "the template is empty");
    expect_error({command, "--chat-template", "x", "--chat-template-file", "/dev/null"}, "excludes");
    expect_error({command, "--chat-template", "{% if %}"}, "chat template: line 1");
  }
}

TEST(Errors, TokenListsAreChecked) {
  for (const char* list : {"", ",", "1,,2", "1,x", "512", "-1", "1.5", "99999999999999"}) {
    expect_error({"logits", "-m", target(), "--tokens", list}, "");
    expect_error({"detokenize", "-m", target(), "--tokens", list}, "");
  }
  std::string too_many = "1";
  for (int i = 0; i < 512; ++i) too_many += ",1";
  expect_error({"logits", "-m", target(), "--tokens", too_many}, "context");
}

TEST(Errors, PerplexityNeedsATextAndAWindow) {
  const TemporaryFile nothing(""), text("Once upon a time");
  expect_error({"perplexity", "-m", target(), "-f", nothing.path()}, nothing.path());
  expect_error({"perplexity", "-m", target(), "-f", text.path(), "-c", "1"}, "-c");
}

TEST(Errors, ABrokenModelHasNoPerplexity) {
  std::string bytes = bytes_of(target());
  std::ranges::fill_n(bytes.end() - 1000, 1000, '\xff');  // the last tensor becomes NaN
  const TemporaryFile broken(bytes), text("Once upon a time");
  const Outcome run = spectr({"perplexity", "-m", broken.path(), "-f", text.path()});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, testing::HasSubstr("no numbers"));
}

TEST(Errors, FlagsWithoutAMeaningHereAreRefusedByName) {
  for (const char* flag : {"--draft-min", "--draft-p-min", "-otd", "-ctkd", "-td", "-cnv"}) {
    expect_error(story() + Arguments{flag, "1"}, flag);
    expect_error(story() + Arguments{std::string(flag) + "=1"}, flag);
  }
}

TEST(Errors, AGrammarThatIsMalformedIsRefused) {
  expect_error({"generate", "-m", target(), "-p", "Once", "--method", "plain", "--grammar", "1"},
               "'--grammar': EBNF parser error");
}

TEST(Errors, LawRefusesWhatItCannotEnumerate) {
  expect_error({"law", "--method", "spectr", "--vocab", "11", "--horizon", "6"}, "1.77e+06");
  expect_error(
      {"law", "--method", "spectr", "--vocab", "4", "-K", "4", "-L", "4"},
      "from each of 4 start tokens: enumerating the decoder takes 1.72e+10 outcomes, at most 1.25e+07");
  expect_error({"law", "--method", "plain", "--vocab", "1000", "--horizon", "2"}, "1e+09 texts");
  expect_error({"law", "--method", "spectr", "--drafts", "2"}, "spectr does not work with 2 draft models");
  expect_error({"law", "--method", "spectr", "--drafts", "0"}, "spectr does not work with 0 draft models");
  expect_error({"law", "--method", "magic"}, "magic");
  expect_error({"law", "--method", "spectr", "--vocab", "0"}, "--vocab");
  expect_error({"law", "--method", "spectr", "--horizon", "0"}, "--horizon");
}

TEST(Errors, WithoutTheBundledModelsAModelIsAskedFor) {
  expect_error({"generate", "-p", "a"}, "-m", {.variables = {{"SPECTR_MODELS", "/nowhere"}}});
}

TEST(Errors, EnvironmentVariablesAreCheckedLikeFlags) {
  expect_error(story(), "", {.variables = {{"LLAMA_ARG_TOP_K", "many"}}});
  expect_error(story(), "temperature must be finite and at least 0, got -1",
               {.variables = {{"LLAMA_ARG_TEMPERATURE", "-1"}}});
}

}  // namespace
}  // namespace spectr
