// The committed pictures agree with the code, and their legends cover no data.

#include <cmath>
#include <cstdlib>
#include <vector>

#include "tests/lab/drawn_pictures.h"

namespace spectr::lab {
namespace {

/// Every experiment has both formats in the documentation.
TEST(Pictures, AreInTheDocuments) {
  for (const Experiment& experiment : experiments()) {
    for (const char* kind : {".svg", ".png"}) {
      const auto picture = committed_picture(experiment.name).replace_extension(kind);
      EXPECT_TRUE(std::filesystem::exists(picture)) << picture;
    }
  }
}

class Picture : public testing::TestWithParam<const char*> {};

/// Compares the pictures that take a second or two; slower ones are in pictures_slow_test.cc. Pictures of
/// simulations that take minutes, and of models, are not compared.
TEST_P(Picture, IsTheCommittedOne) {
  expect_committed_picture(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Pictures, Picture,
                         testing::Values("spectr-bernoulli", "spectr-uniform", "spectr-recursive", "pareto",
                                         "mtad-bounds"));

struct At {
  double x, y;
};

/// Parses all pairs of numbers in "M1,2 L3,4" and "1,2 3,4".
std::vector<At> places(const std::string& text) {
  std::vector<double> numbers;
  for (const char* c = text.c_str(); *c != '\0';) {
    char* end = nullptr;
    const double number = std::strtod(c, &end);
    if (end != c) numbers.push_back(number);
    c = end != c ? end : c + 1;
  }
  std::vector<At> out;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) out.push_back({numbers[i], numbers[i + 1]});
  return out;
}

/// Returns the text between `begin` and the quote or parenthesis that ends it.
std::string value(const std::string& element, const std::string& begin) {
  const std::size_t at = element.find(begin) + begin.size();
  return element.substr(at, element.find_first_of("')", at) - at);
}

/// Adds the centres of marks, and points along the curves about a pixel apart.
void add_drawn(const std::string& element, std::vector<At>& drawn) {
  if (element.starts_with("<use") && element.contains("translate(")) {
    drawn.push_back(places(value(element, "translate(")).front());
  } else if (element.starts_with("<path stroke='rgb(") && !element.contains("gridline")) {
    const std::string path = value(element, " d='");
    for (std::size_t begin = path.find('M'); begin != std::string::npos;) {
      const std::size_t end = path.find('M', begin + 1);
      const auto corners = places(path.substr(begin, end - begin));
      for (std::size_t i = 0; i + 1 < corners.size(); ++i) {
        const double dx = corners[i + 1].x - corners[i].x, dy = corners[i + 1].y - corners[i].y;
        const double steps = std::ceil(std::hypot(dx, dy)) + 1.0;
        for (double s = 0.0; s <= steps; s += 1.0)
          drawn.push_back({corners[i].x + dx * s / steps, corners[i].y + dy * s / steps});
      }
      begin = end;
    }
  }
}

/// Returns how many points of marks and curves are under a legend. A legend covers what was drawn before it;
/// its own samples are drawn later. It is enlarged here, because letters are larger in the PNG.
std::size_t hidden(const std::string& svg, std::size_t& legends) {
  std::size_t count = 0;
  std::vector<At> drawn;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::string element = svg.substr(at, svg.find('>', at) - at);
    add_drawn(element, drawn);
    if (!element.starts_with("<polygon fill = '#FFFFFF'")) continue;
    ++legends;
    const auto corners = places(value(element, "points = '"));
    const double x = 0.5 * (corners[0].x + corners[2].x), y = 0.5 * (corners[0].y + corners[2].y);
    const double width = 0.75 * std::abs(corners[0].x - corners[2].x),
                 height = 0.55 * std::abs(corners[0].y - corners[2].y);
    for (const At& p : drawn) count += std::abs(p.x - x) < width && std::abs(p.y - y) < height;
    drawn.clear();
  }
  return count;
}

TEST(Pictures, HaveLegendsThatHideNothing) {
  for (const Experiment& experiment : experiments()) {
    std::size_t legends = 0;
    EXPECT_EQ(hidden(read_file(committed_picture(experiment.name)), legends), 0u) << experiment.name;
    EXPECT_GE(legends, 1u) << experiment.name;
  }
}

/// Checks the test itself.
TEST(Pictures, WithHiddenMarksAreFoundOut) {
  const std::string box = "<polygon fill = '#FFFFFF' points = '10,30 40,30 40,10 10,10 '/>";
  std::size_t legends = 0;
  EXPECT_EQ(hidden("<use xlink:href='#gpPt6' transform='translate(20,20) scale(15)'/>" + box, legends), 1u);
  EXPECT_EQ(hidden("<use xlink:href='#gpPt6' transform='translate(20,8) scale(15)'/>" + box, legends), 0u);
  EXPECT_GT(hidden("<path stroke='rgb(  0,   0,   0)'  d='M0,0 L50,50 '/>" + box, legends), 20u);
  EXPECT_EQ(hidden("<path stroke='rgb(  0,   0,   0)'  d='M0,0 L0,50 M49,9 L49,50 '/>" + box, legends), 0u);
  EXPECT_EQ(legends, 4u);
}

}  // namespace
}  // namespace spectr::lab
