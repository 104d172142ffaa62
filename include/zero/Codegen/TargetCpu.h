//===- TargetCpu.h - the processor that kernels are compiled for -*- C++ -*-===//

#ifndef ZERO_CODEGEN_TARGETCPU_H
#define ZERO_CODEGEN_TARGETCPU_H

#include "dialects/Zero/Zero.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace zero {

/// The processor that the kernels of a module are compiled for, a CpuAttr. Set by
/// zero-match-library.
inline constexpr llvm::StringLiteral kTargetCpuAttr = "zero.target_cpu";

/// The word for the processor of this machine.
inline constexpr llvm::StringLiteral kNativeCpu = "native";

/// What was expected instead of `name`, if it is no processor or one without fused multiply-add;
/// otherwise "".
std::string checkTargetCpu(llvm::StringRef name);

/// The target for the processor that LLVM or GCC call `name`, for a level of the x86-64 psABI, for
/// `aarch64[:FEATURE,...]`, or for this machine if it is "native". Fails with a message if LLVM
/// does not know the name.
llvm::Expected<CpuAttr> findTargetCpu(mlir::MLIRContext *context, llvm::StringRef name);

/// The target for this machine.
CpuAttr hostCpu(mlir::MLIRContext *context);

/// The target of `module`; this machine if it names none.
CpuAttr targetCpuOf(mlir::ModuleOp module);

/// Whether `cpu` is a 64-bit ARM processor.
bool isArm(CpuAttr cpu);

/// The processor features that code for `cpu` may use, as names of LLVM separated by spaces. On
/// ARM, the first word is `aarch64`.
std::string isaOf(CpuAttr cpu);

/// What LLVM generates code for, in its own words.
struct CodeMachine {
  std::string triple, cpu, features;
};

CodeMachine codeMachineOf(CpuAttr cpu);

} // namespace zero

#endif // ZERO_CODEGEN_TARGETCPU_H
