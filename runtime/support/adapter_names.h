//===- adapter_names.h - the names of PEFT's adapters -----------*- C++ -*-===//
// The compiler gives adapters these names, and files of weights have them.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SUPPORT_ADAPTER_NAMES_H
#define RUNTIME_SUPPORT_ADAPTER_NAMES_H

#include <string>
#include <string_view>

namespace zero::rt {

/// PEFT calls a model that it adapts base_model.model.
inline constexpr std::string_view kAdapterPrefix = "base_model.model.";
/// Behind the name of the module, the names of A, of [size, inputs], and B, of [outputs, size].
inline constexpr std::string_view kAdapterFirst = ".lora_A.weight";
inline constexpr std::string_view kAdapterSecond = ".lora_B.weight";
/// Of the norms of the adapted weights of each output (DoRA).
inline constexpr std::string_view kAdapterMagnitude = ".lora_magnitude_vector";
/// How all of these begin, and the name of the adapted layer beside them.
inline constexpr std::string_view kAdapterAny = ".lora_", kAdaptedLayer = ".base_layer";

/// The name of a parameter of the adapter of `module`.
inline std::string adapterName(std::string_view module, std::string_view suffix) {
  return std::string(kAdapterPrefix).append(module).append(suffix);
}

/// Whether a tensor of this name belongs to an adapter of --lora.
inline bool isOfAdapter(std::string_view name) {
  return name.starts_with(kAdapterPrefix) &&
         (name.ends_with(kAdapterFirst) || name.ends_with(kAdapterSecond) ||
          name.ends_with(kAdapterMagnitude));
}

/// The module whose adapter has the matrix A of this name; empty if it is none.
inline std::string moduleOfAdapter(std::string_view name) {
  if (!isOfAdapter(name) || !name.ends_with(kAdapterFirst))
    return "";
  name.remove_prefix(kAdapterPrefix.size());
  name.remove_suffix(kAdapterFirst.size());
  return std::string(name);
}

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_ADAPTER_NAMES_H
