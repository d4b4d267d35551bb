#include "spectr/decode/method_request.h"

namespace spectr {

Result<const MethodRule*> MethodRequest::rule(std::size_t draft_models) const {
  if (method) return find_method(*method);
  if (draft_models == 0) return find_method("plain");
  if (!others.tree.empty()) return find_method("tree");
  if (!others.plan && !drafts && !length) return find_method("auto");
  return find_method(draft_models > 1 ? "specinfer" : "spectr");
}

MethodOptions MethodRequest::settings(std::size_t drafts_otherwise, std::size_t length_otherwise) const {
  MethodOptions complete = others;
  complete.drafts = drafts.value_or(drafts_otherwise);
  complete.length = length.value_or(length_otherwise);
  return complete;
}

}  // namespace spectr
