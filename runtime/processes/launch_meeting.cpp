//===- launch_meeting.cpp - where the processes of a job meet -------------===//

#include "runtime/processes/host_list.h"
#include "runtime/processes/launch_variables.h"
#include "runtime/processes/secret.h"
#include "runtime/processes/socket.h"
#include "runtime/support/checked.h"

#include <unistd.h>

namespace zero::rt {

/// Ports 61440 to 65535 are above those that Linux gives to connections. JAX uses this rule, too.
static constexpr int kFirstPort = 61440, kPorts = 4096, kLastPort = 65535;

/// Where the processes of a job meet that are all on one machine: the kernel tells users apart.
static std::string localMeeting(const std::string &job) {
  return format("unix:@zero-%u-%s", ::geteuid(), digestText(job).c_str());
}

/// torchrun itself listens on MASTER_PORT.
static Status meetTorchrun(const LaunchVariables &variables, LaunchInfo &info) {
  const char *address = variables.get("MASTER_ADDR"), *port = variables.get("MASTER_PORT");
  if (!address || !port) {
    if (info.processes == 1)
      return {};
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "expected the variable %s beside RANK and WORLD_SIZE=%d, as torchrun sets it",
                address ? "MASTER_PORT" : "MASTER_ADDR", info.processes);
  }
  int number = 0;
  ZERO_RT_TRY(variables.number("MASTER_PORT", 1, number));
  if (number > kLastPort)
    return fail(ZERO_RT_INVALID_ARGUMENT, "the variable MASTER_PORT: expected at most %d, got %d",
                kLastPort, number);
  const char *run = variables.get("TORCHELASTIC_RUN_ID");
  // Without --rdzv-id, the identifier of all jobs is "none".
  info.job = format("torchrun %s %s:%d", run ? run : "none", address, number);
  const bool isIpv6 = std::string_view(address).find(':') != std::string_view::npos;
  info.meeting = info.localProcesses == info.processes || meansLoopback(address)
                     ? localMeeting(info.job)
                     : format(isIpv6 ? "tcp:[%s]:%d" : "tcp:%s:%d", address,
                              number == kLastPort ? kFirstPort : number + 1);
  return {};
}

static Status meetSlurm(const LaunchVariables &variables, LaunchInfo &info) {
  for (const char *name : {"PMIX_RANK", "PMI_RANK"}) {
    int rank = info.process;
    ZERO_RT_TRY(variables.number(name, 0, rank));
    if (rank != info.process)
      return variables.contradiction(name, kSlurm.process);
  }
  const char *job = variables.get("SLURM_JOB_ID");
  uint64_t number = 0, step = 0;
  if (!job || !parseInteger(std::string_view(job), number))
    return fail(ZERO_RT_INVALID_ARGUMENT, "the variable SLURM_JOB_ID: expected a number, got '%s'",
                escape(job ? job : "").c_str());
  info.job = format("slurm %s.%s", job, variables.slurmStep());
  if (variables.has("PMIX_RANK") || variables.has("PMI_FD"))
    return {};
  const char *list = variables.get("SLURM_STEP_NODELIST");
  std::string host;
  if (Status status = firstHost(list ? list : "", host); !status.ok())
    return fail(status.getCode(), "the variable SLURM_STEP_NODELIST: %s",
                status.getMessage().c_str());
  int nodes = 0;
  ZERO_RT_TRY(variables.number("SLURM_STEP_NUM_NODES", 1, nodes));
  (void)parseInteger(std::string_view(variables.slurmStep()), step); // steps run side by side
  info.meeting =
      nodes == 1 || meansLoopback(host)
          ? localMeeting(info.job)
          : format("tcp:%s:%d", host.c_str(), kFirstPort + int((number + step) % kPorts));
  return {};
}

Status readMeeting(const LaunchVariables &variables, LaunchInfo &info) {
  if (const char *secret = variables.get("ZERO_JOB_SECRET"))
    info.secret = secret;
  switch (info.launcher) {
  case Launcher::Torchrun:
    return meetTorchrun(variables, info);
  case Launcher::Slurm:
    return meetSlurm(variables, info);
  case Launcher::OpenMpi:
    if (const char *job = variables.get("PMIX_NAMESPACE"))
      info.job = format("pmix %s", job);
    return {};
  case Launcher::ZeroRun:
    if (!variables.has("ZERO_MEETING") && info.processes > 1)
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "expected the variable ZERO_MEETING beside ZERO_PROCESSES=%d", info.processes);
    info.meeting = variables.has("ZERO_MEETING") ? variables.get("ZERO_MEETING") : "";
    info.job = variables.has("ZERO_JOB") ? variables.get("ZERO_JOB") : "";
    return {};
  case Launcher::Mpich:
  case Launcher::None:
    return {};
  }
  return {};
}

} // namespace zero::rt
