//===- ArmCores.h - features of 64-bit ARM processors -----------*- C++ -*-===//

#ifndef LIB_CODEGEN_OBJECT_ARMCORES_H
#define LIB_CODEGEN_OBJECT_ARMCORES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace zero {

/// The name of 64-bit ARM, as a target and in executables, and the feature that all code for it
/// uses. A machine of ARMv8-A without it runs no operating system.
inline constexpr llvm::StringLiteral kArm = "aarch64", kArmBaseline = "neon";

/// The features of kernels, beyond the baseline, that `has` contains: names of LLVM, separated by
/// spaces.
std::string chooseArmFeatures(llvm::function_ref<bool(llvm::StringRef)> has);

/// The same of `name`: `aarch64`, `aarch64:FEATURE,...` or a core that LLVM knows. Nothing, if it
/// is none of them.
std::optional<std::string> armFeaturesOf(llvm::StringRef name);

/// What was expected instead of `name`, which is no ARM processor but begins like one; otherwise
/// "".
std::string expectedArm(llvm::StringRef name);

/// The form of a target with chosen features.
std::string armForm();

} // namespace zero

#endif // LIB_CODEGEN_OBJECT_ARMCORES_H
