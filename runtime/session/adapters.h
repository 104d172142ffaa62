//===- adapters.h - PEFT's description of adapters --------------*- C++ -*-===//

#ifndef RUNTIME_SESSION_ADAPTERS_H
#define RUNTIME_SESSION_ADAPTERS_H

#include "runtime/load/program.h"

#include <string>

namespace zero::rt {

/// The content of adapter_config.json for the adapters that the program trains; empty if there are
/// none, or if it trains other parameters, too, which no file of adapters has.
std::string adapterConfigOf(const proto::Program &program);

} // namespace zero::rt

#endif // RUNTIME_SESSION_ADAPTERS_H
