#pragma once

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/plot/data_table.h"
#include "spectr/base/result.h"

namespace spectr::plot {

/// A point of a series. `low` and `high` bound its error bar or band.
struct Point {
  double x, y;
  double low, high;
};

enum class Style {
  line,
  dashes,
  marks,   ///< a mark per point
  joined,  ///< marks on a line
  bars,    ///< a mark with an error bar per point
  band,    ///< a line within the area from low to high
  area,    ///< the area from low to high alone
};

/// A set of points that are drawn alike. Colours come from a palette for colour-blind readers; marks and
/// dashes differ as well.
struct Series {
  std::string title;  ///< the entry in the legend; empty: none
  Style style;
  std::size_t colour;  ///< an index into the palette, 0 … 7
  std::vector<Point> points;
};

/// Returns the rows of a table as points. `low` and `high` equal y if no columns are named for them.
std::vector<Point> points(const DataTable& data, const std::vector<std::size_t>& rows, std::string_view x,
                          std::string_view y, std::string_view low = {}, std::string_view high = {});

struct Axis {
  std::string label;  ///< includes the unit
  std::optional<double> from = {}, to = {};
  bool logarithmic = false;
  std::optional<double> step = {};  ///< distance between tics
};

struct Panel {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
  std::string legend = "bottom right";  ///< position of the legend in gnuplot's syntax; empty: no legend
};

/// A grid of panels: up to three in one row, more in rows of two.
struct Figure {
  std::string title;
  std::vector<Panel> panels;
};

/// Returns the gnuplot script that draws the figure as `stem`.svg and `stem`.png.
std::string gnuplot_script(const Figure& figure, const std::filesystem::path& stem);

/// Draws the figure. Fails if gnuplot fails or is not installed; the message names the package.
Result<void> draw(const Figure& figure, const std::filesystem::path& stem);

}  // namespace spectr::plot
