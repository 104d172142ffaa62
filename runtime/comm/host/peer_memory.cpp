//===- peer_memory.cpp - memory of the ranks of a node --------------------===//

#include "runtime/comm/host/peer_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/prctl.h>
#include <sys/uio.h>

namespace zero::rt {

int PeerMemory::elsewhere() const {
  return int(std::count_if(processes.begin(), processes.end(), [](pid_t each) { return each; }));
}

Status PeerMemory::read(int place, const void *from, void *to, uint64_t bytes) const {
  if (isHere(place)) {
    if (bytes > 0 && to != from)
      std::memcpy(to, from, bytes);
    return {};
  }
  const pid_t process = processes[size_t(place)];
  for (uint64_t done = 0; done < bytes;) {
    const iovec own{static_cast<char *>(to) + done, bytes - done};
    const iovec other{const_cast<char *>(static_cast<const char *>(from)) + done, bytes - done};
    const ssize_t count = ::process_vm_readv(process, &own, 1, &other, 1, 0);
    if (count < 0 && errno == ESRCH)
      return fail(ZERO_RT_ABORTED, "its process %d has ended", int(process));
    if (count <= 0)
      return fail(ZERO_RT_ABORTED, "cannot read the memory of process %d: %s", int(process),
                  std::strerror(count < 0 ? errno : EFAULT));
    done += uint64_t(count);
  }
  return {};
}

void allowPeersToRead() { ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); }

} // namespace zero::rt
