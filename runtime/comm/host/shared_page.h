//===- shared_page.h - a rendezvous page of several processes ---*- C++ -*-===//

#ifndef RUNTIME_COMM_HOST_SHARED_PAGE_H
#define RUNTIME_COMM_HOST_SHARED_PAGE_H

#include "runtime/comm/host/rendezvous.h"

#include <sys/types.h>

namespace zero::rt {

/// Memory without a name in any file system: it is gone when the last process that has it ends,
/// however it ends.
struct SharedPage {
  int descriptor = -1; ///< in the process that made it, until it is closed
  std::shared_ptr<RendezvousPage> page;
};

/// Makes the page of `ranks` ranks. `token` tells it from those of other jobs. The caller closes
/// the descriptor when the others have opened the page.
Status createSharedPage(int ranks, uint64_t token, SharedPage &shared);

/// Opens the page that `process` of this machine has made. Fails if that has no such page, as where
/// a process of another machine or container has this number.
Status openSharedPage(pid_t process, int descriptor, int ranks, uint64_t token,
                      std::shared_ptr<RendezvousPage> &page);

} // namespace zero::rt

#endif // RUNTIME_COMM_HOST_SHARED_PAGE_H
