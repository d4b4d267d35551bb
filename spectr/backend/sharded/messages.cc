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
