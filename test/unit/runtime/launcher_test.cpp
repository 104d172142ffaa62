//===- launcher_test.cpp - which process of a job this is -----------------===//
//
// The variables are those that the launchers set: torchrun of PyTorch 2, mpirun of Open MPI 4.1.4
// and 5.0.11, mpiexec of MPICH 4.0.2, srun and sbatch of Slurm 22.05.8.
//
//===----------------------------------------------------------------------===//

#include "runtime/processes/launcher.h"

#include "runtime/processes/host_list.h"
#include "runtime/processes/secret.h"

#include <gtest/gtest.h>
#include <map>
#include <unistd.h>

using namespace zero::rt;

namespace {

using Values = std::map<std::string, std::string>;

Values operator+(Values left, const Values &right) {
  for (const auto &[name, value] : right)
    left[name] = value;
  return left;
}

Values without(Values values, const std::string &name) {
  values.erase(name);
  return values;
}

Status detect(const Values &values, LaunchInfo &info) {
  return detectLauncher(
      [&](const char *name) {
        const auto found = values.find(name);
        return found == values.end() ? nullptr : found->second.c_str();
      },
      info);
}

LaunchInfo detected(const Values &values) {
  LaunchInfo info;
  const Status status = detect(values, info);
  EXPECT_TRUE(status.ok()) << status.getMessage();
  return info;
}

/// The message of the error.
std::string refused(const Values &values) {
  LaunchInfo info;
  const Status status = detect(values, info);
  EXPECT_EQ(status.getCode(), ZERO_RT_INVALID_ARGUMENT);
  EXPECT_EQ(info.launcher, Launcher::None) << "nothing is written on failure";
  return status.getMessage();
}

const Values kZero = {{"ZERO_PROCESS", "2"},
                      {"ZERO_PROCESSES", "3"},
                      {"ZERO_MEETING", "unix:@zero-1"},
                      {"ZERO_JOB", "a1b2"},
                      {"ZERO_ATTEMPT", "1"}};
const Values kTorch = {{"GROUP_RANK", "1"},
                       {"GROUP_WORLD_SIZE", "2"},
                       {"LOCAL_RANK", "1"},
                       {"LOCAL_WORLD_SIZE", "2"},
                       {"MASTER_ADDR", "localhost"},
                       {"MASTER_PORT", "29500"},
                       {"RANK", "3"},
                       {"TORCHELASTIC_MAX_RESTARTS", "3"},
                       {"TORCHELASTIC_RESTART_COUNT", "2"},
                       {"TORCHELASTIC_RUN_ID", "none"},
                       {"WORLD_SIZE", "4"}};
/// A PyTorchJob of Kubernetes.
const Values kKubernetes = {
    {"MASTER_ADDR", "job-master-0"}, {"MASTER_PORT", "23456"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}};
const Values kOpenMpi = {{"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
                         {"OMPI_COMM_WORLD_NODE_RANK", "0"},
                         {"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"PMIX_NAMESPACE", "1897267201"},
                         {"PMIX_RANK", "1"}};
const Values kMpich = {{"MPI_LOCALNRANKS", "2"},
                       {"MPI_LOCALRANKID", "1"},
                       {"PMI_FD", "8"},
                       {"PMI_RANK", "1"},
                       {"PMI_SIZE", "2"}};
/// What each process of an allocation of 4 tasks has, also the batch script.
const Values kBatch = {{"SLURM_JOB_ID", "200505"},
                       {"SLURM_JOB_NODELIST", "g[10,20,25]"},
                       {"SLURM_LOCALID", "0"},
                       {"SLURM_NODEID", "0"},
                       {"SLURM_NODELIST", "g[10,20,25]"},
                       {"SLURM_NTASKS", "4"},
                       {"SLURM_PROCID", "0"},
                       {"SLURM_TASK_PID", "16360"},
                       {"SLURM_TASKS_PER_NODE", "2,1(x2)"},
                       {"SLURM_JOB_NAME", "train"}};
const Values kStep =
    kBatch + Values{{"SLURM_PROCID", "2"},         {"SLURM_LOCALID", "1"},
                    {"SLURM_STEP_ID", "0"},        {"SLURM_STEPID", "0"},
                    {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_NODELIST", "g[10,20,25]"}};

/// Where processes of one machine meet.
std::string localMeeting(const std::string &job) {
  return format("unix:@zero-%u-%s", ::geteuid(), digestText(job).c_str());
}

TEST(Launcher, None) {
  const LaunchInfo info = detected({{"PATH", "/bin"}});
  EXPECT_EQ(info.launcher, Launcher::None);
  EXPECT_EQ(info.process, 0);
  EXPECT_EQ(info.processes, 1);
  EXPECT_EQ(info.localProcess, -1);
}

TEST(Launcher, ZeroRun) {
  const LaunchInfo info = detected(kZero);
  EXPECT_EQ(info.launcher, Launcher::ZeroRun);
  EXPECT_EQ(info.process, 2);
  EXPECT_EQ(info.processes, 3);
  EXPECT_EQ(info.localProcess, 2);
  EXPECT_EQ(info.localProcesses, 3);
  EXPECT_EQ(info.meeting, "unix:@zero-1");
  EXPECT_EQ(info.job, "a1b2");
  EXPECT_EQ(info.attempt, 1);
}

TEST(Launcher, ZeroRunInsideOfOthers) {
  for (const Values &outer : {kTorch, kOpenMpi, kMpich, kStep})
    EXPECT_EQ(detected(outer + kZero).launcher, Launcher::ZeroRun);
}

TEST(Launcher, Torchrun) {
  const LaunchInfo info = detected(kTorch);
  EXPECT_EQ(info.launcher, Launcher::Torchrun);
  EXPECT_EQ(info.process, 3);
  EXPECT_EQ(info.processes, 4);
  EXPECT_EQ(info.localProcess, 1);
  EXPECT_EQ(info.localProcesses, 2);
  EXPECT_EQ(info.job, "torchrun none localhost:29500");
  EXPECT_EQ(info.meeting, localMeeting(info.job)) << "no other machine can be meant";
  EXPECT_EQ(info.attempt, 2);
}

TEST(Launcher, TorchrunPorts) {
  const Values nodes = kTorch + Values{{"MASTER_ADDR", "host-0"}};
  EXPECT_EQ(detected(nodes).meeting, "tcp:host-0:29501") << "torchrun listens on MASTER_PORT";
  EXPECT_EQ(detected(nodes + Values{{"MASTER_PORT", "65535"}}).meeting, "tcp:host-0:61440");
  EXPECT_EQ(detected(nodes + Values{{"MASTER_PORT", "65534"}}).meeting, "tcp:host-0:65535");
  EXPECT_EQ(detected(kTorch + Values{{"MASTER_ADDR", "fe80::1"}}).meeting, "tcp:[fe80::1]:29501");
  EXPECT_EQ(detected(nodes + Values{{"LOCAL_WORLD_SIZE", "4"}}).meeting,
            localMeeting("torchrun none host-0:29500"));
  EXPECT_EQ(detected(nodes).secret, "");
  EXPECT_EQ(detected(nodes + Values{{"ZERO_JOB_SECRET", "s"}}).secret, "s");
  EXPECT_EQ(refused(kTorch + Values{{"MASTER_PORT", "65536"}}),
            "the variable MASTER_PORT: expected at most 65535, got 65536");
}

TEST(Launcher, TorchrunByHand) {
  const LaunchInfo info = detected(kKubernetes);
  EXPECT_EQ(info.launcher, Launcher::Torchrun);
  EXPECT_EQ(info.process, 1);
  EXPECT_EQ(info.localProcess, -1);
  EXPECT_EQ(info.meeting, "tcp:job-master-0:23457");
  EXPECT_NE(info.job, "");
}

TEST(Launcher, OpenMpi) {
  const LaunchInfo info = detected(kOpenMpi);
  EXPECT_EQ(info.launcher, Launcher::OpenMpi);
  EXPECT_EQ(info.process, 1);
  EXPECT_EQ(info.processes, 2);
  EXPECT_EQ(info.localProcess, 0);
  EXPECT_EQ(info.localProcesses, 1);
  EXPECT_EQ(info.meeting, "");
  EXPECT_EQ(info.job, "pmix 1897267201");
}

TEST(Launcher, Mpich) {
  const LaunchInfo info = detected(kMpich);
  EXPECT_EQ(info.launcher, Launcher::Mpich);
  EXPECT_EQ(info.process, 1);
  EXPECT_EQ(info.processes, 2);
  EXPECT_EQ(info.localProcess, 1);
  EXPECT_EQ(info.localProcesses, 2);
  EXPECT_EQ(info.meeting, "");
}

TEST(Launcher, Slurm) {
  const LaunchInfo info = detected(kStep);
  EXPECT_EQ(info.launcher, Launcher::Slurm);
  EXPECT_EQ(info.process, 2);
  EXPECT_EQ(info.processes, 4);
  EXPECT_EQ(info.localProcess, 1);
  EXPECT_EQ(info.meeting, "tcp:g10:65337") << "61440 + 200505 mod 4096";
  EXPECT_EQ(detected(kStep + Values{{"SLURM_STEP_ID", "2"}}).meeting, "tcp:g10:65339");
  EXPECT_EQ(detected(kStep + Values{{"SLURM_STEP_NUM_NODES", "1"}}).meeting,
            localMeeting("slurm 200505.0"));
  EXPECT_EQ(info.job, "slurm 200505.0");
}

TEST(Launcher, SlurmOlderNames) {
  const Values old = without(without(kStep, "SLURM_STEP_ID"), "SLURM_STEP_NUM_TASKS");
  EXPECT_EQ(detected(old).processes, 4);
  EXPECT_EQ(detected(old).job, "slurm 200505.0");
}

TEST(Launcher, SlurmStepOfFewerTasksThanTheAllocation) {
  EXPECT_EQ(detected(kStep + Values{{"SLURM_STEP_NUM_TASKS", "3"}}).processes, 3);
}

TEST(Launcher, SlurmWithMpi) {
  for (const Values &mpi : {Values{{"PMIX_RANK", "2"}},
                            Values{{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"PMI_FD", "9"}}}) {
    EXPECT_EQ(detected(kStep + mpi).launcher, Launcher::Slurm);
    EXPECT_EQ(detected(kStep + mpi).meeting, "");
  }
  const std::string message = refused(kStep + Values{{"PMIX_RANK", "1"}});
  EXPECT_NE(message.find("PMIX_RANK=1 and SLURM_PROCID=2"), std::string::npos) << message;
}

TEST(Launcher, BatchScriptIsOneProcess) {
  EXPECT_EQ(detected(kBatch).launcher, Launcher::None);
  for (const char *step : {"batch", "interactive", "4294967290", "4294967291", "4294967294"})
    EXPECT_EQ(detected(kBatch + Values{{"SLURM_STEP_ID", step}}).launcher, Launcher::None) << step;
  // Scripts often export what PyTorch needs, without the rank.
  EXPECT_EQ(detected(kBatch + without(kKubernetes, "RANK")).launcher, Launcher::None);
  EXPECT_EQ(detected(kStep + Values{{"MASTER_ADDR", "g10"}, {"MASTER_PORT", "1"}}).launcher,
            Launcher::Slurm);
}

TEST(Launcher, OneProcess) {
  EXPECT_EQ(
      detected(kOpenMpi + Values{{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}})
          .launcher,
      Launcher::OpenMpi);
  EXPECT_EQ(detected({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).launcher, Launcher::Torchrun);
}

TEST(Launcher, InnerOne) {
  const Values single = {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}};
  const Values node = {{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}};
  // In a shell of `srun --pty`, and by `srun --ntasks-per-node=1`.
  EXPECT_EQ(detected(kStep + single + kTorch).process, 3);
  EXPECT_EQ(detected(kStep + node + kTorch).process, 3);
  EXPECT_EQ(detected(kOpenMpi + kTorch).launcher, Launcher::Torchrun);
  EXPECT_EQ(detected(kStep + single + kKubernetes).launcher, Launcher::Torchrun);
  // mpirun starts its daemons by srun.
  EXPECT_EQ(detected(kStep + kOpenMpi).launcher, Launcher::OpenMpi);
  EXPECT_EQ(detected(kStep + kMpich).launcher, Launcher::Mpich);
}

TEST(Launcher, CopiedVariables) {
  const LaunchInfo info = detected(kOpenMpi + kKubernetes);
  EXPECT_EQ(info.launcher, Launcher::OpenMpi) << "which can also send messages between nodes";
}

TEST(Launcher, Contradictions) {
  const Values other = {{"RANK", "0"}, {"WORLD_SIZE", "2"}};
  EXPECT_EQ(refused(kOpenMpi + other),
            "the variables RANK=0 and OMPI_COMM_WORLD_RANK=1 contradict each other: unset those of "
            "the launcher that did not start this process");
  const auto contains = [](const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  contains(refused(kOpenMpi + Values{{"RANK", "0"}}), "RANK=0 and OMPI_COMM_WORLD_RANK=1");
  contains(refused(kOpenMpi + Values{{"WORLD_SIZE", "4"}}),
           "WORLD_SIZE=4 and OMPI_COMM_WORLD_SIZE=2");
  contains(refused(kMpich + Values{{"WORLD_SIZE", "4"}}), "WORLD_SIZE=4 and PMI_SIZE=2");
  contains(refused(kStep + kKubernetes), "RANK=1 and SLURM_PROCID=2");
  contains(refused(kOpenMpi + kMpich + Values{{"PMI_RANK", "0"}, {"MPI_LOCALRANKID", "0"}}),
           "PMI_RANK=0 and OMPI_COMM_WORLD_RANK=1");
  contains(refused(kOpenMpi + kTorch + Values{{"GROUP_WORLD_SIZE", "1"}}),
           "OMPI_COMM_WORLD_RANK=1 and RANK=3");
}

TEST(Launcher, LoneVariables) {
  EXPECT_EQ(detected({{"RANK", "3"}}).launcher, Launcher::None) << "for --join";
  EXPECT_EQ(detected({{"WORLD_SIZE", "many"}}).launcher, Launcher::None);
  EXPECT_EQ(detected({{"LOCAL_RANK", "0"}}).launcher, Launcher::None);
  EXPECT_EQ(detected(kKubernetes + Values{{"RANK", ""}}).launcher, Launcher::None);
}

TEST(Launcher, MissingVariables) {
  EXPECT_EQ(refused(without(kKubernetes, "WORLD_SIZE")),
            "expected the variable WORLD_SIZE beside RANK: torchrun sets both");
  EXPECT_EQ(refused(without(kTorch, "RANK")),
            "expected the variable RANK beside WORLD_SIZE: torchrun sets both");
  EXPECT_EQ(refused(without(kKubernetes, "MASTER_PORT")),
            "expected the variable MASTER_PORT beside RANK and WORLD_SIZE=2, as torchrun sets it");
  EXPECT_EQ(refused({{"RANK", "0"}, {"WORLD_SIZE", "2"}}),
            "expected the variable MASTER_ADDR beside RANK and WORLD_SIZE=2, as torchrun sets it");
  EXPECT_EQ(refused(without(kOpenMpi, "OMPI_COMM_WORLD_SIZE")),
            "expected the variable OMPI_COMM_WORLD_SIZE beside OMPI_COMM_WORLD_RANK: mpirun of "
            "Open MPI sets both");
  EXPECT_EQ(refused(without(kMpich, "PMI_RANK")),
            "expected the variable PMI_RANK beside PMI_SIZE: mpirun of MPICH sets both");
  EXPECT_EQ(refused(without(kStep, "SLURM_PROCID")),
            "expected the variable SLURM_PROCID beside SLURM_STEP_NUM_TASKS: srun sets both");
  EXPECT_EQ(refused(without(kStep, "SLURM_JOB_ID")),
            "the variable SLURM_JOB_ID: expected a number, got ''");
  EXPECT_EQ(refused(without(kZero, "ZERO_PROCESSES")),
            "expected the variable ZERO_PROCESSES beside ZERO_PROCESS: zero-run --processes sets "
            "both");
  EXPECT_EQ(refused(without(kZero, "ZERO_MEETING")),
            "expected the variable ZERO_MEETING beside ZERO_PROCESSES=3");
}

TEST(Launcher, BadNumbers) {
  for (const char *bad :
       {"x", "-1", "1.5", " 1", "1 ", "0x1", "4294967296", "99999999999999999999"})
    EXPECT_EQ(refused(kKubernetes + Values{{"RANK", bad}}),
              format("the variable RANK: expected a number of 0 or more, got '%s'", bad));
  EXPECT_EQ(refused(kKubernetes + Values{{"WORLD_SIZE", "0"}}),
            "the variable WORLD_SIZE: expected a number of 1 or more, got '0'");
  EXPECT_EQ(refused(kKubernetes + Values{{"RANK", "2"}}),
            "expected RANK to be less than WORLD_SIZE, got 2 and 2");
  EXPECT_EQ(refused(kOpenMpi + Values{{"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}),
            "expected OMPI_COMM_WORLD_LOCAL_RANK to be less than OMPI_COMM_WORLD_LOCAL_SIZE, got 1 "
            "and 1");
  const std::string message =
      refused(kTorch + Values{{"RANK", "\033[2J" + std::string(5000, 'x')}});
  EXPECT_EQ(message.find('\033'), std::string::npos);
  EXPECT_LT(message.size(), 200u);
}

TEST(HostList, First) {
  const std::pair<const char *, const char *> cases[] = {
      {"node", "node"},
      {"node[003-005,8],x1", "node003"},
      {"node[8,003-005]", "node8"},
      {"x1,node[3-5]", "x1"},
      {"rack[1-2]node[03-04]", "rack1node03"},
      {"g[1,2]-ib.example.org", "g1-ib.example.org"},
      {"[1-2]", "1"},
  };
  for (const auto &[list, expected] : cases) {
    std::string host;
    EXPECT_TRUE(firstHost(list, host).ok()) << list;
    EXPECT_EQ(host, expected);
  }
}

TEST(HostList, Malformed) {
  for (const std::string &list :
       {std::string(), std::string(","), std::string("n["), std::string("n[]"), std::string("n[1"),
        std::string("n]"), std::string("n[x]"), std::string("n[-1]"), std::string("n[1[2]]"),
        std::string("n;rm"), std::string("n\n"), std::string(300, 'n')}) {
    std::string host;
    EXPECT_FALSE(firstHost(list, host).ok()) << list;
  }
}

} // namespace
