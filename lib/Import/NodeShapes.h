//===- NodeShapes.h - shapes of a node for checks ---------------*- C++ -*-===//

#ifndef LIB_IMPORT_NODESHAPES_H
#define LIB_IMPORT_NODESHAPES_H

#include "Fold.h"
#include "NodeRules.h"

#include "llvm/ADT/STLExtras.h"

namespace zero::importer {

/// "[2,3]".
inline std::string print(llvm::ArrayRef<int64_t> dims) {
  std::string text = "[";
  for (auto [i, dim] : llvm::enumerate(dims))
    text += (i ? "," : "") + std::to_string(dim);
  return text + "]";
}

/// One node and the shapes of its operands and results.
class NodeShapes {
public:
  NodeShapes(const pb::NodeProto &node, TypeOf typeOf) : node(node) {
    for (const std::string &name : node.input())
      inputs.push_back(name.empty() ? nullptr : typeOf(name));
    for (const std::string &name : node.output())
      outputs.push_back(name.empty() ? nullptr : typeOf(name));
  }

  bool has(unsigned index) const { return index < inputs.size() && inputs[index]; }
  llvm::ArrayRef<int64_t> dims(unsigned index) const { return inputs[index]->dims; }
  llvm::ArrayRef<int64_t> result() const { return outputs[0]->dims; }
  int64_t rank(unsigned index) const { return inputs[index]->dims.size(); }
  int64_t attribute(llvm::StringRef name, int64_t fallback) const {
    return evaluatedNode(node).getInt(name, fallback);
  }

  std::optional<Dims> attributes(llvm::StringRef name) const {
    return evaluatedNode(node).getInts(name);
  }

  [[noreturn]] void refuse(const llvm::Twine &message) const {
    fail(describe(node) + ": " + message);
  }

  int32_t type(unsigned index) const { return inputs[index]->type; }

  std::string operand(unsigned index) const {
    return "operand " + quote(node.input(static_cast<int>(index)));
  }

  /// The attribute `axis`, counted from the front, of a tensor of `rank`.
  int64_t axis(int64_t fallback, int64_t rank) const {
    const int64_t axis = attribute("axis", fallback);
    if (axis < -rank || axis >= rank)
      refuse("expected an axis of " + llvm::Twine(-rank) + " to " + llvm::Twine(rank - 1) +
             ", got " + llvm::Twine(axis));
    return axis < 0 ? axis + rank : axis;
  }

  /// ONNX's inference takes any number for a truth value, each place in its own way.
  void expectSwitch(llvm::StringRef name) const {
    if (int64_t value = attribute(name, 0); value != 0 && value != 1)
      refuse("expected " + name + " of 0 or 1, got " + llvm::Twine(value));
  }

  void expectDims(unsigned index, llvm::ArrayRef<int64_t> expected) const {
    if (has(index) && dims(index) != expected)
      refuse(operand(index) + ": expected shape " + print(expected) + ", got " +
             print(dims(index)));
  }

  void expectRank(unsigned index, int64_t least) const {
    if (rank(index) < least)
      refuse(operand(index) + ": expected at least " + llvm::Twine(least) + " dimensions, got " +
             print(dims(index)));
  }

  /// A scalar or a tensor of one element.
  void expectOne(unsigned index) const {
    if (has(index) && llvm::any_of(dims(index), [](int64_t dim) { return dim != 1; }))
      refuse(operand(index) + ": expected one element, got shape " + print(dims(index)));
  }

  /// That operand `index` broadcasts to `to` without changing it.
  void expectBroadcast(unsigned index, llvm::ArrayRef<int64_t> to) const {
    if (!has(index))
      return;
    llvm::ArrayRef<int64_t> from = dims(index);
    bool fits = from.size() <= to.size();
    if (fits)
      for (auto [dim, target] : llvm::zip_equal(from, to.take_back(from.size())))
        fits &= dim == 1 || dim == target;
    if (!fits)
      refuse(operand(index) + ": expected a shape that broadcasts to " + print(to) + ", got " +
             print(from));
  }

private:
  const pb::NodeProto &node;
  llvm::SmallVector<const TensorShape *> inputs, outputs;
};

} // namespace zero::importer

#endif // LIB_IMPORT_NODESHAPES_H
