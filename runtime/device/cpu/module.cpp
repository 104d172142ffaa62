//===- module.cpp - the code section, loaded ------------------------------===//

#include "runtime/device/cpu/module.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace zero::rt {

Module::~Module() {
  if (handle)
    ::dlclose(handle);
  if (descriptor >= 0)
    ::close(descriptor);
}

NativeKernel Module::find(const std::string &symbol) const {
  void *address = handle ? ::dlsym(handle, symbol.c_str()) : nullptr;
  return reinterpret_cast<NativeKernel>(address);
}

static Status writeAll(int descriptor, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno != EINTR)
      return fail(ZERO_RT_IO, "cannot place the code in memory: %s", std::strerror(errno));
    if (put > 0)
      bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return {};
}

Status Module::load(const proto::Program &program, std::span<const uint8_t> code,
                    std::shared_ptr<Module> &module) {
  std::shared_ptr<Module> made(new Module);
  if (!code.empty()) {
    made->descriptor = ::memfd_create("zero-code", MFD_CLOEXEC);
    if (made->descriptor < 0)
      return fail(ZERO_RT_IO, "cannot place the code in memory: %s", std::strerror(errno));
    ZERO_RT_TRY(writeAll(made->descriptor, code));
    std::string path = "/proc/self/fd/" + std::to_string(made->descriptor);
    made->handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!made->handle)
      return fail(ZERO_RT_BAD_FILE, "cannot load the code section: %s", ::dlerror());
  }
  for (const proto::Kernel &kernel : program.kernels())
    if (kernel.body_case() == proto::Kernel::kSymbol && !made->find(kernel.symbol()))
      return fail(ZERO_RT_BAD_FILE, "kernel '%s': the code section has no symbol '%s'",
                  escape(kernel.name()).c_str(), escape(kernel.symbol()).c_str());
  module = std::move(made);
  return {};
}

} // namespace zero::rt
