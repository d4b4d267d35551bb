#pragma once

namespace spectr {

/// Tells the process's allocator to keep large blocks that are freed, instead of giving them back to the
/// system and asking for them again, page by page. A decoder makes and drops a law of the whole vocabulary
/// for every node of every tree: for programs that mostly decode. Does nothing where the allocator has no
/// such setting.
void keep_freed_memory();

}  // namespace spectr
