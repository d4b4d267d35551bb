// Arbitrary text must either be a template that renders within its limits or yield an error.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "spectr/text/jinja/from_json.h"
#include "spectr/text/jinja/template.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const nlohmann::json request = {{"messages",
                                          {{{"role", "system"}, {"content", "Be brief."}},
                                           {{"role", "user"}, {"content", " na\u00efve \xff\n"}}}},
                                         {"bos_token", "<s>"},
                                         {"eos_token", "</s>"},
                                         {"add_generation_prompt", true}};
  const spectr::jinja::Limits little{.steps = 10'000, .bytes = 1 << 20, .output = 1 << 16};
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  if (const auto parsed = spectr::jinja::Template::parse(source, little)) {
    const auto variables = spectr::jinja::from_json(request, true);
    [[maybe_unused]] const auto text = parsed->render(*variables->dict());
  }
  return 0;
}
