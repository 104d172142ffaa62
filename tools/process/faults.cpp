//===- faults.cpp - errors of memory faults -------------------------------===//

#include "faults.h"

#include "runtime/support/file.h"
#include "tools/process/process.h"

#include <csignal>
#include <cstring>
#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>

namespace zero::process {

/// The code of oneDNN in this process.
static uintptr_t libraryBegin, libraryEnd;

static int findLibrary(dl_phdr_info *info, size_t, void *) {
  if (!info->dlpi_name || !std::strstr(info->dlpi_name, "libdnnl.so"))
    return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (const ElfW(Phdr) &part = info->dlpi_phdr[i];
        part.p_type == PT_LOAD && (part.p_flags & PF_X)) {
      libraryBegin = info->dlpi_addr + part.p_vaddr;
      libraryEnd = libraryBegin + part.p_memsz;
    }
  return 1;
}

static uintptr_t instructionOf(const void *context) {
#if defined(__x86_64__)
  return uintptr_t(static_cast<const ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return uintptr_t(static_cast<const ucontext_t *>(context)->uc_mcontext.pc);
#else
  return 0;
#endif
}

/// What handled the signals before.
static struct sigaction beforeBus, beforeSegv;

/// After the handler returns the instruction is repeated, and the fault is handled as before.
static void giveUp(int signal) {
  ::sigaction(signal, signal == SIGBUS ? &beforeBus : &beforeSegv, nullptr);
}

static void onBusError(int signal, siginfo_t *info, void *) {
  beginEnd();
  if (const char *path = info->si_code == BUS_ADRERR ? rt::mappedFileAt(info->si_addr) : nullptr)
    endByError(
        {"cannot read '", path, "': it was truncated, or its disk failed, while it was in use"});
  giveUp(signal);
}

/// Whether there is no memory any more.
static bool isMemoryShort() {
  constexpr size_t kProbe = size_t(1) << 20;
  void *memory =
      ::mmap(nullptr, kProbe, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return true;
  ::munmap(memory, kProbe);
  return false;
}

/// Libraries that do not look whether they got memory write to the first addresses then: MLIR with
/// malloc, oneDNN with memory for code. This comes in large pieces, so that there may be some left.
static void onBadAddress(int signal, siginfo_t *info, void *context) {
  constexpr uintptr_t kFirst = uintptr_t(1) << 20;
  beginEnd();
  const uintptr_t instruction = instructionOf(context);
  const bool isFirst = reinterpret_cast<uintptr_t>(info->si_addr) < kFirst;
  if (isFirst && isMemoryShort())
    endForMemory();
  else if (isFirst && instruction >= libraryBegin && instruction < libraryEnd)
    endByError({"out of memory: oneDNN used a null pointer, as where it gets no memory for its "
                "code; limits are those of 'ulimit -v', or of the container"});
  else
    giveUp(signal);
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *),
                   struct sigaction &before) {
  struct sigaction action = {}, old;
  action.sa_flags = SA_SIGINFO;
  ::sigemptyset(&action.sa_mask);
  action.sa_sigaction = handler;
  if (::sigaction(signal, &action, &old) == 0 && old.sa_sigaction != handler)
    before = old;
}

void catchFaults() {
  ::dl_iterate_phdr(findLibrary, nullptr);
  handle(SIGBUS, onBusError, beforeBus);
  handle(SIGSEGV, onBadAddress, beforeSegv);
}

} // namespace zero::process
