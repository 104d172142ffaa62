//===- rate_test.cpp - which learning rate suits a model ------------------===//

#include "rate_test.h"

#include "runtime/support/status.h"

#include <algorithm>
#include <cmath>

using namespace zero::rt;

namespace zero::run {

/// The weight of the losses before in the smoothed one.
static constexpr double kSmoothing = 0.9;
/// A loss of so many times the least one has diverged.
static constexpr double kDiverged = 4;
/// Steps at the beginning that neither end the test nor are suggested.
static constexpr size_t kFirst = 5;

float RateTest::rateOf(uint64_t step) const {
  const double part = steps > 1 ? double(step) / double(steps - 1) : 0;
  return float(lowest * std::pow(highest / lowest, part));
}

bool RateTest::add(const zero_rt_step_result &result) {
  if (!std::isfinite(result.loss))
    return true;
  sum = kSmoothing * sum + (1 - kSmoothing) * double(result.loss);
  weight = kSmoothing * weight + (1 - kSmoothing);
  const double loss = sum / weight;
  best = points.empty() ? loss : std::min(best, loss);
  points.push_back({double(result.learning_rate), loss});
  return points.size() > kFirst && loss > kDiverged * std::abs(best);
}

/// The least loss and all rates below its rate are what a run can use.
std::optional<double> RateTest::suggestion() const {
  const auto least = std::ranges::min_element(points, {}, &Point::loss);
  std::optional<double> rate;
  double steepest = 0;
  for (size_t i = kFirst; i < points.size() && points.begin() + ptrdiff_t(i) < least; ++i) {
    const double slope = (points[i + 1].loss - points[i - 1].loss) /
                         std::log(points[i + 1].rate / points[i - 1].rate);
    if (slope < steepest) {
      steepest = slope;
      rate = points[i].rate;
    }
  }
  return rate;
}

std::string RateTest::text() const {
  const std::optional<double> rate = suggestion();
  if (!rate)
    return format("learning rate: no rate from %g to %g lets the loss fall in %zu steps", lowest,
                  highest, points.size());
  const auto least = std::ranges::min_element(points, {}, &Point::loss);
  return format("learning rate: try --lr=%.2g, where the loss falls most steeply; it is least at "
                "%.2g",
                *rate, least->rate);
}

//===----------------------------------------------------------------------===//
// The picture
//===----------------------------------------------------------------------===//

namespace {
constexpr double kWidth = 640, kHeight = 360, kMargin = 48;

/// Where a value from `low` to `high` is on an axis from `begin` to `end`.
double place(double value, double low, double high, double begin, double end) {
  return high > low ? begin + (value - low) / (high - low) * (end - begin) : begin;
}
} // namespace

std::string RateTest::picture() const {
  double low = best, high = best;
  for (const Point &point : points) // what diverges would hide the rest
    high = std::max(high, std::min(point.loss, points.front().loss * 1.5));
  const auto x = [&](double rate) {
    return place(std::log10(rate), std::log10(lowest), std::log10(highest), kMargin,
                 kWidth - kMargin / 2);
  };
  const auto y = [&](double loss) {
    return place(std::min(loss, high), low, high, kHeight - kMargin, kMargin / 2);
  };
  std::string svg = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<title>Loss over learning rate</title>\n"
      "<style>svg{color-scheme:light dark;color:light-dark(#222,#ddd);"
      "background:light-dark(#fff,#181818)}text{fill:currentColor}</style>\n",
      kWidth, kHeight);
  for (int power = int(std::ceil(std::log10(lowest))); std::pow(10, power) <= highest * 1.001;
       ++power)
    svg += format("<path d=\"M%.1f %g V%g\" stroke=\"currentColor\" opacity=\"0.15\"/>"
                  "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">1e%d</text>\n",
                  x(std::pow(10, power)), kMargin / 2, kHeight - kMargin, x(std::pow(10, power)),
                  kHeight - kMargin + 16, power);
  for (double loss : {low, high})
    svg += format("<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n", kMargin - 6,
                  y(loss) + 4, loss);
  svg += "<polyline fill=\"none\" stroke=\"#2a78d6\" stroke-width=\"2\" points=\"";
  for (const Point &point : points)
    svg += format("%.1f,%.1f ", x(point.rate), y(point.loss));
  svg += "\"/>\n";
  if (const std::optional<double> rate = suggestion())
    svg += format("<path d=\"M%.1f %g V%g\" stroke=\"#d64a2a\" stroke-dasharray=\"4\"/>"
                  "<text x=\"%.1f\" y=\"%g\">%.2g</text>\n",
                  x(*rate), kMargin / 2, kHeight - kMargin, x(*rate) + 4, kMargin / 2 + 12, *rate);
  return svg + format("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">learning rate</text>\n"
                      "<text x=\"%g\" y=\"14\">smoothed loss</text>\n</svg>\n",
                      kWidth / 2, kHeight - 8, kMargin);
}

} // namespace zero::run
