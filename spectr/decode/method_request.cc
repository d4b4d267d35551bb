#include "spectr/decode/method_request.h"

namespace spectr {

Result<const MethodRule*> MethodRequest::rule(std::size_t draft_models, bool costs_known) const {
  if (method) return find_method(*method);
  if (!others.tree.empty()) return find_method("tree");
  const bool asks_for_drafts = others.plan || drafts || (draft_models > 0 && (length || !costs_known));
  if (asks_for_drafts) return find_method(draft_models > 1 ? "specinfer" : "spectr");
  return find_method(draft_models > 0 ? "auto" : "plain");
}

MethodOptions MethodRequest::settings(std::size_t drafts_otherwise, std::size_t length_otherwise) const {
  MethodOptions complete = others;
  complete.drafts = drafts.value_or(drafts_otherwise);
  complete.length = length.value_or(length_otherwise);
  return complete;
}

}  // namespace spectr
