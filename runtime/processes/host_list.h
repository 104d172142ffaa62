//===- host_list.h - lists of hosts as Slurm writes them --------*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_HOST_LIST_H
#define RUNTIME_PROCESSES_HOST_LIST_H

#include "runtime/support/status.h"

#include <string>
#include <string_view>

namespace zero::rt {

/// The first host of a list such as "node[003-005,8],x1": "node003". A name may have several
/// brackets, and text after them.
Status firstHost(std::string_view list, std::string &host);

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_HOST_LIST_H
