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

/// The operations of a pass, in the order in which a layer executes them.
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

/// Peak rates of a machine: the bounds of the roofline model, below which every pass stays (Williams,
/// Waterman, Patterson 2009).
struct MachineSpeed {
  double bytes;         ///< read from memory per second
  double integer_macs;  ///< per second
  double float_macs;    ///< per second
};

/// Minimum work of an operation.
struct Work {
  double bytes = 0.0;         ///< weights, keys and values, each read once
  double macs = 0.0;          ///< multiply-accumulates
  double integer_macs = 0.0;  ///< those among them of 8-bit integers

  Work& operator+=(const Work& other);
  /// Returns the seconds that memory (the multipliers) is busy at a machine's peak rate.
  double reading_seconds(const MachineSpeed& machine) const;
  double multiplying_seconds(const MachineSpeed& machine) const;
};

/// Time breakdown of passes: seconds and work of each operation, summed over the passes of a session (or of
/// several that take turns).
class PassProfile {
 public:
  struct Total {
    std::size_t calls = 0;
    double seconds = 0.0;
    Work work;
    std::string formats = {};  ///< of the weights that it multiplies by: "Q4_K Q6_K"; empty if it has none

    /// Adds a format unless it is already listed.
    void add_format(std::string_view format);
  };

  /// Begins a pass of `rows` rows.
  void begin(std::size_t rows);
  /// Attributes the time since begin() or the last call to an operation, with its work.
  void add(Operation operation, const Work& work = {}, std::span<const std::string_view> formats = {});

  const Total& operator[](Operation operation) const { return totals_[static_cast<std::size_t>(operation)]; }
  std::size_t passes() const { return passes_; }
  std::size_t rows() const { return rows_; }
  /// Returns the seconds of all operations.
  double seconds() const;
  /// Returns the seconds of all operations except products with weights.
  double seconds_beside_products() const;
  /// Returns the bytes of weights that were read.
  double weight_bytes() const;

 private:
  std::array<Total, operation_count> totals_;
  std::size_t passes_ = 0;
  std::size_t rows_ = 0;
  Stopwatch watch_;
};

/// Measures LanguageModel::attention_seconds() of a transformer with profiled passes.
Result<double> attention_seconds(const Transformer& model, std::size_t rows, std::size_t depth);

}  // namespace spectr
