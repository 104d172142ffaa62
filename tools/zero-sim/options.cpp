//===- options.cpp - zero-sim's command line ------------------------------===//

#include "options.h"

#include "runtime/support/checked.h"
#include "zero/Flags/Flag.h"
#include "zero/Machine/MachineFile.h"

#include <algorithm>

using namespace zero::rt;

namespace zero::sim {

static std::string helpText(const Flags &flags) {
  return "usage: zero-sim MODEL.zexe [--machine=FILE|PRESET] [options]\n"
         "\n"
         "Simulates the step of a compiled model on the description of a machine, which\n"
         "may differ from this one: the time of a step and where it is spent. The model\n"
         "does not run.\n" +
         helpOf(flags, 25) +
         "\n"
         "Example\n"
         "  zero-run --calibrate=here.json --ranks=2\n"
         "  zero-sim gpt2.zexe --machine=here.json\n";
}

static Setter toFactor(double &field) {
  return [&field](const std::string &text) {
    return parseReal(text, field) && field >= 1 ? Status()
                                                : expected("a factor of at least 1", text);
  };
}

static void addFlags(Options &options, Flags &flags) {
  const char *group = "Options", *value = "a value";
  flags = {
      Flag{group, "machine", "FILE|PRESET",
           "a file written by `zero-run --calibrate`, or one of\n" + machinePresets(),
           toText(options.machine, value)}
          .orElse("the first"),
      {group, "profile", "FILE",
       "a report of zero-run --profile --report-json: take its\ntimes of kernels",
       toText(options.profile, value)},
      Flag{group, "slowest", "FACTOR", "the last rank computes FACTOR times more slowly",
           toFactor(options.slowest)}
          .orElse("1"),
      {group, "what-if", "CHANGES",
       "the step on changed machines: NAME=VALUE,... where a\n"
       "value is a number, a rate (25GB/s, 300TFLOP/s) or a\n"
       "factor (2x), and NAME is ranks (each keeps its batch),\n"
       "peak, attention, convolutions, loops (compiled),\n"
       "memory, caches, launch-seconds, node (collectives\n"
       "within a node), node-seconds, network,\n"
       "network-seconds, h2d, d2h, host (its memory),\n"
       "host-loops, disks (their number), disk-read,\n"
       "disk-write, disk-mixed or disk-bus",
       toText(options.whatIf, value)},
      {group, "sensitivity", "",
       "which figures of the machine the time of the step\n"
       "depends on: d log(time) / d log(figure)",
       toSwitch(options.sensitivity)},
      {group, "trace", "FILE", "write a timeline of all commands for ui.perfetto.dev",
       toText(options.trace, value)},
      {group, "html", "FILE", "write the report as a web page, with the timeline",
       toText(options.html, value)},
      {group, "json", "", "print JSON", toSwitch(options.json)},
  };
  addTextFlags(flags, "zero-sim", group, [&flags] { return helpText(flags); });
}

Status parseOptions(int argc, char **argv, Options &options) {
  Flags flags;
  addFlags(options, flags);
  CommandLine line;
  ZERO_RT_TRY(readCommandLine({argv + std::min(argc, 1), argv + argc}, flags, line));
  options.isDone = line.isDone;
  options.model = line.model;
  if (line.model.empty() && !line.isDone)
    return Status(ZERO_RT_INVALID_ARGUMENT, "no model; see --help");
  return {};
}

} // namespace zero::sim
