//===- MeshAxes.cpp - the flag --mesh -------------------------------------===//

#include "zero/Options/MeshAxes.h"

#include "runtime/support/checked.h"

#include "llvm/ADT/StringExtras.h"

namespace zero {

static constexpr llvm::StringLiteral kNames[] = {"data", "context", "tensor"};
/// More ranks than this are a typing error.
static constexpr int64_t kMost = 1 << 20;

int64_t axisSize(const MeshAxes &axes, llvm::StringRef name) {
  for (const auto &[axis, size] : axes)
    if (axis == name)
      return size;
  return 1;
}

bool isDataParallel(const MeshAxes &axes) {
  return llvm::all_of(axes,
                      [](const auto &axis) { return axis.first == "data" || axis.second == 1; });
}

std::string parseMesh(llvm::StringRef text, MeshAxes &axes) {
  int64_t sizes[std::size(kNames)] = {};
  for (llvm::StringRef part : llvm::split(text, ',')) {
    if (text.empty())
      break;
    auto [name, number] = part.split('=');
    const auto *known = llvm::find(kNames, name.trim());
    if (known == std::end(kNames))
      return "expected axes 'data', 'context' and 'tensor', as in data=2,tensor=4, got '" +
             part.str() + "'";
    int64_t &size = sizes[known - kNames];
    if (size != 0)
      return "expected each axis once, got '" + name.str() + "' twice";
    if (!parseInteger(std::string_view(number.trim()), size) || size < 1 || size > kMost)
      return "expected a number of ranks from 1 to " + std::to_string(kMost) + " along '" +
             name.trim().str() + "', got '" + number.str() + "'";
  }
  axes.clear();
  for (auto [name, size] : llvm::zip_equal(kNames, sizes))
    if (size > 1 || name != "context")
      axes.emplace_back(name.str(), std::max<int64_t>(size, 1));
  return "";
}

} // namespace zero
