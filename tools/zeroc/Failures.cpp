//===- Failures.cpp - failures of zeroc -----------------------------------===//

#include "Failures.h"

#include "runtime/support/temporary.h"
#include "tools/process/faults.h"
#include "tools/process/process.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>

namespace zero {

static void onFatalError(void *, const char *reason, bool) { process::endByError({reason}); }

static void onNoMemory(void *, const char *, bool) { process::endForMemory(); }

static void onCrash(void *) { rt::removeTemporaries(/*isFailure=*/false); }

void beginProcess() {
  process::begin("zeroc", process::Ending::AtOnce);
  llvm::install_fatal_error_handler(onFatalError);
  llvm::install_bad_alloc_error_handler(onNoMemory);
  // Has LLVM put its handlers before ours now, rather than with its first temporary file. They
  // take signals that are ignored, too.
  llvm::sys::AddSignalHandler(onCrash, nullptr);
  process::restoreIgnored();
  process::catchFaults();
  std::signal(SIGPIPE, SIG_IGN);
}

bool finishOutput() {
  llvm::raw_fd_ostream &os = llvm::outs();
  os.flush();
  const std::error_code error = os.error();
  os.clear_error();
  if (!error || error == std::errc::broken_pipe)
    return true;
  llvm::errs() << "zeroc: error: cannot write to standard output: " << error.message() << "\n";
  return false;
}

} // namespace zero
