//===- world.h - the processes that train together --------------*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_WORLD_H
#define RUNTIME_PROCESSES_WORLD_H

#include "runtime/processes/control_channel.h"
#include "runtime/processes/launcher.h"

#include <deque>
#include <sys/types.h>

namespace zero::rt {

class Mpi;
class Temporary;

struct WorldOptions {
  LaunchInfo launch; ///< `meeting` may also be "file:PATH"
  /// At which process 0 listens, if it tells the others where: a name or an address; empty: the
  /// loopback if all are on one machine, else all.
  std::string interface;
  std::string about; ///< as in ControlOptions; empty: "process N"
  double timeoutSeconds = 120;
  int listener = -1; ///< as in ControlOptions
};

/// "rank 2", or "ranks 2 to 3".
std::string ranksText(int first, int count);

/// The processes of a job, which have met.
class World {
public:
  /// A process, as all others see it.
  struct Process {
    std::string host;
    pid_t id = 0;
    int node = 0; ///< processes of one node can read each other's memory
  };

  /// Collective.
  static Status open(const WorldOptions &options, std::shared_ptr<World> &world);
  /// Waits until the others need this process no more, unless the job has failed.
  ~World();

  const LaunchInfo &getLaunch() const { return launch; }
  int process() const { return launch.process; }
  int processes() const { return launch.processes; }
  bool isFirst() const { return process() == 0; }
  const std::vector<Process> &getProcesses() const { return all; }
  int node() const { return all[size_t(process())].node; }
  int nodes() const;
  /// The first process of each node, by node.
  std::vector<int> leaders() const;
  /// "4 processes on 2 nodes, started by mpirun of Open MPI"
  std::string text() const;
  /// Where process 0, which is this one, listens in a network: "10.0.0.1, port 61440", "all
  /// interfaces, port 61440", or empty.
  const std::string &listensAt() const { return listens; }

  ControlChannel &control() { return *channel; }
  /// Whether all processes are at the same point without an error. Collective: fails on all if
  /// `own` is an error on one, with that error.
  Status agree(const char *what, const Status &own);
  /// The library of the launcher, which is loaded when it is first needed. Collective.
  Status findMpi(std::shared_ptr<Mpi> &mpi);
  /// Resident bytes that it took when it was loaded, measured; 0 without it.
  uint64_t libraryBytes() const { return library ? mpiBytes : 0; }

  /// Hands the file at `path` of process 0 to all nodes. `shared`: where this process can read it:
  /// the same path on the node of process 0, memory of the node's first process on the others.
  /// Valid as long as this object. Collective.
  Status share(const std::string &path, const char *&shared);

private:
  explicit World(const WorldOptions &options)
      : launch(options.launch), timeoutSeconds(options.timeoutSeconds) {}
  Status meet(const WorldOptions &options);
  Status meetByInvitation(const std::string &interface, ControlOptions &options, Temporary &file);
  Status listen(ControlOptions &options);
  Status checkDigest(const std::string &path, const std::string &digest) const;
  Status findNodes();

  LaunchInfo launch;
  double timeoutSeconds;
  std::string listens;
  std::shared_ptr<Mpi> library; ///< null: not needed so far
  uint64_t mpiBytes = 0;
  std::unique_ptr<ControlChannel> channel;
  std::vector<Process> all;
  std::vector<int> received;     ///< descriptors of files that were handed to this process
  std::deque<std::string> paths; ///< where shared files are
};

} // namespace zero::rt

/// The handle of the C interface.
struct zero_rt_world {
  std::shared_ptr<zero::rt::World> world;
};

#endif // RUNTIME_PROCESSES_WORLD_H
