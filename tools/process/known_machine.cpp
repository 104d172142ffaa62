//===- known_machine.cpp - a cached description of this machine -----------===//

#include "tools/process/known_machine.h"

#include "runtime/format/machine_file.h"
#include "runtime/support/processor.h"
#include "runtime/support/thread.h"

#include <algorithm>
#include <filesystem>

using namespace zero::rt;

namespace zero::process {

uint64_t measuredRanks(uint64_t ranks, uint64_t threads) {
  return std::min(ranks, std::max<uint64_t>(uint64_t(usableCores()) / threads, 1));
}

std::string machineFile(const std::string &folder, uint64_t measured, uint64_t threads) {
  return folder.empty() ? ""
                        : folder + "/machine-" + std::to_string(measured) + "x" +
                              std::to_string(threads) + ".json";
}

bool isCurrent(const std::string &path, uint64_t measured, uint64_t threads) {
  proto::Machine machine;
  return std::filesystem::exists(path) && readMachine(path, machine).ok() &&
         machine.name() == processorName() && machine.cores() == uint32_t(usableCores()) &&
         machine.ranks() == measured && machine.threads() == threads;
}

} // namespace zero::process
