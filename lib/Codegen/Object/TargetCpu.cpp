//===- TargetCpu.cpp - the processor that kernels are compiled for --------===//
//
// Native code is generated for a level of the x86-64 psABI, or for ARMv8-A with chosen features,
// instead of an exact processor. All machines of that level get the same code, and a runtime can
// check the list of features. Features beyond the level are those for which the library has other
// kernels, and on ARM those for which LLVM generates other code.
//
//===----------------------------------------------------------------------===//

#include "zero/Codegen/TargetCpu.h"

#include "ArmCores.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace mlir;

namespace zero {

namespace {
/// A level of the x86-64 psABI and the features it adds to the previous one.
struct Level {
  StringLiteral name, features;
};
} // namespace

static constexpr StringLiteral kBaseline = "x86-64";
static constexpr Level kLevels[] = {
    {"x86-64-v2", "cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3"},
    {"x86-64-v3", "avx avx2 bmi bmi2 f16c fma lzcnt movbe"},
    {"x86-64-v4", "avx512bw avx512cd avx512dq avx512f avx512vl"},
};
/// Used in addition to the highest level.
static constexpr StringLiteral kFurtherFeatures = "avx512bf16";

namespace {
struct Choice {
  StringRef level;
  std::string features;
};
} // namespace

/// The highest level of which `has` contains all features, and the further features that it has.
static Choice choose(llvm::function_ref<bool(StringRef)> has) {
  Choice choice{kBaseline, ""};
  for (const Level &level : kLevels) {
    SmallVector<StringRef> features;
    level.features.split(features, ' ');
    if (!llvm::all_of(features, has))
      return choice;
    choice.level = level.name;
  }
  if (has(kFurtherFeatures))
    choice.features = kFurtherFeatures;
  return choice;
}

static Choice chooseFor(StringRef name) {
  if (std::optional<std::string> features = armFeaturesOf(name))
    return {kArm, *features};
  SmallVector<StringRef> features;
  llvm::X86::getFeaturesForCPU(name, features);
  llvm::StringMap<bool> has;
  for (StringRef feature : features) {
    has[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, /*Enabled=*/true, has);
  }
  return choose([&](StringRef feature) { return has.lookup(feature); });
}

static CpuAttr toAttribute(MLIRContext *context, const Choice &choice) {
  return CpuAttr::get(context, StringAttr::get(context, choice.level),
                      choice.features.empty() ? StringAttr()
                                              : StringAttr::get(context, choice.features));
}

CpuAttr hostCpu(MLIRContext *context) {
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto has = [&](StringRef name) { return features.lookup(name); };
  switch (llvm::Triple(llvm::sys::getProcessTriple()).getArch()) {
  case llvm::Triple::x86_64:
    return toAttribute(context, choose(has));
  case llvm::Triple::aarch64:
    return toAttribute(context, {kArm, chooseArmFeatures(has)});
  default:
    return toAttribute(context, {llvm::sys::getHostCPUName(), ""});
  }
}

std::string checkTargetCpu(StringRef name) {
  if (name == kNativeCpu || armFeaturesOf(name))
    return "";
  SmallVector<StringRef> known;
  llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
  if (!llvm::is_contained(known, name)) {
    std::string expected = expectedArm(name);
    return !expected.empty() ? expected
                             : "native, a level such as x86-64-v3, " + armForm() +
                                   ", or a processor such as znver4 or cortex-a76";
  }
  // Updates multiply and add with one rounding.
  const StringRef level = chooseFor(name).level;
  if (level == kBaseline || level == kLevels[0].name)
    return "a processor with the features of x86-64-v3";
  return "";
}

llvm::Expected<CpuAttr> findTargetCpu(MLIRContext *context, StringRef name) {
  if (std::string expected = checkTargetCpu(name); !expected.empty())
    return llvm::createStringError("expected " + expected + ", got '" + name + "'");
  return name == kNativeCpu ? hostCpu(context) : toAttribute(context, chooseFor(name));
}

CpuAttr targetCpuOf(ModuleOp module) {
  auto cpu = module->getAttrOfType<CpuAttr>(kTargetCpuAttr);
  return cpu ? cpu : hostCpu(module.getContext());
}

bool isArm(CpuAttr cpu) { return cpu.getLevel() == kArm; }

std::string isaOf(CpuAttr cpu) {
  SmallVector<StringRef> features;
  const auto *level = llvm::find_if(
      kLevels, [&](const Level &level) { return level.name == cpu.getLevel().getValue(); });
  if (level != std::end(kLevels))
    for (const Level &included : llvm::make_range(std::begin(kLevels), level + 1))
      features.push_back(included.features);
  if (isArm(cpu))
    features.append({kArm, kArmBaseline});
  if (cpu.getFeatures())
    features.push_back(cpu.getFeatures());
  return llvm::join(features, " ");
}

/// The triple of this process, if it is one of `arch`: objects then do not depend on the name of a
/// triple.
static llvm::Triple linuxTriple(llvm::Triple::ArchType arch) {
  llvm::Triple host(llvm::sys::getProcessTriple());
  return host.getArch() == arch
             ? host
             : llvm::Triple(llvm::Triple::getArchTypeName(arch), "unknown", "linux", "gnu");
}

CodeMachine codeMachineOf(CpuAttr cpu) {
  const StringRef level = cpu.getLevel().getValue();
  if (isArm(cpu)) {
    SmallVector<StringRef> features{kArmBaseline};
    if (cpu.getFeatures())
      cpu.getFeatures().getValue().split(features, ' ');
    return {linuxTriple(llvm::Triple::aarch64).str(), "generic", "+" + llvm::join(features, ",+")};
  }
  // The features beyond a level are those of the library.
  const bool isX86 = level.starts_with(kBaseline);
  return {isX86 ? linuxTriple(llvm::Triple::x86_64).str() : llvm::sys::getProcessTriple(),
          level.str(), ""};
}

} // namespace zero
