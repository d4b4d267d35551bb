// The layouts of state_rows.h, as word offsets.

const uint grid_tokens = 16u;

// A row: the number of tokens since its state, the index of that state in the pass, its location (place, and
// 1 if in a frame), and from `row_path` on the places of its path.
const uint row_words = 36u, row_since = 0u, row_step = 1u, row_state = 2u, row_path = 4u;
// A state: its location and that of its predecessor (place, and 1 if in a frame), whether it is new, whether
// it restores inputs, and from `step_tokens` on the places of the tokens before it.
const uint step_words = 24u, step_at = 0u, step_before = 2u, step_is_new = 4u, step_restores = 5u, step_tokens = 8u;

/// Returns the offset of a place, in numbers.
uint number_of(int place) {
  return 2u * uint(place);
}
