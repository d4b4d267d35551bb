#include "spectr/engine/model_caches.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace spectr {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Caches : public testing::Test {
 protected:
  Caches() {
    std::string name = testing::TempDir() + "model_caches_XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~Caches() override { fs::remove_all(folder_); }

  fs::path write(const fs::path& path, const std::string& text = "12345") const {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
    return folder_ / path;
  }
  /// Writes a file as Hugging Face's tools store it: a link to a blob.
  fs::path write_hub(const std::string& repository, const std::string& file,
                     const std::string& revision) const {
    const fs::path blob =
        write("hub/" + repository + "/blobs/" + revision + fs::path(file).filename().string());
    const fs::path link = folder_ / "hub" / repository / "snapshots" / revision / file;
    fs::create_directories(link.parent_path());
    fs::create_symlink(blob, link);
    return link;
  }
  ModelCaches caches() const { return {folder_ / "hub", folder_ / "llama"}; }
  std::string error_of(std::string_view model) const {
    const auto found = caches().find(model);
    return found ? "" : found.error().message;
  }

  fs::path folder_;
};

TEST_F(Caches, DraftersNextToAModelHaveItsName) {
  const fs::path model = write("models/Qwen3-8B-Instruct-Q4_K_M.gguf");
  const fs::path mtp = write("models/mtp-Qwen3-8B-Instruct-Q8_0.gguf"),
                 dflash = write("models/dflash-Qwen3-8B-Instruct.gguf"),
                 eagle = write("models/eagle3-qwen3-8b-BF16.gguf");
  write("models/eagle3-Qwen3-80B.gguf");
  write("models/dspark-Other-8B.gguf");
  write("models/draft-Qwen3-8B.gguf");
  write("models/mtp-Q8_0.gguf");
  write("models/mtp-Qwen3-8B.txt");
  EXPECT_EQ(drafters_next_to(model), (std::vector{dflash, eagle, mtp}));
  EXPECT_EQ(drafters_next_to(folder_ / "nowhere" / "a.gguf"), std::vector<fs::path>());
  const fs::path cached = write("llama/me_Tiny-GGUF_Tiny-Q4_0.gguf"),
                 beside = write("llama/me_Tiny-GGUF_mtp-Tiny.gguf");
  write("llama/me_Other_mtp-Tiny.gguf");
  EXPECT_EQ(drafters_next_to(cached), std::vector{beside});
}

TEST_F(Caches, DraftersAreNotTakenForModels) {
  write_hub("models--me--Tiny-GGUF", "dflash-Tiny-Q4_K_M.gguf", "new");
  const fs::path model = write_hub("models--me--Tiny-GGUF", "tiny-Q4_K_M.gguf", "new");
  EXPECT_EQ(caches().find("me/Tiny-GGUF").value(), model);
  EXPECT_EQ(caches().find("me/Tiny-GGUF:Q4_K_M").value(), model);
  const fs::path drafter = write_hub("models--me--Drafter", "dflash-Tiny-Q8_0.gguf", "new");
  EXPECT_EQ(caches().find("me/Drafter").value(), drafter);
  write("served/tiny.gguf");
  write("served/mtp-tiny.gguf");
  write("served/two/dflash-two.gguf");
  write("served/two/two.gguf");
  const auto served = list_folder(folder_ / "served").value();
  ASSERT_EQ(served.size(), 2U);
  EXPECT_EQ(served[0].name, "tiny");
  EXPECT_EQ(served[1].path, folder_ / "served/two/two.gguf");
}

TEST_F(Caches, ThatAreNotThereAreEmpty) {
  EXPECT_THAT(caches().list(), testing::IsEmpty());
  EXPECT_THAT(error_of("a/b"), HasSubstr("hf download a/b --include '*Q4_K_M*.gguf'"));
  EXPECT_THAT(error_of("a/b:Q8_0"), HasSubstr("hf download a/b --include '*Q8_0*.gguf'"));
}

TEST_F(Caches, OfHuggingFaceAreReadByTheNewestRevision) {
  write_hub("models--me--Tiny-GGUF", "Tiny-Q4_K_M.gguf", "old");
  const fs::path small = write_hub("models--me--Tiny-GGUF", "Tiny-Q4_K_M.gguf", "new");
  const fs::path large = write_hub("models--me--Tiny-GGUF", "large/Tiny-Q8_0.gguf", "new");
  write_hub("models--me--Tiny-GGUF", "mmproj-F16.gguf", "new");
  write("hub/models--me--Tiny-GGUF/refs/main", "new");
  write("hub/datasets--me--x/snapshots/new/a.gguf");
  EXPECT_EQ(caches().find("me/Tiny-GGUF").value(), small);
  EXPECT_EQ(caches().find("me/Tiny-GGUF:q8_0").value(), large);
  EXPECT_EQ(caches().find("me/Tiny-GGUF", "large/Tiny-Q8_0.gguf").value(), large);
  EXPECT_THAT(error_of("me/Tiny-GGUF:Q4_K"), HasSubstr("there is Tiny-Q4_K_M.gguf, large/Tiny-Q8_0.gguf"));
  const auto all = caches().list();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].repository, "me/Tiny-GGUF");
  EXPECT_EQ(all[0].file, "Tiny-Q4_K_M.gguf");
  EXPECT_EQ(all[0].bytes, 5U);
}

TEST_F(Caches, OfLlamaCppAreKnownByTheirManifests) {
  const fs::path path = write("llama/me_Tiny_Model-GGUF_tiny-Q4_0.gguf");
  write("llama/manifest=me=Tiny_Model-GGUF=latest.json", "{}");
  EXPECT_EQ(caches().find("me/Tiny_Model-GGUF").value(), path);
  EXPECT_EQ(caches().list().at(0).repository, "me/Tiny_Model-GGUF");
  const fs::path other = write("llama/me_Other_other-Q4_0.gguf");
  EXPECT_EQ(caches().find("me/Other:Q4_0").value(), other) << "or by the name that is asked for";
}

TEST_F(Caches, AFileBelongsToTheLongestManifestPrefixThatFits) {
  const fs::path plain = write("llama/u_r_m-Q4_0.gguf"), second = write("llama/u_r_v2_m-Q4_0.gguf"),
                 third = write("llama/u_r_v2_GGUF_m-Q4_0.gguf");
  write("llama/manifest=u=r=latest.json", "{}");
  write("llama/manifest=u=r_v2_GGUF=latest.json", "{}");
  write("llama/manifest=u=r_v2=latest.json", "{}");
  EXPECT_EQ(caches().find("u/r").value(), plain);
  EXPECT_EQ(caches().find("u/r_v2").value(), second);
  EXPECT_EQ(caches().find("u/r_v2_GGUF").value(), third);
  for (const CachedModel& model : caches().list()) EXPECT_EQ(model.file, "m-Q4_0.gguf") << model.repository;
}

TEST_F(Caches, PartsAreOneModel) {
  const fs::path first = write("llama/big-00001-of-00002.gguf");
  write("llama/big-00002-of-00002.gguf");
  const auto all = caches().list();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].path, first);
  EXPECT_EQ(all[0].bytes, 10U);
}

TEST_F(Caches, AddressesAreFoundInBoth) {
  const fs::path by_llama = write("llama/x.gguf");
  EXPECT_EQ(caches().find_url("https://example.com/a/x.gguf?download=true").value(), by_llama);
  const fs::path by_hub = write_hub("models--me--Tiny", "y-Q8_0.gguf", "new");
  EXPECT_EQ(caches().find_url("https://huggingface.co/me/Tiny/resolve/main/y-Q8_0.gguf").value(), by_hub);
  const auto missing = caches().find_url("https://example.com/z.gguf");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("curl -L -o " + (folder_ / "llama/z.gguf").string()));
  EXPECT_FALSE(caches().find_url("x.gguf"));
}

TEST_F(Caches, NamesThatAreNoneAreRefused) {
  for (const char* name : {"", "a", "/b", "a/", "a/b/c", ":Q8_0"})
    EXPECT_THAT(error_of(name), HasSubstr("is no model of Hugging Face")) << name;
}

TEST(Quantisation, IsAWordOfTheName) {
  EXPECT_EQ(quantisation_of("Qwen3-8B-Q4_K_M.gguf"), "Q4_K_M");
  EXPECT_EQ(quantisation_of("gemma.q8_0.gguf"), "Q8_0");
  EXPECT_EQ(quantisation_of("big-IQ2_XXS-00001-of-00003.gguf"), "IQ2_XXS");
  EXPECT_EQ(quantisation_of("gpt-oss-20b-mxfp4.gguf"), "MXFP4");
  EXPECT_EQ(quantisation_of("Qwen3-8B.gguf"), "");
}

}  // namespace
}  // namespace spectr
