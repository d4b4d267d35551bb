#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/text/jinja/run.h"

namespace spectr::jinja {

/// A chat template in the part of Jinja that such templates use, which docs/server.md lists. Other features
/// are errors that name them, and limits bound the resources that a template can use.
class Template {
 public:
  /// Parses a template. Fails with the line of the first error.
  static Result<Template> parse(std::string_view source, const Limits& limits = {});
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;
  ~Template();

  /// Renders the template. Quoted parts of variables stay quoted. Fails with the error that the template
  /// raises or causes. Thread-safe, provided that concurrent calls do not share variables.
  Result<MarkedText> render(const Dict& variables) const;

 private:
  struct Parsed;
  explicit Template(std::unique_ptr<Parsed> parsed);
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace spectr::jinja
