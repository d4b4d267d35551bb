// What a pass does with states: the words of state_rows.h.

const uint grid_tokens = 16u;

// A row: how many tokens since its state, which of the pass's states that is, where it is (place, and whether
// in a frame), and from `row_path` on the places of its path.
const uint row_words = 36u, row_since = 0u, row_step = 1u, row_state = 2u, row_path = 4u;
// A state: where it is and what it is computed from (each place, and whether in a frame), whether it is new,
// whether it restores inputs, and from `step_tokens` on the places of the tokens before it.
const uint step_words = 24u, step_at = 0u, step_before = 2u, step_is_new = 4u, step_restores = 5u, step_tokens = 8u;

/// The number at which a place begins.
uint number_of(int place) {
  return 2u * uint(place);
}
