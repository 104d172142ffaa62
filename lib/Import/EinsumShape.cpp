//===- EinsumShape.cpp - the shape of an Einsum ---------------------------===//

#include "EinsumShape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using llvm::StringRef;

namespace zero::importer {

/// Calls `visit` with each index of `term` and its dimension in a tensor of `rank`. Dimensions that
/// an ellipsis covers have none.
static void forEachIndexOf(StringRef term, int64_t rank,
                           llvm::function_ref<void(char, int64_t)> visit) {
  auto [front, back] = term.split("...");
  const auto letters = static_cast<int64_t>(front.size() + back.size());
  if (letters > rank)
    return;
  for (auto [dim, index] : llvm::enumerate(front))
    visit(index, static_cast<int64_t>(dim));
  for (auto [dim, index] : llvm::enumerate(back))
    visit(index, rank - static_cast<int64_t>(back.size() - dim));
}

void broadcastEinsum(const pb::NodeProto &node, TypeOf typeOf, pb::TypeProto &type) {
  if (!node.domain().empty() || node.op_type() != "Einsum" || node.attribute_size() == 0)
    return;
  std::string equation = node.attribute(0).s();
  llvm::erase(equation, ' ');
  auto [left, right] = StringRef(equation).split("->");
  llvm::SmallVector<StringRef> terms;
  left.split(terms, ',');
  std::map<char, int64_t> extents;
  for (auto [term, name] : llvm::zip(terms, node.input()))
    if (const TensorShape *operand = typeOf(name))
      forEachIndexOf(term, static_cast<int64_t>(operand->dims.size()),
                     [&](char index, int64_t dim) {
                       int64_t &extent = extents.try_emplace(index, 1).first->second;
                       extent = extent == 1 ? operand->dims[dim] : extent;
                     });
  auto &shape = *type.mutable_tensor_type()->mutable_shape();
  forEachIndexOf(right, shape.dim_size(), [&](char index, int64_t dim) {
    if (auto it = extents.find(index); it != extents.end())
      shape.mutable_dim(static_cast<int>(dim))->set_dim_value(it->second);
  });
}

} // namespace zero::importer
