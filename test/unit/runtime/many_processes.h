//===- many_processes.h - groups as of many processes -----------*- C++ -*-===//

#ifndef TEST_UNIT_RUNTIME_MANY_PROCESSES_H
#define TEST_UNIT_RUNTIME_MANY_PROCESSES_H

#include "runtime/comm/host/host_group.h"

/// The ends of a group whose ranks are on `nodes`, by rank. Each rank reads the memory of the
/// others as if it were that of another process; nodes exchange messages through memory.
std::vector<std::unique_ptr<zero::rt::Communicator>>
makeApart(const zero::rt::GroupOptions &options, const std::vector<int> &nodes);

/// All ranks on one node; on three nodes, of unequal size; on nodes of two ranks, the last of which
/// may have one.
std::vector<std::unique_ptr<zero::rt::Communicator>>
makeOneNode(const zero::rt::GroupOptions &options);
std::vector<std::unique_ptr<zero::rt::Communicator>>
makeThreeNodes(const zero::rt::GroupOptions &options);
std::vector<std::unique_ptr<zero::rt::Communicator>>
makePairs(const zero::rt::GroupOptions &options);

#endif // TEST_UNIT_RUNTIME_MANY_PROCESSES_H
