//===- world.cpp - the processes that train together ----------------------===//

#include "runtime/processes/world.h"

#include "runtime/comm/mpi/mpi.h"
#include "runtime/processes/fields.h"
#include "runtime/processes/invitation.h"
#include "runtime/processes/secret.h"
#include "runtime/support/checked.h"
#include "runtime/support/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

namespace zero::rt {

/// How a meeting through a file begins.
static constexpr char kFile[] = "file:";

//===----------------------------------------------------------------------===//
// Meeting
//===----------------------------------------------------------------------===//

Status World::open(const WorldOptions &options, std::shared_ptr<World> &world) {
  std::shared_ptr<World> made(new World(options));
  ZERO_RT_TRY(made->meet(options));
  ZERO_RT_TRY(made->findNodes());
  world = std::move(made);
  return {};
}

Status World::meet(const WorldOptions &options) {
  ControlOptions control;
  control.process = launch.process;
  control.processes = launch.processes;
  control.address = launch.meeting;
  control.listener = options.listener;
  control.job = launch.job;
  control.secret = launch.secret;
  control.about = options.about.empty() ? "process " + std::to_string(process()) : options.about;
  control.timeoutSeconds = timeoutSeconds;
  Temporary file; // of the invitation: goes when all have read it, or will not come
  const bool isInvited = launch.meeting.empty() || launch.meeting.starts_with(kFile);
  if (!options.interface.empty() && !isInvited)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "--interface has no effect: %s says that processes meet at %s",
                nameOf(launch.launcher), escape(launch.meeting).c_str());
  if (isInvited)
    ZERO_RT_TRY(meetByInvitation(options.interface, control, file));
  else if (isFirst() && control.listener < 0)
    ZERO_RT_TRY(listen(control));
  return ControlChannel::open(control, channel);
}

/// "10.0.0.1, port 61440", or "all interfaces, port 61440"; empty for the loopback.
static std::string placeOf(const Socket &listener, const std::string &host) {
  if (meansLoopback(host) && !isEverywhere(listener))
    return {};
  return format("%s, port %d", isEverywhere(listener) ? "all interfaces" : escape(host).c_str(),
                portOf(listener));
}

Status World::listen(ControlOptions &options) {
  Address address;
  Socket listener;
  ZERO_RT_TRY(parseAddress(options.address, address));
  ZERO_RT_TRY(checkSecret(options));
  ZERO_RT_TRY(listenAt(address, after(timeoutSeconds), listener));
  if (!address.isLocal())
    listens = placeOf(listener, address.host);
  options.listener = ::dup(listener.get());
  return {};
}

/// The file at `path`, to be deleted.
static Temporary ownFile(const std::string &path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  Temporary file(path, descriptor);
  ::close(descriptor);
  return file;
}

/// Process 0 listens somewhere, and tells the others through MPI or a file.
Status World::meetByInvitation(const std::string &interface, ControlOptions &options,
                               Temporary &file) {
  const std::string path = launch.meeting.empty() ? "" : launch.meeting.substr(std::strlen(kFile));
  const bool isOneMachine = launch.localProcesses == launch.processes;
  Invitation invitation;
  Socket listener;
  Status made;
  if (isFirst())
    made = Invitation::make(isOneMachine, interface, listener, invitation);
  if (path.empty()) { // collective, also after an error
    ZERO_RT_TRY(findMpi(library));
    std::vector<std::string> gathered;
    const std::string own = isFirst() && made.ok() ? invitation.encode() : std::string();
    ZERO_RT_TRY(library->allGather("address of process 0", own, gathered));
    ZERO_RT_TRY(made);
    ZERO_RT_TRY(Invitation::decode(gathered.front(), invitation));
  } else if (isFirst()) {
    ZERO_RT_TRY(made);
    ZERO_RT_TRY(writePrivateFile(path, invitation.encode()));
    file = ownFile(path);
  } else {
    ZERO_RT_TRY(readInvitation(path, timeoutSeconds, invitation));
  }
  options.job = invitation.job;
  options.secret = invitation.secret;
  if (isFirst()) {
    const std::string &first = invitation.networks.front();
    const std::string host =
        isEverywhere(listener) ? kEverywhere : first.substr(0, first.find('/'));
    options.listener = ::dup(listener.get());
    options.address = format("tcp:%s:%d", host.c_str(), invitation.port); // for errors
    listens = placeOf(listener, host);
    return {};
  }
  ZERO_RT_TRY(invitation.findAddresses(options.otherAddresses));
  options.address = options.otherAddresses.front();
  options.otherAddresses.erase(options.otherAddresses.begin());
  return {};
}

Status World::findNodes() {
  std::string own;
  append(own, hostName());
  append(own, uint64_t(::getpid()));
  append(own, nodeKey());
  std::vector<std::string> gathered;
  ZERO_RT_TRY(channel->allGather("list of nodes", own, gathered));
  std::map<std::string, int> numbers;
  for (const std::string &text : gathered) {
    Fields fields(text);
    Process process;
    process.host = fields.text();
    process.id = pid_t(fields.number());
    const std::string node(fields.text());
    if (!fields.isAtEnd())
      return fail(ZERO_RT_INTERNAL, "a process has sent no name");
    process.node = numbers.try_emplace(node, int(numbers.size())).first->second;
    all.push_back(process);
  }
  return {};
}

World::~World() {
  std::vector<std::string> gathered;
  if (library)
    library->rest();
  const bool hasEnded =
      channel && channel->failure().ok() && channel->allGather("end of the job", "", gathered).ok();
  if (library && !hasEnded)
    library->abandon(); // others cannot take part
  for (const int descriptor : received)
    ::close(descriptor);
}

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

std::string ranksText(int first, int count) {
  return count == 1 ? format("rank %d", first) : format("ranks %d to %d", first, first + count - 1);
}

int World::nodes() const {
  int most = 0;
  for (const Process &each : all)
    most = std::max(most, each.node + 1);
  return most;
}

std::vector<int> World::leaders() const {
  std::vector<int> found(size_t(nodes()), -1);
  for (int process = processes() - 1; process >= 0; --process)
    found[size_t(all[size_t(process)].node)] = process;
  return found;
}

std::string World::text() const {
  const int count = nodes();
  return format("%d processes on %d node%s, started by %s", processes(), count,
                count == 1 ? "" : "s", nameOf(launch.launcher));
}

static uint64_t residentBytes() {
  uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * uint64_t(::sysconf(_SC_PAGESIZE));
}

Status World::findMpi(std::shared_ptr<Mpi> &mpi) {
  if (!library) {
    const uint64_t before = residentBytes();
    ZERO_RT_TRY(Mpi::open({.timeoutSeconds = timeoutSeconds, .processes = processes()}, library));
    mpiBytes = residentBytes() - std::min(before, residentBytes());
  }
  mpi = library;
  return {};
}

//===----------------------------------------------------------------------===//
// What all processes do
//===----------------------------------------------------------------------===//

Status World::agree(const char *what, const Status &own) {
  if (!own.ok())
    channel->fail(own);
  ZERO_RT_TRY(own);
  std::vector<std::string> gathered;
  return channel->allGather(what, "", gathered);
}

/// A file in memory that other processes of this node open by the process that has it.
static Status makeFile(int &descriptor) {
  descriptor = ::memfd_create("zero-shared-file", MFD_CLOEXEC);
  return descriptor >= 0
             ? Status()
             : fail(ZERO_RT_IO, "cannot create a file in memory: %s", std::strerror(errno));
}

static Status writeAt(int descriptor, const char *piece, uint64_t offset, uint64_t count) {
  for (uint64_t done = 0; done < count;) {
    const ssize_t written = ::pwrite(descriptor, piece + done, count - done, off_t(offset + done));
    if (written <= 0)
      return fail(ZERO_RT_IO, "cannot write a file in memory: %s", std::strerror(errno));
    done += uint64_t(written);
  }
  return {};
}

Status World::share(const std::string &path, const char *&shared) {
  InputFile file;
  if (isFirst())
    ZERO_RT_TRY(agree("file of process 0", InputFile::open(path, file)));
  else
    ZERO_RT_TRY(agree("file of process 0", {}));
  std::string own, digest;
  if (isFirst())
    ZERO_RT_TRY(digestFile(path, digest));
  append(own, file.size());
  append(own, path);
  append(own, digest);
  std::vector<std::string> gathered;
  ZERO_RT_TRY(channel->allGather("size of a file", own, gathered));
  Fields fields(gathered.front());
  const uint64_t bytes = fields.number();
  const std::string original(fields.text());
  digest = fields.text();
  if (!fields.isAtEnd())
    return fail(ZERO_RT_INTERNAL, "process 0 has sent no file");
  int descriptor = -1;
  for (const int leader : leaders()) {
    if (leader == 0)
      continue;
    if (leader == process()) {
      ZERO_RT_TRY(makeFile(descriptor));
      received.push_back(descriptor);
    }
    ZERO_RT_TRY(channel->stream(
        "file of process 0", 0, leader, bytes,
        [&](char *piece, uint64_t offset, uint64_t count) {
          return file.read(offset, piece, count);
        },
        [&](const char *piece, uint64_t offset, uint64_t count) {
          return writeAt(descriptor, piece, offset, count);
        }));
  }
  ZERO_RT_TRY(channel->allGather("place of a file", std::to_string(descriptor), gathered));
  const int leader = leaders()[size_t(node())];
  int number = 0;
  if (leader != 0 && !parseInteger(std::string_view(gathered[size_t(leader)]), number))
    return fail(ZERO_RT_INTERNAL, "a process has sent no descriptor");
  paths.push_back(leader == 0 ? original
                              : format("/proc/%d/fd/%d", int(all[size_t(leader)].id), number));
  shared = paths.back().c_str();
  return agree("digest of a file", isFirst() ? Status() : checkDigest(paths.back(), digest));
}

/// What this process reads is the file of process 0.
Status World::checkDigest(const std::string &path, const std::string &digest) const {
  std::string found;
  ZERO_RT_TRY(digestFile(path, found));
  if (found == digest)
    return {};
  return fail(ZERO_RT_BAD_DATA, "'%s' is not the file of process 0: it has the digest %s, not %s",
              escape(path).c_str(), found.c_str(), digest.c_str());
}

} // namespace zero::rt
