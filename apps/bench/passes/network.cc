#include "apps/bench/passes/network.h"

#include "spectr/backend/sharded/mpi_job.h"

namespace spectr::bench {
namespace {

/// Returns the bytes of rows of the residual stream.
double stream_bytes(const Shape& shape, std::size_t rows) {
  return static_cast<double>(rows * shape.width * sizeof(float));
}

struct PublishedModel {
  const char* name;
  double weights;
  Shape shape;
};

// Llama 3.1: number of weights, layers and width of the residual stream, from the configuration files.
constexpr PublishedModel models[] = {
    {"8B", 8.03e9, {32, 4096}}, {"70B", 70.6e9, {80, 8192}}, {"405B", 405.9e9, {126, 16384}}};

constexpr double gigabit = 1e9 / 8;
constexpr Network networks[] = {{50e-6, gigabit}, {10e-6, 10 * gigabit}, {2e-6, 100 * gigabit}};

}  // namespace

double sum_seconds(const Network& network, std::size_t ranks, double bytes) {
  const auto n = static_cast<double>(ranks);
  if (ranks == 1) return 0.0;
  if (ranks == 2 || bytes <= static_cast<double>(one_exchange_bytes))
    return hop_seconds(network, (n - 1) * bytes);
  return 2 * hop_seconds(network, (n - 1) / n * bytes);
}

double hop_seconds(const Network& network, double bytes) {
  return network.latency + bytes / network.bytes_per_second;
}

double pass_seconds(const Network& network, std::size_t ranks, Split split, const Shape& shape,
                    std::size_t rows, double alone) {
  const auto n = static_cast<double>(ranks);
  if (ranks == 1) return alone;
  const double bytes = stream_bytes(shape, rows);
  if (split == Split::layers) return alone + n * hop_seconds(network, bytes);
  const auto sums = static_cast<double>(2 * shape.layers + 1);
  return alone / n + hop_seconds(network, 0.0) + sums * sum_seconds(network, ranks, bytes);
}

double break_even_latency(double bytes_per_second, std::size_t ranks, const Shape& shape, std::size_t rows,
                          double alone) {
  // Both times are linear in the latency.
  const auto lead = [&](double latency) {
    const Network network{latency, bytes_per_second};
    return pass_seconds(network, ranks, Split::layers, shape, rows, alone) -
           pass_seconds(network, ranks, Split::rows, shape, rows, alone);
  };
  const double at_none = lead(0.0), slope = lead(1.0) - at_none;
  return -at_none / slope;
}

Json extrapolate(const OneRank& measured) {
  Json rows = Json::array();
  for (const auto& [name, weights, shape] : models) {
    const double one_row = weights * measured.bits_per_weight / 8 / measured.bytes_per_second;
    for (const Network& network : networks) {
      for (const std::size_t machines : {2, 4, 8}) {
        for (const std::size_t width : {1, 8}) {
          const double alone = width == 1 ? one_row : one_row * measured.relative_eight_rows;
          const auto ms = [&](Split split) {
            return 1e3 * pass_seconds(network, machines, split, shape, width, alone);
          };
          const double even = break_even_latency(network.bytes_per_second, machines, shape, width, alone);
          rows.push_back({{"model", name},
                          {"gbps", network.bytes_per_second / gigabit},
                          {"latency_us", 1e6 * network.latency},
                          {"machines", machines},
                          {"width", width},
                          {"row_ms", ms(Split::rows)},
                          {"layer_ms", ms(Split::layers)},
                          {"break_even_us", 1e6 * even}});
        }
      }
    }
  }
  return rows;
}

}  // namespace spectr::bench
