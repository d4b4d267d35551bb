#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/base/stopwatch.h"

namespace spectr {

class Transformer;

/// The operations of a pass, in the order in which a layer does them.
enum class Operation {
  embedding,
  norm,
  query_key_value,
  attention,
  attention_output,
  gate_up,
  activation,
  down,
  experts,
  head
};

inline constexpr std::size_t operation_count = static_cast<std::size_t>(Operation::head) + 1;

std::string_view name_of(Operation operation);

/// What a machine can do at best: the lines of the roofline below which every pass stays (Williams, Waterman,
/// Patterson 2009).
struct MachineSpeed {
  double bytes;         ///< read from memory a second
  double integer_macs;  ///< a second
  double float_macs;    ///< a second
};

/// What an operation cannot do without.
struct Work {
  double bytes = 0.0;         ///< weights, keys and values, each read once
  double macs = 0.0;          ///< multiplications of two numbers, each added to something
  double integer_macs = 0.0;  ///< those among them of 8-bit integers

  Work& operator+=(const Work& other);
  /// Seconds that memory, and the multipliers, are busy at a machine's best speeds.
  double reading_seconds(const MachineSpeed& machine) const;
  double multiplying_seconds(const MachineSpeed& machine) const;
};

/// Where the time of passes goes: seconds and work of each operation, summed over the passes of a session
/// (or of several that take turns).
class PassProfile {
 public:
  struct Total {
    std::size_t calls = 0;
    double seconds = 0.0;
    Work work;
    std::string formats = {};  ///< of the weights that it multiplies by: "Q4_K Q6_K"; else empty

    /// Adds one that is not among them.
    void add_format(std::string_view format);
  };

  /// A pass over so many rows begins.
  void begin(std::size_t rows);
  /// What was done since `begin` or the last call was this operation.
  void add(Operation operation, const Work& work = {}, std::span<const std::string_view> formats = {});

  const Total& operator[](Operation operation) const { return totals_[static_cast<std::size_t>(operation)]; }
  std::size_t passes() const { return passes_; }
  std::size_t rows() const { return rows_; }
  /// Seconds of all operations.
  double seconds() const;
  /// Seconds of all operations but products with weights.
  double seconds_beside_products() const;
  /// Bytes of weights that were read.
  double weight_bytes() const;

 private:
  std::array<Total, operation_count> totals_;
  std::size_t passes_ = 0;
  std::size_t rows_ = 0;
  Stopwatch watch_;
};

/// LanguageModel::attention_seconds of a transformer, by profiled passes.
Result<double> attention_seconds(const Transformer& model, std::size_t rows, std::size_t depth);

}  // namespace spectr
