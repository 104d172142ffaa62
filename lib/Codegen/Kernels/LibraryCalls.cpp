//===- LibraryCalls.cpp - workspace of library calls ----------------------===//

#include "zero/Codegen/LibraryCalls.h"

#include "runtime/device/cpu/library.h"
#include "zero/Kernels/KernelMessage.h"

namespace zero {

llvm::Expected<uint64_t> libraryWorkspace(LibraryAttr call, bool isPortable, unsigned threads) {
  rt::proto::Kernel kernel;
  describeCall(call, kernel);
  uint64_t most = 0;
  std::string error;
  // Fewer threads may need more: oneDNN cuts a sum into parts where their number allows it.
  for (unsigned count = 1; count <= threads; ++count) {
    uint64_t bytes = 0;
    error = isPortable ? rt::zero_rt_portable_workspace(kernel, bytes, int(count))
                       : rt::zero_rt_library_workspace(kernel, bytes, int(count));
    most = std::max(most, bytes);
  }
  if (!error.empty())
    return llvm::createStringError(error);
  return most;
}

} // namespace zero
