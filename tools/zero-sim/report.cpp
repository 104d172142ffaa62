//===- report.cpp - a replayed step for people and for scripts ------------===//

#include "report.h"

#include "tools/profiling/profile_text.h"
#include "zero/Planning/ByteSize.h"

using namespace zero::rt;
using namespace zero::planning;

namespace zero::sim {

static constexpr const char *kLanes[] = {"compute",   "collective", "h2d",         "d2h",
                                         "nvme-read", "nvme-write", "host-compute"};

static run::Profile profileOf(const Machine &machine, const Replay &replay) {
  return run::makeProfile({machine.peakFlops, machine.memoryBandwidth, machine.copyBandwidth},
                          replay.commands, replay.recordings());
}

static const proto::Certificate *deviceMemory(const proto::Program &program) {
  for (const proto::Certificate &certificate : program.certificates())
    if (certificate.tier() == proto::DEVICE)
      return &certificate;
  return nullptr;
}

static std::string memoryText(const Subject &subject) {
  const proto::Certificate *memory = deviceMemory(subject.program);
  if (!memory)
    return "";
  std::string text =
      format("memory per rank: %s at the peak ('%s')", formatBytes(double(memory->peak())).c_str(),
             escape(memory->peak_at()).c_str());
  const double there = subject.machine.memoryBytes;
  if (there > 0)
    text +=
        format(", %s %s that this machine has",
               double(memory->peak()) > there ? "more than the" : "of", formatBytes(there).c_str());
  return text + "\n";
}

/// Where a description was made with other ranks or threads than the step has.
static std::string mismatchText(const Subject &subject) {
  const Machine &machine = subject.machine;
  if (machine.ranks == int64_t(subject.program.ranks()))
    return "";
  return format("note: the machine's figures are those of %lld rank%s side by side\n",
                static_cast<long long>(machine.ranks), machine.ranks == 1 ? "" : "s");
}

std::string reportText(const Subject &subject, const Replay &replay) {
  const proto::Program &program = subject.program;
  std::string text =
      format("%s: ZeRO stage %u on %u rank%s, %u micro-batch%s, on %s (%s)%s\n",
             escape(program.name()).c_str(), program.stage(), program.ranks(),
             program.ranks() == 1 ? "" : "s", std::max(program.micro_batches(), 1u),
             program.micro_batches() > 1 ? "es" : "", escape(subject.machine.name).c_str(),
             escape(subject.machine.isa).c_str(),
             subject.isDefault ? ", the default: --machine names another" : "");
  text += mismatchText(subject);
  text += format("step: %.4g ms\n", replay.seconds * 1e3);
  text += memoryText(subject);
  for (size_t lane = 0; lane < replay.laneSeconds.size(); ++lane)
    if (double busy = replay.laneSeconds[lane]; busy > 0)
      text += format("lane %-12s busy %.4g ms, %.1f %%\n", kLanes[lane], busy * 1e3,
                     100 * busy / replay.seconds);
  return text + "\n" + run::profileTables(profileOf(subject.machine, replay));
}

std::string reportJson(const Subject &subject, const Replay &replay) {
  const proto::Program &program = subject.program;
  const proto::Certificate *memory = deviceMemory(program);
  std::string lanes;
  for (size_t lane = 0; lane < replay.laneSeconds.size(); ++lane)
    lanes += format("%s\"%s\": %s", lane ? ", " : "", kLanes[lane],
                    run::jsonNumber(replay.laneSeconds[lane]).c_str());
  return format("{\n  \"model\": \"%s\",\n  \"machine\": \"%s\",\n  \"isa\": \"%s\",\n"
                "  \"ranks\": %u,\n  \"stage\": %u,\n  \"micro_batches\": %u,\n"
                "  \"seconds\": %s,\n  \"peak_bytes\": %llu,\n  \"lanes\": {%s},\n"
                "  \"profile\": ",
                escape(program.name()).c_str(), escape(subject.machine.name).c_str(),
                escape(subject.machine.isa).c_str(), program.ranks(), program.stage(),
                std::max(program.micro_batches(), 1u), run::jsonNumber(replay.seconds).c_str(),
                static_cast<unsigned long long>(memory ? memory->peak() : 0), lanes.c_str()) +
         run::profileJson(profileOf(subject.machine, replay)) + "\n}\n";
}

} // namespace zero::sim
