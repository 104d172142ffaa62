//===- module.h - the code section, loaded ----------------------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CPU_MODULE_H
#define RUNTIME_DEVICE_CPU_MODULE_H

#include "runtime/format/format.h"

#include <memory>

namespace zero::rt {

/// void symbol(void *const *args, int64_t begin, int64_t end).
using NativeKernel = void (*)(void *const *, int64_t, int64_t);

/// A shared object loaded from memory: no file of it is ever on disk.
class Module {
public:
  ~Module();
  /// Loads `code` and checks that every native kernel of `program` is in it.
  static Status load(const proto::Program &program, std::span<const uint8_t> code,
                     std::shared_ptr<Module> &module);
  /// nullptr when there is no such symbol.
  NativeKernel find(const std::string &symbol) const;

private:
  Module() = default;
  // Kept open: dlopen knows libraries by path, and the path is the descriptor's number.
  int descriptor = -1;
  void *handle = nullptr;
};

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_MODULE_H
