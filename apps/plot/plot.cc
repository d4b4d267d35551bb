#include "apps/plot/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "apps/plot/gnuplot.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr::plot {
namespace {

/// Palette of Okabe and Ito, Color Universal Design, 2008, without yellow, which is pale on white.
constexpr auto palette = std::to_array<std::string_view>(
    {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"});
constexpr auto marks = std::to_array<int>({7, 5, 9, 13, 11, 4, 6, 8});  // gnuplot point types

/// A gnuplot terminal. Marks of the same `ps` are about twice as large in SVG as in PNG.
struct Terminal {
  std::string_view name, suffix;
  double marks;  ///< factor for the sizes of marks
};
constexpr Terminal terminals[] = {{"svg", "svg", 0.52}, {"pngcairo", "png", 1.0}};

/// Resets the position of the legend to gnuplot's default.
constexpr std::string_view legend_style =
    "set key default\nset key noenhanced opaque samplen 2.5 spacing 1.15 ";

std::string literal(std::string_view text) {
  std::string out = "'";
  for (char c : text) out.append(c == '\'' ? 2 : 1, c);
  return out + "'";
}

std::string title_of(const Series& s) {
  return s.title.empty() ? "notitle" : "title " + literal(s.title);
}

/// Returns the `plot` element of one series, whose points are in the data block $d<block>.
std::string drawn(const Series& s, std::size_t block, const Terminal& terminal) {
  const std::string_view colour = palette[s.colour % palette.size()];
  const int type = marks[s.colour % marks.size()];
  const auto mark = [&](double size) { return fmt::format("pt {} ps {:.3g}", type, terminal.marks * size); };
  const std::string from = fmt::format("$d{} using ", block);
  const std::string shade =
      fmt::format("{}1:3:4 with filledcurves fc rgb '{}' fs transparent solid 0.2 noborder", from, colour);
  const std::string title = title_of(s);
  switch (s.style) {
    case Style::line:
      return fmt::format("{}1:2 with lines lw 4 lc rgb '{}' {}", from, colour, title);
    case Style::dashes:
      return fmt::format("{}1:2 with lines lw 4 dt (6,4) lc rgb '{}' {}", from, colour, title);
    case Style::marks:
      return fmt::format("{}1:2 with points {} lw 3 lc rgb '{}' {}", from, mark(2.0), colour, title);
    case Style::joined:
      return fmt::format("{}1:2 with linespoints lw 3 {} lc rgb '{}' {}", from, mark(1.8), colour, title);
    case Style::bars:
      return fmt::format("{}1:2:3:4 with yerrorbars lw 3 {} lc rgb '{}' {}", from, mark(1.5), colour, title);
    case Style::band:
      return fmt::format("{} notitle, {}1:2 with lines lw 3 lc rgb '{}' {}", shade, from, colour, title);
    case Style::area:
      return shade + " " + title;
  }
  return {};
}

std::string axis(char name, const Axis& a) {
  const auto bound = [](std::optional<double> b) { return b ? fmt::format("{}", *b) : "*"; };
  return fmt::format("set {0}label {1}\nset {0}range [{2}:{3}]\n{4} logscale {0}\nset {0}tics {5}\n", name,
                     literal(a.label), bound(a.from), bound(a.to), a.logarithmic ? "set" : "unset",
                     a.step ? fmt::format("{}", *a.step) : "autofreq");
}

/// Returns the horizontal axis, extended on both sides so that no mark lies on the border.
Axis horizontal(const Panel& p) {
  const auto has_marks = [](const Series& s) {
    return s.style == Style::marks || s.style == Style::joined || s.style == Style::bars;
  };
  Axis axis = p.x;
  if (axis.logarithmic || std::ranges::none_of(p.series, has_marks)) return axis;
  double min = std::numeric_limits<double>::infinity(), max = -min;
  for (const Series& s : p.series) {
    for (const Point& at : s.points) {
      min = std::min(min, at.x);
      max = std::max(max, at.x);
    }
  }
  const double room = 0.04 * (max - min);
  if (!axis.from && min > 0.0) axis.from = std::max(0.0, min - room);
  if (!axis.to && room > 0.0) axis.to = max + room;
  return axis;
}

std::string panel(const Panel& p, std::size_t& block, const Terminal& terminal) {
  std::string plots;
  for (const Series& s : p.series) plots += (plots.empty() ? "" : ", \\\n  ") + drawn(s, block++, terminal);
  return "set title " + literal(p.title) + "\n" + axis('x', horizontal(p)) + axis('y', p.y) +
         (p.legend.empty() ? "unset key\n" : fmt::format("{}{}\n", legend_style, p.legend)) + "plot " +
         plots + "\n";
}

}  // namespace

std::vector<Point> points(const DataTable& data, const std::vector<std::size_t>& rows, std::string_view x,
                          std::string_view y, std::string_view low, std::string_view high) {
  std::vector<Point> out;
  for (std::size_t row : rows) {
    const double at = data.number(row, y);
    out.push_back({data.number(row, x), at, low.empty() ? at : data.number(row, low),
                   high.empty() ? at : data.number(row, high)});
  }
  return out;
}

std::string gnuplot_script(const Figure& figure, const std::filesystem::path& stem) {
  const std::size_t count = figure.panels.size();
  SPECTR_CHECK(count >= 1);
  const std::size_t columns = count <= 3 ? count : 2, rows = div_up(count, columns);
  std::string script = "set encoding utf8\n";
  std::size_t block = 0;
  for (const Panel& p : figure.panels) {
    for (const Series& s : p.series) {
      SPECTR_CHECK(!s.points.empty());
      script += fmt::format("$d{} << EOD\n", block++);
      for (const Point& at : s.points) script += fmt::format("{} {} {} {}\n", at.x, at.y, at.low, at.high);
      script += "EOD\n";
    }
  }
  const std::size_t width = columns == 1 ? 1200 : 800 * columns,
                    height = columns == 1 ? 800 : 100 + 650 * rows;
  for (const Terminal& terminal : terminals) {
    const std::filesystem::path file = stem.string() + "." + std::string(terminal.suffix);
    script += fmt::format(
        "set terminal {} noenhanced size {},{} font 'DejaVu Sans,20' background '#ffffff'\nset output {}\n",
        terminal.name, width, height, literal(file.string()));
    script += "set border 3 lw 2\nset tics nomirror\nset grid lc rgb '#cccccc' lw 1\n";
    script += fmt::format("set pointintervalbox {}\n", terminal.marks);  // the gap under marks with bars
    script += fmt::format("set multiplot layout {},{} title {} font 'DejaVu Sans,24'\n", rows, columns,
                          literal(figure.title));
    block = 0;
    for (const Panel& p : figure.panels) script += panel(p, block, terminal);
    script += "unset multiplot\nset output\n";
  }
  return script;
}

Result<void> draw(const Figure& figure, const std::filesystem::path& stem) {
  return run_gnuplot(gnuplot_script(figure, stem));
}

}  // namespace spectr::plot
