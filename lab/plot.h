#pragma once

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/data.h"
#include "spectr/base/result.h"

namespace spectr::lab {

struct Point {
  double x, y;
  double low, high;  ///< of bands and error bars
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

/// Points that belong together. Colours come from a palette that the colour-blind can tell apart; marks and
/// dashes differ as well.
struct Series {
  std::string title;  ///< in the legend; empty: not there
  Style style;
  std::size_t colour;  ///< 0 … 7 of the palette
  std::vector<Point> points;
};

/// The rows of a table as points; low and high stay at y where no columns are named.
std::vector<Point> points(const Data& data, const std::vector<std::size_t>& rows, std::string_view x,
                          std::string_view y, std::string_view low = {}, std::string_view high = {});

struct Axis {
  std::string label;  ///< with the unit
  std::optional<double> from = {}, to = {};
  bool logarithmic = false;
  std::optional<double> step = {};  ///< between tics
};

struct Panel {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
  std::string legend = "bottom right";  ///< where it stands, in gnuplot's words; empty: nowhere
};

/// Panels side by side, two in a row where there are four.
struct Figure {
  std::string title;
  std::vector<Panel> panels;
};

/// The gnuplot program that draws the figure as `stem`.svg and `stem`.png.
std::string gnuplot_script(const Figure& figure, const std::filesystem::path& stem);

/// Runs it. Error: gnuplot is not installed (the message names the package), or it failed.
Result<void> draw(const Figure& figure, const std::filesystem::path& stem);

}  // namespace spectr::lab
