//===- Register.cpp - registers passes for tests --------------------------===//

#include "test/lib/Passes.h"

namespace zero {
/// tools/zero-opt/CommandLine.h declares it.
void registerTestPasses() { registerZeroTestPasses(); }
} // namespace zero
