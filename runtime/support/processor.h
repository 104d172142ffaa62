//===- processor.h - the processor of this machine --------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_PROCESSOR_H
#define RUNTIME_SUPPORT_PROCESSOR_H

#include <string>

namespace zero::rt {

/// The processor's name in a description of this machine.
std::string processorName();

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_PROCESSOR_H
