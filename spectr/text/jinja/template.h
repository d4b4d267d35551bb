#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/text/jinja/run.h"

namespace spectr::jinja {

/// A chat template: the part of Jinja that such templates use. docs/server.md lists what that is; anything
/// else is an error that names it, and nothing that a template does can take more than the limits allow.
class Template {
 public:
  /// Error: what is not understood, with its line.
  static Result<Template> parse(std::string_view source, const Limits& limits = {});
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;
  ~Template();

  /// The text for these variables, in which what is quoted in them is quoted. Error: what the template
  /// raises, or does wrong. Safe to call from several threads at once, which share no variables.
  Result<MarkedText> render(const Dict& variables) const;

 private:
  struct Parsed;
  explicit Template(std::unique_ptr<Parsed> parsed);
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace spectr::jinja
