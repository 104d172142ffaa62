//===- isa.h - features of this machine's CPU -------------------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_ISA_H
#define RUNTIME_FORMAT_ISA_H

#include <string_view>
#include <vector>

namespace zero::rt {

/// The first word of the features of code for AArch64. Those of code for x86-64 have no such word.
inline constexpr std::string_view kAArch64 = "aarch64";

/// The features of this CPU among those that .zexe files may ask for, in LLVM's names. On AArch64
/// kAArch64 is the first.
std::vector<std::string_view> hostFeatures();

} // namespace zero::rt

#endif // RUNTIME_FORMAT_ISA_H
