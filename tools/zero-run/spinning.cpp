//===- spinning.cpp - spinning of OpenMP threads --------------------------===//

#include "spinning.h"
#include "tools/process/process.h"

#include <cstdlib>
#include <unistd.h>

namespace zero::run {

void limitSpinning(char **arguments) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT") || process::interruption())
    return;
  // About 50 us: longer than the time between two kernels, shorter than a time slice.
  if (::setenv("GOMP_SPINCOUNT", "1000", 0) == 0)
    process::restart(arguments);
}

} // namespace zero::run
