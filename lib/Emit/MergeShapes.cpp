//===- MergeShapes.cpp - the programs of several shapes as one ------------===//

#include "MergeShapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace llvm;

namespace zero {

namespace proto = rt::proto;

/// Equal for kernels that do the same; their names may differ.
static std::string contentOf(proto::Kernel kernel) {
  kernel.clear_name();
  return kernel.SerializeAsString();
}

/// Moves the kernels of `shape` to `first`, and makes the launches of `shape` name them there.
/// `known`: the kernels of `first`, by content.
static void moveKernels(proto::Program &first, proto::Program &shape, StringMap<uint32_t> &known) {
  SmallVector<uint32_t> moved;
  for (proto::Kernel &kernel : *shape.mutable_kernels()) {
    auto [place, isNew] = known.try_emplace(contentOf(kernel), first.kernels_size());
    if (isNew)
      *first.add_kernels() = std::move(kernel);
    moved.push_back(place->second);
  }
  shape.clear_kernels();
  for (proto::Segment &segment : *shape.mutable_segments())
    for (proto::Command &command : *segment.mutable_commands())
      if (command.has_launch())
        command.mutable_launch()->set_kernel(moved[command.launch().kernel()]);
}

/// Moves the constants of `shape`, whose bytes are `from`, to `data`.
static void moveConstants(proto::Program &shape, StringRef from, std::string &data) {
  constexpr uint64_t kAlignment = 64; // as within one program
  data.resize(alignTo(data.size(), kAlignment));
  for (proto::Tensor &tensor : *shape.mutable_tensors())
    if (tensor.init().has_data()) {
      proto::Init::Range &range = *tensor.mutable_init()->mutable_data();
      range.set_offset(range.offset() + data.size());
    }
  data.append(from.begin(), from.end());
}

/// Gives all programs of `tables` arenas of the same sizes, in the same order.
static void unifyArenas(MutableArrayRef<Tables> tables) {
  std::map<proto::Tier, proto::Arena> largest;
  for (const Tables &each : tables)
    for (const proto::Arena &arena : each.program.arenas()) {
      proto::Arena &most = largest.try_emplace(arena.tier(), arena).first->second;
      most.set_bytes(std::max(most.bytes(), arena.bytes()));
    }
  for (Tables &each : tables) {
    each.program.clear_arenas();
    for (const auto &[tier, arena] : largest)
      *each.program.add_arenas() = arena;
  }
}

void mergeShapes(MutableArrayRef<Tables> tables) {
  if (tables.size() == 1)
    return;
  unifyArenas(tables);
  auto &[first, data, kernels] = tables.front();
  StringMap<uint32_t> known;
  for (auto [index, kernel] : enumerate(first.kernels()))
    known.try_emplace(contentOf(kernel), index);
  for (Tables &each : tables.drop_front()) {
    moveKernels(first, each.program, known);
    moveConstants(each.program, each.data, data);
    *first.add_shapes() = std::move(each.program);
  }
}

} // namespace zero
