#include "spectr/backend/sharded/messages.h"

namespace spectr {
namespace {

template <class Batch, class Each>
bool each_list(Batch& batch, const Each& each) {
  return each(batch.moves) && each(batch.tokens) && each(batch.positions) && each(batch.caches) &&
         each(batch.slots) && each(batch.prefixes) && each(batch.ancestor_ends) &&
         each(batch.ancestor_slots) && each(batch.wanted) && each(batch.states) && each(batch.row_states);
}

}  // namespace

void put_copy(MessageWriter& out, const CacheCopy& copy) {
  out.put(copy.from);
  out.put(copy.to);
  out.put(copy.slots);
  out.put_all(std::span(copy.frames));
}

bool get_copy(MessageReader& in, CacheCopy& copy) {
  return in.get(copy.from) && in.get(copy.to) && in.get(copy.slots) && in.get_all(copy.frames);
}

void put_batch(MessageWriter& out, const PassBatch& batch) {
  each_list(batch, [&out]<class T>(const std::vector<T>& list) {
    out.put_all(std::span<const T>(list));
    return true;
  });
}

bool get_batch(MessageReader& in, PassBatch& batch) {
  return each_list(batch, [&in](auto& list) { return in.get_all(list); });
}

}  // namespace spectr
