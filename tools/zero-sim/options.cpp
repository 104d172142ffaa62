//===- options.cpp - zero-sim's command line ------------------------------===//

#include "options.h"

#include "runtime/support/checked.h"
#include "zero/Machine/MachineFile.h"

#include <set>

using namespace zero::rt;

namespace zero::sim {

std::string helpText() {
  return "usage: zero-sim MODEL.zexe [--machine=FILE|PRESET] [options]\n"
         "\n"
         "Simulates the step of a compiled model on the description of a machine, which\n"
         "may differ from this one: the time of a step and where it is spent. The model\n"
         "does not run.\n"
         "\n"
         "  --machine=FILE|PRESET  a file written by `zero-run --calibrate`, or one of\n"
         "                         " +
         machinePresets() +
         " (the first)\n"
         "  --profile=FILE         a report of zero-run --profile --report-json: take its\n"
         "                         times of kernels\n"
         "  --slowest=FACTOR       the last rank computes FACTOR times more slowly (1)\n"
         "  --what-if=CHANGES      the step on changed machines: NAME=VALUE,... where a\n"
         "                         value is a number, a rate (25GB/s, 300TFLOP/s) or a\n"
         "                         factor (2x), and NAME is ranks (each keeps its batch),\n"
         "                         peak, memory, node (collectives within a node),\n"
         "                         network, h2d, d2h, host (its memory), disks (their\n"
         "                         number), disk-read, disk-write or disk-bus\n"
         "  --trace=FILE           write a timeline of all commands for ui.perfetto.dev\n"
         "  --html=FILE            write the report as a web page, with the timeline\n"
         "  --json                 print JSON\n"
         "  --help                 print this text\n"
         "  --version              print the version\n"
         "\n"
         "Example\n"
         "  zero-run --calibrate=here.json --ranks=2\n"
         "  zero-sim gpt2.zexe --machine=here.json\n";
}

static Status setText(std::string &field, const std::string &value) {
  field = value;
  return value.empty() ? Status(ZERO_RT_INVALID_ARGUMENT, "expected a value, got ''") : Status();
}

static Status setFactor(double &field, const std::string &value) {
  if (parseReal(value, field) && field >= 1)
    return {};
  return fail(ZERO_RT_INVALID_ARGUMENT, "expected a factor of at least 1, got '%s'",
              escape(value).c_str());
}

/// Sets the switch `name` if there is one of that name.
static bool setSwitch(Options &options, const std::string &name) {
  bool *field = name == "--json"      ? &options.json
                : name == "--help"    ? &options.help
                : name == "--version" ? &options.version
                                      : nullptr;
  if (field)
    *field = true;
  return field;
}

static Status setFlag(Options &options, const std::string &word) {
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  Status status;
  if (name == "--machine")
    status = setText(options.machine, value);
  else if (name == "--trace")
    status = setText(options.trace, value);
  else if (name == "--profile")
    status = setText(options.profile, value);
  else if (name == "--html")
    status = setText(options.html, value);
  else if (name == "--what-if")
    status = setText(options.whatIf, value);
  else if (name == "--slowest")
    status = setFactor(options.slowest, value);
  else if (equals != std::string::npos || !setSwitch(options, name))
    return fail(ZERO_RT_INVALID_ARGUMENT, "unknown option '%s'; see --help", escape(word).c_str());
  return status.ok()
             ? status
             : fail(status.getCode(), "option '%s': %s", name.c_str(), status.getMessage().c_str());
}

Status parseOptions(int argc, char **argv, Options &options) {
  std::set<std::string> given;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("-")) {
      if (!options.model.empty())
        return fail(ZERO_RT_INVALID_ARGUMENT, "expected one model, got also '%s'",
                    escape(word).c_str());
      options.model = word;
      continue;
    }
    ZERO_RT_TRY(setFlag(options, word));
    const std::string name = word.substr(0, word.find('='));
    if (!given.insert(name).second)
      return fail(ZERO_RT_INVALID_ARGUMENT, "option '%s' is given twice", name.c_str());
  }
  if (options.model.empty() && !options.help && !options.version)
    return Status(ZERO_RT_INVALID_ARGUMENT, "no model; see --help");
  return {};
}

} // namespace zero::sim
