//===- Presets.h - machine presets ------------------------------*- C++ -*-===//

#ifndef LIB_MACHINE_PRESETS_H
#define LIB_MACHINE_PRESETS_H

#include <span>
#include <string_view>

namespace zero {

struct Preset {
  std::string_view name, json;
};

/// The files of presets/, which CMake makes a source of.
std::span<const Preset> presets();

} // namespace zero

#endif // LIB_MACHINE_PRESETS_H
