//===- processor.cpp - the processor of this machine ----------------------===//

#include "runtime/support/processor.h"

#include <algorithm>
#include <fstream>

namespace zero::rt {

std::string processorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      return line.substr(std::min(line.find(": ") + 2, line.size()));
  return "cpu";
}

} // namespace zero::rt
