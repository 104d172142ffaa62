//===- profile_text.cpp - a profile as text tables ------------------------===//

#include "profile_text.h"

#include "runtime/support/status.h"

#include <algorithm>

using namespace zero::rt;

namespace zero::run {

static constexpr size_t kKinds = 12, kKernels = 20; ///< the most that are listed
static constexpr const char *kNothing = "-";        ///< where a figure makes no sense

/// Milliseconds, with the significant decimals.
static std::string milliseconds(double seconds, double step) {
  return format("%.*f", step >= 0.1 ? 2 : 4, seconds * 1e3);
}

static std::string percent(double fraction) { return format("%.1f %%", 100 * fraction); }

/// A rate in units of 1e9.
static std::string rate(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? format("%.1f", amount / seconds * 1e-9) : kNothing;
}

static std::string line(const char *name, int width, const std::string &launches,
                        const std::string &seconds, const std::string &again,
                        const std::string &share, const std::string &flops,
                        const std::string &bytes, const std::string &roofline,
                        const std::string &rest = "") {
  std::string text = format("%-*s  %8s  %9s  %7s  %7s  %7s  %6s  %8s", width, name,
                            launches.c_str(), seconds.c_str(), again.c_str(), share.c_str(),
                            flops.c_str(), bytes.c_str(), roofline.c_str());
  return text + (rest.empty() ? "" : "  " + rest) + "\n";
}

static std::string header(const char *name, int width, const std::string &rest = "") {
  return line(name, width, "launches", "ms a step", "again", "share", "GFLOP/s", "GB/s", "roofline",
              rest);
}

static std::string line(const ProfileRow &row, const std::string &name, int width, double step,
                        const std::string &rest = "") {
  return line(name.c_str(), width, format("%.6g", row.launches), milliseconds(row.seconds, step),
              row.recomputed > 0 ? milliseconds(row.recomputed, step) : kNothing,
              percent(row.seconds / step), rate(row.flops, row.seconds),
              rate(row.bytes, row.seconds), row.least > 0 ? row.rooflineText() : kNothing, rest);
}

/// A line without a rate.
static std::string line(const char *name, int width, double seconds, double step) {
  return line(name, width, "", milliseconds(seconds, step), kNothing, percent(seconds / step),
              kNothing, kNothing, kNothing);
}

static int widest(const std::vector<ProfileRow> &rows, size_t least) {
  for (const ProfileRow &row : rows)
    least = std::max(least, escape(row.title()).size());
  return int(std::min<size_t>(least, 48));
}

/// Beyond the most expensive kinds of kernels, the others become one line.
static std::vector<ProfileRow> foldSmall(const Profile &profile) {
  std::vector<ProfileRow> rows;
  ProfileRow others;
  size_t listed = 0, folded = 0;
  for (const ProfileRow &row : profile.kinds) {
    if (row.isCollective || listed < kKinds) {
      rows.push_back(row);
      listed += !row.isCollective;
      continue;
    }
    others.launches += row.launches;
    others.seconds += row.seconds;
    others.recomputed += row.recomputed;
    others.flops += row.flops;
    others.bytes += row.bytes;
    others.least += row.least;
    ++folded;
  }
  others.name = format("%zu other kind%s", folded, folded == 1 ? "" : "s");
  if (folded > 0)
    rows.push_back(others);
  return rows;
}

static std::string kindsText(const Profile &profile) {
  const std::vector<ProfileRow> rows = foldSmall(profile);
  const int width = widest(rows, sizeof("between commands") - 1);
  const double step = profile.seconds();
  const Parts &parts = profile.ranks.front();
  std::string text = header("kind", width);
  for (bool collective : {false, true})
    for (const ProfileRow &row : rows)
      if (row.isCollective == collective)
        text += line(row, escape(row.title()), width, step);
  if (profile.ranks.size() > 1)
    text += line("waiting", width, parts.waiting, step);
  return text + line("between commands", width, parts.between, step);
}

static std::string kernelsText(const Profile &profile) {
  std::vector<ProfileRow> rows;
  for (const ProfileRow &row : profile.kernels)
    if (!row.isCollective && rows.size() < kKernels)
      rows.push_back(row);
  const int width = widest(rows, sizeof("kernel") - 1);
  std::string text = header("kernel", width, "bound by   e.g. at node");
  for (const ProfileRow &row : rows) {
    const char *bound = row.least == 0 ? kNothing : row.boundByFlops ? "peak" : "bandwidth";
    text += line(row, escape(row.name), width, profile.seconds(),
                 format("%-9s  %s", bound, escape(row.label).c_str()));
  }
  return text;
}

/// From the least to the most of `part` over all ranks, as shares of each one's step.
static std::string overRanks(const Profile &profile, double Parts::*part) {
  if (profile.ranks.size() == 1)
    return "";
  double least = 1, most = 0;
  for (const Parts &rank : profile.ranks) {
    least = std::min(least, rank.*part / rank.total);
    most = std::max(most, rank.*part / rank.total);
  }
  return format(" (%.1f to %.1f %% over ranks)", 100 * least, 100 * most);
}

std::string profileTitle(const Profile &profile, int threads) {
  const zero_rt_machine &machine = profile.machine;
  const double step = profile.seconds();
  const size_t steps = profile.steps.size();
  auto [least, most] = std::minmax_element(
      profile.parts.begin(), profile.parts.end(),
      [](const Parts &left, const Parts &right) { return left.total < right.total; });
  const std::string of = profile.shape.empty() ? "" : " of " + escape(profile.shape);
  std::string text = format("\nprofile of %zu step%s%s of rank 0, %zu rank%s of %d thread%s: "
                            "%.1f ms a step (%.1f to %.1f)\n",
                            steps, steps == 1 ? "" : "s", of.c_str(), profile.ranks.size(),
                            profile.ranks.size() == 1 ? "" : "s", threads, threads == 1 ? "" : "s",
                            step * 1e3, least->total * 1e3, most->total * 1e3);
  text += format("a rank's roofline: %.1f GFLOP/s of multiply-adds", machine.flops * 1e-9);
  if (machine.half_flops > 0)
    text += format(", %.1f of bf16", machine.half_flops * 1e-9);
  return text + format(", %.1f GB/s of memory (triad %.1f, copy %.1f)\n\n",
                       bandwidthOf(machine) * 1e-9, machine.triad_bandwidth * 1e-9,
                       machine.copy_bandwidth * 1e-9);
}

/// "2.1 MB along data, 4.2 MB along tensor"; empty without several axes.
static std::string receivedText(const Profile &profile) {
  std::string text;
  for (const auto &[axis, bytes] : profile.receivedAlong())
    text +=
        format("%s%.3g MB along %s", text.empty() ? "" : ", ", bytes * 1e-6, escape(axis).c_str());
  return text;
}

std::string profileTables(const Profile &profile) {
  const Parts &parts = profile.ranks.front();
  const double step = profile.seconds();
  std::string text = kindsText(profile) + "\n" + kernelsText(profile);
  text +=
      format("\ncompute %.1f %%, collectives %.1f %%, waiting %.1f %%%s, between commands %.1f "
             "%%; %.1f GFLOP a step, %.1f %% of the peak\n",
             100 * parts.compute / step, 100 * parts.collectives / step, 100 * parts.waiting / step,
             overRanks(profile, &Parts::waiting).c_str(), 100 * parts.between / step,
             profile.flops() * 1e-9, 100 * profile.fractionOfPeak());
  if (parts.transfers > 0 || parts.hostCompute > 0)
    text += format("in parallel, transfers between tiers %.1f %%, kernels of the host %.1f %%\n",
                   100 * parts.transfers / step, 100 * parts.hostCompute / step);
  if (const std::string received = receivedText(profile); !received.empty())
    text += "received in a step: " + received + "\n";
  if (const double again = profile.recomputed(); again > 0)
    text += format("%s ms a step, %s of it, recompute activations\n",
                   milliseconds(again, step).c_str(), percent(again / step).c_str());
  if (profile.reorders > 0)
    text += format("%.0f reorders of B per step, within matrix products\n", profile.reorders);
  return text;
}

} // namespace zero::run
