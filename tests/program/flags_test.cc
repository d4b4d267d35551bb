// Flags that users of llama.cpp type, and the help on this program's own flags.
#include <sched.h>

#include <regex>
#include <string>

#include "tests/program/spectr.h"

namespace spectr::test {
namespace {

using testing::HasSubstr;
using testing::Not;

Json story(const Arguments& more) {
  const Outcome ran = spectr(generate() + Arguments{"-p", "Once", "-n", "8", "--seed", "1", "--json"} + more);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return Json::parse(ran.out);
}

std::string help(const Arguments& command) {
  return spectr(command + Arguments{"--help-all"}).out;
}

TEST(Flags, OfLlamaCppsScriptsAreUnderstood) {
  EXPECT_EQ(story({"--draft", "2"})["stats"]["length"], 2);
  EXPECT_EQ(story({"--draft=2"})["stats"]["length"], 2);
  EXPECT_EQ(story({"-K", "2", "-no-cnv"})["tokens"], story({"-K", "2"})["tokens"]);
  const TemporaryFile text("Once upon a time");
  const Arguments perplexity = {"perplexity", "-m", target(), "-f", text.path()};
  EXPECT_EQ(spectr(perplexity + Arguments{"--json"}).out, spectr(perplexity).out);
}

TEST(Flags, LawChoosesTheMethodAsGenerateDoes) {
  const auto law = [](const Arguments& more) { return spectr(Arguments{"law", "--vocab", "2"} + more); };
  EXPECT_EQ(law({"--tree", "2,1"}).status, 0) << law({"--tree", "2,1"}).err;
  EXPECT_EQ(law({"--tree", "2,1"}).out, law({"--tree", "2,1", "--method", "tree"}).out);
  EXPECT_EQ(law({"-K", "2"}).out, law({"-K", "2", "--method", "spectr"}).out);
  EXPECT_EQ(law({"-K", "2", "--drafts", "2"}).out,
            law({"-K", "2", "--drafts", "2", "--method", "specinfer"}).out);
}

TEST(Flags, LawOfAutoIsThatOfADecoderThatDrafts) {
  const Json law = Json::parse(spectr({"law", "--method", "auto", "--vocab", "2"}).out);
  EXPECT_LE(law["tv_error"].get<double>(), 1e-12);
  EXPECT_LT(law["expected_target_calls"].get<double>(), 3.5) << "of 4 that plain decoding takes";
}

TEST(Flags, ChooseWhatKeysAndValuesAreStoredAs) {
  EXPECT_EQ(story({"-ctk", "f16", "-ctv", "f16"})["tokens"], story({})["tokens"]) << "as by default for Q8_0";
  EXPECT_EQ(story({"-ctv", "f32"})["tokens"], story({"-ctk", "f16", "-ctv", "f32"})["tokens"]);
  EXPECT_EQ(story({"--cache-type-k=f32"})["tokens"].size(), 8u);
  EXPECT_EQ(story({"-ctk", "q8_0", "-ctv", "q8_0"})["tokens"].size(), 8u);
  const auto refused = [](const Arguments& more) {
    const Outcome ran = spectr(generate() + Arguments{"-p", "Once", "-n", "2"} + more);
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.out, "");
    return ran.err;
  };
  EXPECT_THAT(refused({"-ctk", "q7_9"}), HasSubstr("--cache-type-k: q7_9 not in {f32,f16,q8_0}"));
}

TEST(Flags, OfDraftsThatAreNotUsedAreTold) {
  const auto told = [](const Arguments& more) {
    return spectr(generate() + Arguments{"-p", "Once", "-n", "2", "--seed", "1"} + more).err;
  };
  EXPECT_THAT(told({"--method", "speculative", "-K", "7"}),
              HasSubstr("-K 7 is not used: method speculative"));
  EXPECT_THAT(told({"--method", "plain", "-L", "3"}),
              HasSubstr("-L 3 is not used: method plain drafts nothing"));
  EXPECT_THAT(spectr({"law", "--method", "speculative", "-K", "4"}).err,
              HasSubstr("-K 4 is not used: method speculative drafts K 1, L 2 here"));
  EXPECT_THAT(told({"--method", "spectr", "-K", "3", "-L", "2"}), Not(HasSubstr("is not used")));
}

TEST(Flags, OfSettingsThatAMethodDoesNotReadAreTold) {
  const auto told = [](const Arguments& more) {
    return spectr(generate() + Arguments{"-p", "Once", "-n", "2", "--seed", "1"} + more).err;
  };
  const std::pair<const char*, const char*> settings[] = {
      {"--epsilon", "0.5"},     {"--tau", "0.5"},           {"--beams", "4"},  {"--beam-mode", "top"},
      {"--bild-rollback", "3"}, {"--bild-fallback", "0.5"}, {"--ngram", "2"},  {"--beam-warp", "joint"},
      {"--joint", "raw"},       {"--gammas", "2,3"},        {"--rounds", "2"}, {"--trunk", "1"},
      {"--suffix-reach", "0.5"}};
  for (const auto& [flag, value] : settings) {
    EXPECT_THAT(told({"--method", "block", flag, value}),
                HasSubstr(std::string(flag) + " is not used: method block does not read it"));
  }
  EXPECT_THAT(spectr({"law", "--method", "block", "--tau", "0.5"}).err, HasSubstr("--tau is not used"));
  for (const Arguments& read :
       {Arguments{"--method", "mtad", "--tau", "0.5", "--beams", "4", "--beam-mode", "top"},
        {"--method", "mtad", "--joint", "raw", "--beam-warp", "joint"},
        {"--method", "mtjd", "--gammas", "2,3", "--beam-warp", "joint"},
        {"--plan", "str+", "-K", "2", "--rounds", "2"},
        {"--method", "bild", "--bild-rollback", "3", "--bild-fallback", "0.5"},
        {"--method", "biased-uno", "--epsilon", "0.5"},
        {"--method", "ngram", "--ngram", "2"},
        {"--method", "suffix", "--suffix-reach", "0.2"},
        {"--method", "conditional", "-K", "2", "-L", "2", "--trunk", "1", "--look"},
        {"--plan", "epsilon-opt", "-K", "1", "--epsilon", "0.5"},
        {"--method", "block", "--tau", "0.1"}}) {
    EXPECT_THAT(told(read), Not(HasSubstr("does not read"))) << testing::PrintToString(read);
  }
}

TEST(Flags, OfDraftModelsThatAreNotUsedAreTold) {
  const auto told = [](const Arguments& more) {
    return spectr(generate() + Arguments{"-p", "Once", "-n", "2", "--seed", "1"} + more).err;
  };
  EXPECT_THAT(told({"--method", "plain"}), HasSubstr("-md is not used: method plain takes no draft model"));
  EXPECT_THAT(told({"-md", draft(), "--method", "specinfer", "-K", "1"}),
              HasSubstr("1 of 2 draft models (-md) are not used: method specinfer drafts K 1 sequences"));
  EXPECT_THAT(told({"-md", draft(), "--method", "specinfer", "-K", "2"}), Not(HasSubstr("not used")));
  EXPECT_THAT(spectr({"generate", "-p", "Once", "-n", "1", "--method", "plain"}).err,
              Not(HasSubstr("not used")));
}

TEST(Flags, WithTheValueThatAsksForNothingAreLetPass) {
  const Arguments nothing = {
      "--draft-min", "0",      "--spec-draft-p-min=0.00", "-ngl", "0", "-fa", "auto", "-b", "2048", "-ub",
      "512",         "--jinja"};
  EXPECT_EQ(story(nothing + Arguments{"-K", "2"})["tokens"], story({"-K", "2"})["tokens"]);
  expect_error(generate() + Arguments{"-p", "a", "-b", "0"}, "-b is not supported");
}

TEST(Flags, SpecTypeChoosesTheMethodByLlamaCppsNames) {
  const auto method = [](const std::string& type, const Arguments& more = {}) {
    return story(Arguments{"--spec-type", type, "-L", "2"} + more)["stats"]["method"].get<std::string>();
  };
  EXPECT_EQ(method("none"), "plain");
  EXPECT_EQ(method("draft-simple"), "spectr") << "as with -L and without a type";
  EXPECT_EQ(method("draft-simple", {"--method", "block"}), "block");
  EXPECT_EQ(method("ngram-simple"), "ngram");
  EXPECT_EQ(method("ngram-map-k"), "suffix");
  EXPECT_EQ(method("ngram-map-k4v"), "suffix");
}

TEST(Flags, SpecTypeRefusesByNameWhatThereIsNot) {
  const auto refused = [](const Arguments& more, const std::string& why) {
    expect_error(generate() + Arguments{"-p", "Once", "-n", "1"} + more, why);
  };
  refused({"--spec-type", "ngram-mod"},
          "--spec-type ngram-mod is not supported: use --method suffix, which drafts from the text and, with "
          "--suffix-corpus FILE, from another one");
  refused({"--spec-type", "ngram-cache"}, "--spec-type ngram-cache is not supported");
  refused({"--spec-type", "draft"}, "there is no speculation type 'draft'; the speculation types are none, ");
  refused({"--spec-type", "none", "--method", "spectr"},
          "--spec-type none is method plain, but --method spectr is given");
  refused({"--spec-type", "none,ngram-simple"},
          "--spec-type none and ngram-simple are different methods: give one");
  refused({"--spec-type", "draft-simple,ngram-simple", "--method", "block"},
          "--spec-type names drafts and others: only method auto chooses among several types");
  refused({"--spec-type", "draft-eagle3"}, "is of type draft-simple, but --spec-type names draft-eagle3");
  expect_error({"generate", "-m", target(), "-p", "Once", "--spec-type", "draft-simple"},
               "--spec-type draft-simple needs a draft model: give -md FILE");
  expect_error({"generate", "-m", target(), "-p", "Once", "--spec-type", "draft-dflash"},
               "--spec-type draft-dflash needs a drafter: give -md FILE (no file dflash-* next to");
}

TEST(Flags, OfACopiedLlamaCliLineChangeNoText) {
  const Arguments copied = {"-fa",        "on",
                            "--no-mmap",  "-tb",
                            "8",          "--no-warmup",
                            "--mirostat", "0",
                            "--typical",  "1.0",
                            "-v",         "--log-disable",
                            "--samplers", "top_k;top_p;min_p;temperature",
                            "--jinja",    "--mlock",
                            "-st",        "--simple-io",
                            "-co",        "auto",
                            "--prio",     "2",
                            "--no-perf",  "-b",
                            "1024",       "--offline"};
  const Outcome ran =
      spectr(generate() + copied + Arguments{"-p", "Once", "-n", "4", "-K", "2", "--seed", "1"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, spectr(generate() + Arguments{"-p", "Once", "-n", "4", "-K", "2", "--seed", "1"}).out);
  EXPECT_THAT(ran.err, HasSubstr("-tb: one number of threads (-t) serves all passes; --mlock: the model's "
                                 "memory is not locked\n"));
}

TEST(Flags, OfSamplersAreThoseOfLlamaCpp) {
  const auto tokens = [](const Arguments& more) {
    const Arguments common = {"-p", "Tom and his dog", "-n", "40", "--seed", "1", "-K", "2", "--json"};
    const Outcome ran = spectr(generate() + common + more);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return Json::parse(ran.out)["tokens"];
  };
  const auto usual = tokens({});
  EXPECT_EQ(tokens({"--samplers", "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature",
                    "--dry-multiplier", "0", "--xtc-probability", "0", "--top-nsigma", "-1",
                    "--adaptive-target", "-1", "--dynatemp-range", "0"}),
            usual);
  const Arguments cases[] = {
      {"--dry-multiplier", "5", "--dry-allowed-length", "0", "--dry-sequence-breaker", "none"},
      {"--xtc-probability", "1", "--xtc-threshold", "0.02"},
      {"--typical", "0.3"},
      {"--top-n-sigma", "0.1"},
      {"--dynatemp-range", "3", "--dynatemp-exp", "0.3"},
      {"--mirostat", "2", "--mirostat-ent", "8"},
      {"--mirostat", "1", "--mirostat-lr", "0.5"},
      {"--sampling-seq", "ka", "--adaptive-target", "0.1"},
      {"--samplers", "temperature;top_p;min_p", "--temp", "3"}};
  for (const Arguments& some : cases) EXPECT_NE(tokens(some), usual) << some.front();
  const auto refused = [](const Arguments& more, const char* why) {
    expect_error(generate() + Arguments{"-p", "a"} + more, why);
  };
  refused({"--samplers", "top_k;magic"},
          "--samplers: there is no sampler 'magic'; the samplers are penalties");
  refused({"--sampler-seq", "kk"}, "--sampler-seq: sampler top_k is named twice");
  refused({"--xtc-probability", "2"}, "xtc-probability must be finite and at most 1, got 2");
  refused({"--mirostat", "3"}, "--mirostat: must be a whole number from 0 to 2, got '3'");
  refused({"--adaptive-target", "0.5"}, "adaptive-target 0.5 needs adaptive_p among the samplers");
  refused({"--dry-multiplier", "1", "--dry-sequence-breaker", std::string(41, 'x')},
          "one must have 1 to 40 bytes, got 'xxx");
}

TEST(Flags, OfACopiedLlamaServerLineAreUnderstood) {
  const Arguments copied = {"-c",
                            "4096",
                            "-ngl",
                            "0",
                            "-fa",
                            "on",
                            "-np",
                            "2",
                            "-cb",
                            "--no-webui",
                            "--metrics",
                            "--slots",
                            "-b",
                            "2048",
                            "-ub",
                            "512",
                            "--jinja",
                            "--reasoning-format",
                            "auto",
                            "--no-context-shift",
                            "--kv-unified",
                            "--props",
                            "--cache-reuse",
                            "256",
                            "--threads-http",
                            "4",
                            "-a",
                            "one,two",
                            "-a",
                            "three",
                            "--reasoning",
                            "off",
                            "--reasoning-budget",
                            "0",
                            "--chat-template-kwargs",
                            "{\"enable_thinking\": false}",
                            "--cors-origins",
                            "localhost"};
  expect_error(Arguments{"serve", "-m", "/nowhere/model", "--port", "0", "--lora", "a.gguf"} + copied,
               "--lora is not supported: adapters are not applied");
  const Outcome ran = spectr(Arguments{"serve", "-m", "/nowhere/model", "--port", "0"} + copied);
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("spectr: error: /nowhere/model: cannot be opened"));
}

TEST(Flags, OfReasoningAreChecked) {
  const auto refused = [](const Arguments& more, const std::string& why) {
    expect_error(Arguments{"serve", "-m", "/nowhere/model"} + more, why);
  };
  refused({"--reasoning", "maybe"}, "--reasoning: must be on, off or auto, got 'maybe'");
  refused({"--reasoning-budget", "-2"},
          "--reasoning-budget: must be -1 (no limit), 0 (no reasoning) or a number of tokens, got '-2'");
  refused({"--chat-template-kwargs", "{"}, "--chat-template-kwargs is not JSON");
  refused({"--chat-template-kwargs", "[1]"}, "--chat-template-kwargs: must be a JSON object, got [1]");
  refused({"--chat-template-kwargs", "{\"messages\": 1}"}, "'messages' is set by the program");
}

TEST(Flags, SayWhereModelsAreComputed) {
  const auto tokens = story({"-K", "2"})["tokens"];
  for (const Arguments& nothing :
       {Arguments{"-dev", "none"}, {"-ngl", "0"}, {"-ngld", "0"}, {"--device-draft", "none"}})
    EXPECT_EQ(story(nothing + Arguments{"-K", "2"})["tokens"], tokens);
  const Outcome listed = spectr({"generate", "--list-devices"}, with_vulkan());
  EXPECT_EQ(listed.status, 0);
  EXPECT_THAT(listed.out, testing::StartsWith("Available devices:\n"));
  const Arguments text = generate() + Arguments{"-p", "a", "-n", "1"};
  expect_error(text + Arguments{"--device", "Abacus0"},
               "--device Abacus0: there is no such device; see --list-devices");
  expect_error(text + Arguments{"-ngl", "10"}, "-ngl 10: a model is computed in one place; give 0 or all");
  if (std::regex_search(listed.out, std::regex("CUDA0|Vulkan0: (?!llvmpipe)")))
    GTEST_SKIP() << "there is a GPU";
  expect_error(text + Arguments{"-dev", "CUDA0"}, "--device CUDA0: ");
  expect_error(text + Arguments{"--device-draft", "CUDA0"}, "--device CUDA0: ");
  for (const Arguments& automatic : {Arguments{"-dev", "auto"}, {"-ngl", "all"}, {"-ngl", "99"}}) {
    const Outcome written = spectr(text + automatic, with_vulkan());
    EXPECT_EQ(written.status, 0);
    EXPECT_THAT(written.err, HasSubstr("--device auto: "));
    EXPECT_THAT(written.err, HasSubstr("; computing on the CPU\n"));
  }
}

TEST(Flags, MinusOneStandsForAllAsInLlamaCpp) {
  const Arguments penalty = {"-K", "2", "--repeat-penalty", "1.5"};
  EXPECT_EQ(story({"-K", "2", "--top-k", "-1"})["tokens"], story({"-K", "2", "--top-k", "0"})["tokens"]);
  EXPECT_EQ(story(penalty + Arguments{"--repeat-last-n", "-1"})["tokens"],
            story(penalty + Arguments{"--repeat-last-n", "100000"})["tokens"]);
}

TEST(Flags, ThatAreNearlyRightGetAHint) {
  expect_error({"generate", "-p", "a", "--tempp", "1"},
               "--tempp 1 was not expected; did you mean --temp; see");
  expect_error({"generate", "-p", "a", "--top_k=3"}, "did you mean --top-k;");
  expect_error({"generate", "-p", "a", "--draft-model", "x"}, "-md or --model-draft");
  expect_error({"genrate"}, "there is no command 'genrate'; did you mean generate;");
  EXPECT_THAT(spectr({"generate", "-p", "a", "--nothing-like-it"}).err, Not(HasSubstr("did you mean")));
}

TEST(Flags, PromptsMayHaveEscapesAndComeFromFiles) {
  const auto ids = [](const Arguments& text, const Surroundings& where = {}) {
    return spectr(Arguments{"tokenize", "-m", target(), "--json"} + text, where).out;
  };
  EXPECT_EQ(ids({"-e", "-p", R"(a\n\t\"\\\x41\q)"}), ids({"-p", "a\n\t\"\\A\\q"}));
  EXPECT_EQ(ids({"-p", R"(a\n)"}), ids({"-e", "-p", R"(a\\n)"})) << "without -e a backslash is one";
  EXPECT_EQ(ids({"-f", "-"}, {.input = "Once\n"}), ids({"-p", "Once\n"}));
  const TemporaryFile text("Once\n");
  const Arguments more = {"-n", "8", "--seed", "1", "--json", "--method", "plain"};
  EXPECT_EQ(Json::parse(spectr(generate() + Arguments{"-f", text.path()} + more).out)["tokens"],
            Json::parse(spectr(generate() + Arguments{"-p", "Once"} + more).out)["tokens"])
      << "the newline that ends a file is no part of a prompt";
}

TEST(Flags, ValuesInBracketsAreNotTakenApart) {
  const Arguments text = generate() + Arguments{"-p", "Once", "--method", "plain", "-n", "40", "--temp", "0"};
  const Outcome whole = spectr(text), stopped = spectr(text + Arguments{"-r", "[the,a]", "-r", "[he]"});
  EXPECT_EQ(stopped.status, 0) << stopped.err;
  EXPECT_EQ(stopped.out, whole.out);
  EXPECT_NE(spectr(text + Arguments{"-r", "[the]", "-r", "he"}).out, whole.out) << "all of them count";
  expect_error({"generate", "-m", target(), "-md", "[d]", "-p", "a"}, "[d]: ");
}

TEST(Flags, ThreadsAreAsManyAsProcessorsMayBeUsed) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);  // child processes inherit it
  const Outcome ran = spectr({"bench", "tg", "-m", target(), "-n", "1", "-r", "1", "--json"});
  sched_setaffinity(0, sizeof all, &all);
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(Json::parse(ran.out)[0]["n_threads"], 1);
}

TEST(Flags, AnEmptyPromptIsTheBeginningOfAText) {
  const Outcome ran = spectr(generate() + Arguments{"-p", "", "-n", "4", "--seed", "1", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const TemporaryFile nothing("");
  const Outcome file =
      spectr(generate() + Arguments{"-f", nothing.path(), "-n", "4", "--seed", "1", "--json"});
  EXPECT_EQ(Json::parse(file.out)["tokens"], Json::parse(ran.out)["tokens"]);
}

TEST(Flags, AreHelpedWithWhatTheyDo) {
  EXPECT_THAT(help({"generate"}), HasSubstr("draw|top"));
  EXPECT_THAT(help({"generate"}), HasSubstr("--cost-file"));
  EXPECT_THAT(help({"law"}), Not(HasSubstr("--cost-file")));
  EXPECT_THAT(help({"perplexity"}), HasSubstr("tokens of a window (0: the model's context)"));
  EXPECT_THAT(help({"bench", "pp"}), HasSubstr("a JSON list"));
  EXPECT_THAT(help({"bench", "widths"}), HasSubstr("(default: 1,2,"));
}

}  // namespace
}  // namespace spectr::test
