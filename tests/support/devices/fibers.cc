#include "tests/support/devices/fibers.h"

#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace spectr::cuda {
namespace fibers {
namespace {

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "fibers: %s (thread %d of group %d, %d)\n", what, place().thread, place().group_x,
               place().group_y);
  std::abort();
}

/// The event for which a thread waits.
enum class Wait { nothing, warp, group, copies, predecessors, ended };

struct Copy {
  u32 to;
  const void* from;
  u32 bytes;
};

struct Fiber {
  Wait wait = Wait::nothing;
  u32 barrier = 0, parity = 0;  // for Wait::copies
  int exchanges = 0;
  std::deque<std::vector<Copy>> copies;  // groups of this thread's own copies; the last group is open
};

/// A barrier at which copies arrive.
struct CopyBarrier {
  u32 arrivals, pending, parity = 0;
  long expected = 0;  // bytes
  std::vector<Copy> copies;
};

/// The execution context of a thread. The thread sanitizer tracks the calls of each, so it must be informed.
struct Context {
  ucontext_t registers;
#ifdef __SANITIZE_THREAD__
  void* known = __tsan_get_current_fiber();
#endif
  std::unique_ptr<char[]> stack;

  void leave_for(const Context& next) {
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(next.known, 0);
#endif
    swapcontext(&registers, &next.registers);
  }
};

/// Returns the context of thread i, which all groups share, because they run one after another. Each context
/// calls `start`, which does not return.
Context& context_of(std::size_t i, void (*start)()) {
  constexpr std::size_t stack_bytes = 128 << 10;
  static std::deque<Context> contexts;
  while (contexts.size() <= i) {
    Context& context = contexts.emplace_back();
#ifdef __SANITIZE_THREAD__
    context.known = __tsan_create_fiber(0);
#endif
    context.stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
    getcontext(&context.registers);
    context.registers.uc_stack.ss_sp = context.stack.get();
    context.registers.uc_stack.ss_size = stack_bytes;
    context.registers.uc_link = nullptr;
    makecontext(&context.registers, start, 0);
  }
  return contexts[i];
}

/// A running group of threads.
class Group {
 public:
  Group(const Launch& launch, const std::function<void()>& each)
      : how(launch),
        kernel(each),
        fibers(static_cast<std::size_t>(how.threads)),
        exchanged(2 * static_cast<std::size_t>(how.threads) / 32) {
    if (how.threads % 32 != 0) fail("warps have 32 threads");
    space_ = static_cast<std::size_t>(how.shared) + alignment;
  }

  void run(int x, int y) {
    place = {0, x, y};
    memory_.assign(space_, 0xFF);  // unwritten memory reads as NaN
    barriers.clear();
    for (Fiber& fiber : fibers) {
      fiber.wait = Wait::nothing;
      fiber.exchanges = 0;
      fiber.copies.assign(1, {});
    }
    if (how.exchange_memory) begin_early();
    while (!all(0, fibers.size(), Wait::ended)) {
      if (step()) continue;
      if (!is_early) fail("threads wait for one another: a barrier that not all of them reach");
      end_early();
    }
    if (is_early) end_early();
  }

  /// Suspends this thread until the event for which it waits occurs.
  void yield(Wait wait) {
    const auto thread = static_cast<std::size_t>(place.thread);
    fibers[thread].wait = wait;
    context_of(thread, start).leave_for(home_);
  }

  u8* base() {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (alignment - at % alignment) % alignment;
  }
  CopyBarrier& barrier(u32 address) {
    const auto found = barriers.find(address);
    if (found == barriers.end()) fail("a barrier that was not started");
    return found->second;
  }
  void perform(const Copy& copy) {
    std::memcpy(shared(copy.to, std::min(copy.bytes, 16u), copy.bytes), copy.from, copy.bytes);
  }
  u8* shared(u32 address, u32 aligned, u32 bytes) {
    if (address % aligned != 0) fail("a misaligned address of shared memory");
    if (address + bytes > static_cast<u32>(how.shared)) fail("an address behind the shared memory");
    return base() + address;
  }
  /// Ends the barrier's phase if everything has arrived.
  void settle(CopyBarrier& barrier) {
    if (barrier.pending > 0) return;
    for (const Copy& copy : barrier.copies) {
      perform(copy);
      barrier.expected -= copy.bytes;
    }
    barrier.copies.clear();
    if (barrier.expected != 0) fail("copies of other bytes than expected");
    barrier.parity ^= 1;
    barrier.pending = barrier.arrivals;
  }

  void settle_if_complete(CopyBarrier& barrier) {
    if (barrier.pending == 0 && barrier.expected == 0 && barrier.copies.empty()) settle(barrier);
  }

  static constexpr std::size_t alignment = 128;
  const Launch& how;
  const std::function<void()>& kernel;
  std::vector<Fiber> fibers;
  std::vector<Exchanged> exchanged;  // two per warp, used alternately
  std::map<u32, CopyBarrier> barriers;
  Place place{};
  bool is_early = false;  // true while the predecessors of the kernel have not ended

 private:
  static void start();

  void begin_early() {
    how.exchange_memory();
    is_early = true;
  }
  void end_early() {
    how.exchange_memory();
    is_early = false;
    for (Fiber& fiber : fibers) {
      if (fiber.wait == Wait::predecessors) fiber.wait = Wait::nothing;
    }
  }

  bool all(std::size_t begin, std::size_t end, Wait wait) const {
    return std::all_of(fibers.begin() + static_cast<std::ptrdiff_t>(begin),
                       fibers.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](const Fiber& fiber) { return fiber.wait == wait; });
  }
  void release(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) fibers[i].wait = Wait::nothing;
  }

  /// Runs the runnable threads in random order, and releases those whose rendezvous is complete. Returns true
  /// if anything ran. A random half of the warps is held back each time, so that others overtake them.
  bool step() {
    bool ran = false;
    std::vector<std::size_t> turns, behind;
    const auto drawn = static_cast<std::uint32_t>(order_());
    for (std::size_t i = 0; i < fibers.size(); ++i) {
      if (fibers[i].wait == Wait::nothing) ((drawn >> i / 32 & 1) != 0 ? turns : behind).push_back(i);
    }
    if (turns.empty()) turns.swap(behind);
    std::ranges::shuffle(turns, order_);
    for (const std::size_t i : turns) {
      place.thread = static_cast<int>(i);
      home_.leave_for(context_of(i, start));
      ran = true;
    }
    for (std::size_t w = 0; w < fibers.size(); w += 32) {
      if (all(w, w + 32, Wait::warp)) release(w, w + 32), ran = true;
    }
    if (all(0, fibers.size(), Wait::group)) release(0, fibers.size()), ran = true;
    for (Fiber& fiber : fibers) {
      if (fiber.wait != Wait::copies) continue;
      CopyBarrier& awaited = barrier(fiber.barrier);
      if (awaited.parity == fiber.parity) settle(awaited);
      if (awaited.parity != fiber.parity) fiber.wait = Wait::nothing, ran = true;
    }
    return ran;
  }

  std::size_t space_ = 0;
  std::vector<u8> memory_;
  Context home_{};
  std::mt19937 order_{1};
};

Group* running = nullptr;

void Group::start() {
  for (;;) {  // one group after another
    running->kernel();
    running->yield(Wait::ended);
  }
}

}  // namespace

void launch(const Launch& how, const std::function<void()>& kernel) {
  Group group(how, kernel);
  running = &group;
  for (int y = 0; y < how.groups_y; ++y) {
    for (int x = 0; x < how.groups_x; ++x) group.run(x, y);
  }
  running = nullptr;
}

const Place& place() {
  static const Place none{};
  return running == nullptr ? none : running->place;
}

const Launch& launched() {
  return running->how;
}

void group_barrier() {
  running->yield(Wait::group);
}

const Exchanged& exchange(const u32* mine, int words) {
  const auto thread = static_cast<std::size_t>(place().thread);
  Exchanged& all =
      running->exchanged[thread / 32 * 2 + static_cast<std::size_t>(running->fibers[thread].exchanges++ % 2)];
  std::copy_n(mine, words, all[thread % 32]);
  running->yield(Wait::warp);
  return all;
}

u8* shared(u32 address, u32 bytes) {
  return running->shared(address, bytes, bytes);
}

u32 address_of(const void* shared) {
  return static_cast<u32>(static_cast<const u8*>(shared) - running->base());
}

void start_barrier(u32 barrier, u32 arrivals) {
  running->shared(barrier, 8, 8);
  running->barriers[barrier] = {.arrivals = arrivals, .pending = arrivals, .copies = {}};
}

void arrive(u32 barrier, u32 bytes) {
  CopyBarrier& at = running->barrier(barrier);
  if (at.pending == 0) running->settle(at);  // ends the previous phase
  at.expected += bytes;
  --at.pending;
  running->settle_if_complete(at);
}

void copy(u32 to, const void* from, u32 bytes, u32 barrier) {
  if (bytes % 16 != 0) fail("copies are of whole lines of 16 bytes");
  check_aligned(from, 16);
  CopyBarrier& at = running->barrier(barrier);
  if (running->how.lazy) {
    at.copies.push_back({to, from, bytes});
  } else {
    running->perform({to, from, bytes});
    at.expected -= bytes;
    running->settle_if_complete(at);
  }
}

void wait(u32 barrier, u32 parity) {
  CopyBarrier& at = running->barrier(barrier);
  if (at.parity == parity) running->settle(at);
  if (at.parity != parity) return;
  Fiber& mine = running->fibers[static_cast<std::size_t>(place().thread)];
  mine.barrier = barrier;
  mine.parity = parity;
  running->yield(Wait::copies);
}

void copy_own(u32 to, const void* from, u32 bytes) {
  check_aligned(from, bytes);
  const Copy copy{to, from, bytes};
  if (!running->how.lazy) return running->perform(copy);
  running->fibers[static_cast<std::size_t>(place().thread)].copies.back().push_back(copy);
}

void end_copies() {
  running->fibers[static_cast<std::size_t>(place().thread)].copies.emplace_back();
}

void await_copies(std::size_t pending) {
  auto& copies = running->fibers[static_cast<std::size_t>(place().thread)].copies;
  for (; copies.size() > pending + 1; copies.pop_front()) {
    for (const Copy& copy : copies.front()) running->perform(copy);
  }
}

void await_predecessors() {
  if (running->is_early) running->yield(Wait::predecessors);
}

void check_aligned(const void* p, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(p) % bytes != 0) fail("a misaligned pointer");
}

}  // namespace fibers

u8* shared_memory() {
  return fibers::running->base();
}

}  // namespace spectr::cuda
