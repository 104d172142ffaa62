//===- ArmCores.cpp - features of 64-bit ARM processors -------------------===//
//
// Kernels use the features of which LLVM makes other code than of ARMv8-A alone. The names of
// cores, and which features need which others, are LLVM's.
//
//===----------------------------------------------------------------------===//

#include "ArmCores.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/AArch64TargetParser.h"

using namespace llvm;

namespace zero {

/// Features that can be chosen, in the order in which executables list them.
static constexpr AArch64::ArchExtKind kFeatures[] = {
    AArch64::AEK_FP16, AArch64::AEK_BF16, AArch64::AEK_DOTPROD, AArch64::AEK_I8MM, AArch64::AEK_SVE,
};

/// The name of a feature in flags.
static StringRef wordOf(AArch64::ArchExtKind feature) {
  return AArch64::getExtensionByID(feature).UserVisibleName;
}

/// The name of a feature for LLVM's code generation.
static StringRef nameOf(AArch64::ArchExtKind feature) {
  return AArch64::getExtensionByID(feature).PosTargetFeature.drop_front();
}

static std::string words() { return join(map_range(kFeatures, wordOf), ","); }

std::string armForm() { return (kArm + "[:" + words() + "]").str(); }

std::string chooseArmFeatures(function_ref<bool(StringRef)> has) {
  return join(make_filter_range(map_range(kFeatures, nameOf), has), " ");
}

static std::string chooseFrom(const AArch64::ExtensionSet &extensions) {
  return chooseArmFeatures([&](StringRef name) {
    return any_of(kFeatures, [&](AArch64::ArchExtKind feature) {
      return nameOf(feature) == name && extensions.Enabled.test(feature);
    });
  });
}

/// The first word of `list`, separated by commas, that is no feature.
static std::optional<StringRef> findUnknown(StringRef list) {
  for (StringRef word : split(list, ','))
    if (!is_contained(map_range(kFeatures, wordOf), word))
      return word;
  return std::nullopt;
}

std::optional<std::string> armFeaturesOf(StringRef name) {
  AArch64::ExtensionSet extensions;
  auto [core, list] = name.split(':');
  if (core == kArm) {
    if (name.contains(':') && findUnknown(list))
      return std::nullopt;
    for (AArch64::ArchExtKind feature : kFeatures)
      if (is_contained(split(list, ','), wordOf(feature)))
        extensions.enable(feature);
    return chooseFrom(extensions);
  }
  std::optional<AArch64::CpuInfo> known = AArch64::parseCpu(name);
  // "generic" names no architecture.
  if (!known || known->Arch.Profile != AArch64::AProfile || name == "generic")
    return std::nullopt;
  extensions.addCPUDefaults(*known);
  return chooseFrom(extensions);
}

std::string expectedArm(StringRef name) {
  auto [core, list] = name.split(':');
  if (core == kArm)
    return "features among " + words() + " instead of '" + findUnknown(list)->str() + "'";
  const StringRef vendor = name.split('-').first;
  SmallVector<StringRef> cores;
  AArch64::fillValidCPUArchList(cores);
  erase_if(cores, [&](StringRef known) {
    return known.split('-').first != vendor || !armFeaturesOf(known);
  });
  return cores.empty() ? "" : "one of " + join(cores, ", ");
}

} // namespace zero
