//===- UpdateNorms.cpp - norms that updates of a whole step read ----------===//

#include "UpdateSearch.h"

using namespace mlir;

namespace zero {

/// The gradient of which `node` computes a norm; else null.
Value UpdateSearch::normOf(onnx::NodeOp node) const {
  Value value = normedBy(node);
  return gradients.contains(value) ? value : Value();
}

/// Finds the ratio of norms that scales the step of `update`, if there is one: a function of the
/// norm of the parameter and of that of one other value of its shape, the direction.
LogicalResult UpdateSearch::findLayerRatio(LiftedUpdate &update) {
  ScalarNodes scalars = collectScalarNodes(step, update.localScalars);
  Value weight = update.parameter.read.getResult();
  LayerRatio layer;
  llvm::SetVector<Value> norms;
  for (Value leaf : scalars.leaves) {
    auto node = leaf.getDefiningOp<onnx::NodeOp>();
    Value normed = normedBy(node);
    if (!normed || gradients.contains(normed) || !sameShape(normed, weight))
      continue;
    norms.insert(leaf);
    (normed == weight ? layer.ofWeight : layer.ofDirection) = node;
    if (normed != weight && layer.direction && layer.direction != normed)
      return emitError(node.getLoc())
             << "parameter '" << update.parameter.state.getSymName()
             << "': expected its update to depend on the norms of the parameter and of one "
                "direction; the second direction is "
             << describe(normed);
    if (normed != weight)
      layer.direction = normed;
  }
  if (!layer.direction)
    return success();
  LayerScalars sorted = sortScalars(scalars, update.localScalars, norms);
  if (sorted.ends.size() != 1 || !getElementTypeOrSelf(sorted.ends.front()).isF32())
    return emitError(layer.ofDirection.getLoc())
           << "parameter '" << update.parameter.state.getSymName()
           << "': expected its update to read one f32 function of the norms of the parameter and "
              "its direction, their ratio; it reads "
           << sorted.ends.size();
  layer.ratio = sorted.ends.front();
  for (onnx::NodeOp node : scalars.nodes)
    if (Value value = node.getResult(0); sorted.pure.contains(value))
      layer.nodes.push_back(node);
    else if (llvm::any_of(node.getInputs(), [&](Value operand) {
               operand = skipViews(operand);
               return operand == layer.ratio || ofRatios.contains(operand);
             }))
      ofRatios.insert(value);
  // Ranks compute the norms together. What follows from them is equal on all.
  for (Value value : sorted.pure)
    local.erase(value);
  update.layer = std::move(layer);
  return success();
}

/// Goes back from `open` to norms of gradients. Returns the first value that ranks compute
/// differently and that follows from others; null if there is none.
Value UpdateSearch::searchNorms(SmallVector<Value> open, NormSearch &search) const {
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!isLocal(value) || !search.seen.insert(value).second)
      continue;
    // Kernels of updates compute what follows from ratios.
    if (ofRatios.contains(value)) {
      llvm::append_range(open, value.getDefiningOp()->getOperands());
      continue;
    }
    auto node = value.getDefiningOp<onnx::NodeOp>();
    if (Value gradient = normOf(node)) {
      search.norms.push_back({node, gradient});
    } else if (!node || isForward(value) || gradients.contains(value)) {
      return value;
    } else {
      search.between.insert(node);
      llvm::append_range(open, node.getInputs());
    }
  }
  return {};
}

/// Finds the norms that the local scalars of updates are computed from, and the nodes between.
/// State of one element that follows from norms as well, such as a loss scale, is equal on all
/// ranks.
LogicalResult UpdateSearch::findNorms(LiftedStep &result) {
  SmallVector<Value> roots;
  for (LiftedUpdate &update : result.updates)
    llvm::append_range(roots, update.localScalars);
  NormSearch search;
  if (Value value = searchNorms(std::move(roots), search)) {
    InFlightDiagnostic error =
        emitError(value.getLoc())
        << "updates read a scalar that ranks compute differently: expected a function of the "
           "norms of gradients (ReduceL2, ReduceSumSquare, or "
           "ReduceSum of squares over all elements), which ranks compute together";
    error.attachNote(value.getLoc()) << "each rank computes its own " << describe(value);
    return error;
  }
  for (auto &[symbol, entry] : carried) {
    Value next = entry.write.getValue();
    NormSearch all = search;
    if (!owned.contains(symbol) && isScalar(next) && !searchNorms({next}, all))
      search = std::move(all);
  }
  result.norms = std::move(search.norms);
  for (auto node : step.getOps<onnx::NodeOp>())
    if (search.between.contains(node))
      result.normNodes.push_back(node);
  // What follows from norms over all ranks is equal on them.
  for (onnx::NodeOp node : result.normNodes)
    for (Value made : node->getResults())
      local.erase(made);
  for (GradientNorm &norm : result.norms)
    local.erase(norm.node.getResult(0));
  llvm::sort(result.norms, [&](GradientNorm &a, GradientNorm &b) {
    return positions.lookup(a.node) < positions.lookup(b.node);
  });
  return success();
}

} // namespace zero
