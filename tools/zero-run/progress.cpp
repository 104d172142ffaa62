//===- progress.cpp - progress lines of a run -----------------------------===//

#include "progress.h"

#include "data.h"
#include "lanes.h"
#include "mesh.h"
#include "tiers.h"
#include "warnings.h"
#include "zero/Planning/ByteSize.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unistd.h>

using namespace zero::rt;

namespace zero::run {

std::string bytesText(uint64_t bytes) { return planning::formatBytes(double(bytes), 1); }

Progress::Progress(const Executable &executable, const Data &data, uint64_t steps,
                   const Options &options)
    : executable(executable), info(infoOf(executable)), samples(infoOf(data)), figures(executable),
      steps(steps), quiet(options.quiet), terminal(::isatty(STDOUT_FILENO)),
      printsJson(options.printsJson), unitsPerStep(samples.samples_per_step),
      memory(memoryText(rankBytes(executable))) {
  for (const zero_rt_value_info &input : inputsOf(executable))
    if (input.tokens) {
      unit = "tokens"; // [batch, sequence]
      unitsPerStep *= input.shape[1];
      break;
    }
}

void printPlan(const Executable &executable, bool quiet) {
  if (quiet)
    return;
  const zero_rt_program_info info = infoOf(executable);
  std::printf("%s: ZeRO stage %d on %d rank%s, %s\n", escape(info.name).c_str(), info.stage,
              info.ranks, info.ranks == 1 ? "" : "s",
              trains(info) ? escape(info.optimizer).c_str() : "forward only");
  if (meshOf(executable).axes > 1)
    std::printf("%s", meshText(executable).c_str());
  for (size_t i = 0; i < info.certificates; ++i) {
    zero_rt_certificate certificate;
    if (zero_rt_executable_certificate(executable.get(), i, &certificate).code != ZERO_RT_OK)
      continue;
    const bool isDisk = certificate.tier == std::string_view("nvme");
    std::printf("%s per rank: %s at the peak ('%s')\n",
                isDisk ? "disk" : (certificate.tier + std::string(" memory")).c_str(),
                bytesText(certificate.peak).c_str(), escape(certificate.peak_at).c_str());
    for (int role = 1; role < ZERO_RT_ROLES; ++role)
      if (certificate.most[role] > 0)
        std::printf("  %-16s %10s at most, %10s at the peak\n",
                    zero_rt_role_name(static_cast<zero_rt_role>(role)),
                    bytesText(certificate.most[role]).c_str(),
                    bytesText(certificate.at_peak[role]).c_str());
  }
  std::fflush(stdout); // before anything on stderr
}

/// Prints a line of JSON, for programs that run this one.
template <typename Members>
static void printEvent(const char *event, Members members) {
  JsonWriter json(JsonWriter::Compact);
  json.object([&] {
    json.member("event", event);
    members(json);
  });
  std::printf("%s\n", json.text().c_str());
  std::fflush(stdout);
}

void Progress::begin(uint64_t first, uint64_t all) {
  steps = all;
  if (printsJson)
    printEvent("begin", [&](JsonWriter &json) {
      json.member("model", info.name);
      json.member("step", first);
      json.member("steps", steps);
      json.member("memory_per_rank", rankBytes(executable).memory);
    });
}

void Progress::printData(std::optional<uint64_t> shuffleSeed) const {
  if (quiet || info.inputs == 0 || samples.samples == 0)
    return;
  const auto number = [](uint64_t count) { return static_cast<unsigned long long>(count); };
  std::string text =
      format("data: %llu sample%s", number(samples.samples), samples.samples == 1 ? "" : "s");
  if (shuffleSeed)
    text += format(", shuffled with seed %llu", number(*shuffleSeed));
  if (samples.steps_per_epoch > 0) {
    text += format("; an epoch is %llu step%s of %llu", number(samples.steps_per_epoch),
                   samples.steps_per_epoch == 1 ? "" : "s", number(samples.samples_per_step));
    if (samples.last_samples > 0)
      text += format(", the last one of %llu", number(samples.last_samples));
    if (uint64_t rest = samples.samples % samples.samples_per_step - samples.last_samples)
      text += format(" and omits %llu", number(rest));
  }
  std::printf("%s\n", text.c_str());
  std::fflush(stdout); // before anything on stderr
}

void Progress::printEvalData(const Data &data, uint64_t samples) const {
  if (quiet)
    return;
  const zero_rt_data_info eval = infoOf(data);
  const uint64_t batches =
      samples / eval.samples_per_step + (samples % eval.samples_per_step > 0 ? 1 : 0);
  std::printf("held-out data: %llu samples, each evaluation takes %llu of them in %llu batch%s of "
              "up to %llu\n",
              static_cast<unsigned long long>(eval.samples),
              static_cast<unsigned long long>(samples), static_cast<unsigned long long>(batches),
              batches == 1 ? "" : "es", static_cast<unsigned long long>(eval.samples_per_step));
  std::fflush(stdout); // before anything on stderr
}

std::pair<std::string, double> Progress::perSecond(double seconds) const {
  return {unit, seconds > 0 ? double(unitsPerStep) / seconds : 0.0};
}

std::string Progress::rate(double seconds) const {
  return format("%.0f %s/s", perSecond(seconds).second, unit);
}

/// Without a terminal, a long run prints about fifty lines.
bool Progress::isDue(uint64_t step) const {
  uint64_t every = std::max<uint64_t>(1, steps / 50);
  return step % every == 0 || step + 1 == steps;
}

/// By the mean of the steps so far.
double Progress::secondsLeft(uint64_t done) const {
  return seconds / double(counted) * double(steps - std::min(done, steps));
}

/// ", 12 min left"; empty for less than a minute.
std::string Progress::timeLeft(uint64_t done) const {
  constexpr int kMinute = 60, kHour = 60 * kMinute;
  const double left = secondsLeft(done);
  if (left < kMinute)
    return "";
  return left < 2 * kHour ? format(", %.0f min left", left / kMinute)
                          : format(", %.1f h left", left / kHour);
}

void Progress::step(const zero_rt_step_result &result) {
  seconds += result.seconds;
  ++counted;
  if (printsJson)
    printEvent("step", [&](JsonWriter &json) {
      figures.writeStep(json, result);
      json.member("steps", steps);
      json.member("seconds", double(result.seconds));
      const auto [name, rate] = perSecond(result.seconds);
      json.member(name + "_per_second", rate);
      json.member("seconds_left", secondsLeft(result.step + 1));
    });
  if (quiet || (!terminal && !isDue(result.step)))
    return;
  std::string text = format("%s, %s per rank%s", rate(result.seconds).c_str(), memory.c_str(),
                            timeLeft(result.step + 1).c_str());
  if (trains())
    text = format("loss %.6f, ", result.loss) + figures.text(result) + text;
  auto number = static_cast<unsigned long long>(result.step);
  if (terminal) {
    constexpr int kWidth = 24;
    int done = static_cast<int>((result.step + 1) * kWidth / steps);
    std::string bar = std::string(size_t(done), '#') + std::string(size_t(kWidth - done), '.');
    std::printf("\r[%s] step %llu/%llu, %s\033[K", bar.c_str(), number + 1,
                static_cast<unsigned long long>(steps), text.c_str());
    if (result.step + 1 == steps)
      std::printf("\n");
  } else {
    std::printf("step %llu: %s\n", number, text.c_str());
  }
  std::fflush(stdout);
}

void Progress::note(const std::string &text) const {
  if (quiet || text.empty())
    return;
  std::printf("%s%s\n", terminal ? "\r\033[K" : "", text.c_str());
  std::fflush(stdout);
}

void Progress::evaluation(const Evaluation &result) const {
  if (printsJson)
    printEvent("evaluation", [&](JsonWriter &json) {
      json.member("step", result.step);
      json.member("eval_loss", double(result.total.loss));
      json.member("seconds", double(result.total.seconds));
    });
  if (quiet)
    return;
  std::printf("%sevaluation after %llu step%s: loss %.6f, %.2f s\n",
              terminal && result.step < steps ? "\r\033[K" : "",
              static_cast<unsigned long long>(result.step), result.step == 1 ? "" : "s",
              result.total.loss, result.total.seconds);
  std::fflush(stdout);
}

/// A run that never changes a weight looks like one that does, but for its loss.
void Progress::warnOfSkips(const std::vector<zero_rt_step_result> &results) const {
  const size_t skipped = countSkipped(results);
  if (skipped == 0 || skipped < results.size())
    return;
  const zero_rt_step_result &last = results.back();
  std::string scale;
  if (!std::isnan(last.loss_scale))
    scale = format(", the last time with a loss scale of %g", double(last.loss_scale));
  const char *why = std::isfinite(last.gradient_norm)
                        ? "the loss or the gradients were beyond a limit"
                    : scale.empty() ? "the gradients were not finite"
                                    : "the gradients overflowed";
  warn(format("no step was applied: %s in each of %zu%s", why, skipped, scale.c_str()));
}

/// Why steps are missing.
void Progress::sayWhyEarly(const Results &run) const {
  const std::string reason = run.ending == Ending::Signal ? "interrupted"
                             : run.ending == Ending::Time ? "--max-time is over"
                                                          : run.patience + ": ended";
  if (terminal && !quiet)
    std::printf("\n"); // behind the bar
  std::fflush(stdout);
  std::fprintf(stderr,
               "zero-run: %s after %llu of %llu steps; the requested files are written%s%s\n",
               reason.c_str(), static_cast<unsigned long long>(run.done()),
               static_cast<unsigned long long>(steps), run.resume.empty() ? "" : "; go on with ",
               run.resume.c_str());
}

void Progress::finish(const Results &run) const {
  if (printsJson)
    printEvent("end", [&](JsonWriter &json) {
      json.member("ending", nameOf(run.ending));
      json.member("step", run.done());
      json.member("steps", steps);
      json.member("resume", run.resume);
    });
  const std::vector<zero_rt_step_result> &results = run.steps;
  if (run.ending != Ending::Complete)
    sayWhyEarly(run);
  warnOfSkips(results);
  if (!quiet && run.first > 0 && results.empty())
    std::printf("nothing to train: the checkpoint has %llu steps\n",
                static_cast<unsigned long long>(run.first));
  if (quiet || results.empty())
    return;
  const double mean = run.secondsPerStep();
  std::string loss;
  if (trains())
    loss = format("loss %.6f -> %.6f, ", results.front().loss, results.back().loss);
  std::string skipped;
  if (size_t count = countSkipped(results))
    skipped = format(", %zu of them skipped", count);
  if (info.nvme_read + info.nvme_written > 0)
    std::printf("nvme per rank and step: %s read, %s written (planned: %s and %s)\n%s\n",
                bytesText(run.nvmeRead).c_str(), bytesText(run.nvmeWritten).c_str(),
                bytesText(info.nvme_read).c_str(), bytesText(info.nvme_written).c_str(),
                driveText(run.drive).c_str());
  if (run.saves.count > 0)
    std::printf("checkpoints: %llu, for which training waited %.3g s\n",
                static_cast<unsigned long long>(run.saves.count), run.saves.seconds);
  std::fputs(measuredText(executable, run).c_str(), stdout);
  std::fputs(lanesText(executable, run.stats).c_str(), stdout);
  std::printf("%s %zu step%s%s in %.2f s: %s%.4f s per step, %s\n", trains() ? "trained" : "ran",
              results.size(), results.size() == 1 ? "" : "s", skipped.c_str(),
              mean * double(results.size()), loss.c_str(), mean, rate(mean).c_str());
}

} // namespace zero::run
