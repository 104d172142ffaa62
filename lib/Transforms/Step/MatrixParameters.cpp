//===- MatrixParameters.cpp - which parameters are matrices ---------------===//

#include "MatrixParameters.h"

#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/Part.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Ops/Axes.h"
#include "zero/Ops/Function.h"
#include "zero/Ops/Tables.h"
#include "zero/Transforms/Import/NamePatterns.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace zero {

ReadOp matrixOf(Value value, std::optional<int64_t> *dim) {
  while (true) {
    if (Value source = throughReshapes(value); source != value) {
      value = source;
      if (dim)
        dim->reset();
    }
    auto node = value.getDefiningOp<onnx::NodeOp>();
    if (!node || !(ops::isIdentity(node) ||
                   ops::computes(node, {ops::Function::Convert, ops::Function::Permute})))
      break;
    if (dim && *dim && ops::computes(node, ops::Function::Permute))
      *dim = permutationOf(node)[**dim];
    value = node.getInputs()[0];
  }
  auto read = value.getDefiningOp<ReadOp>();
  return read && cast<RankedTensorType>(read.getType()).getRank() >= 2 ? read : ReadOp();
}

/// The symbols of matrices that `op` reads.
static SmallVector<StringAttr> matricesOf(Operation *op) {
  SmallVector<StringAttr> symbols;
  for (Value operand : op->getOperands())
    if (ReadOp read = matrixOf(operand))
      symbols.push_back(read.getSymbolAttr().getAttr());
  return symbols;
}

/// The matrices that the last products before `loss` read.
static llvm::DenseSet<StringAttr> findHeads(Value loss) {
  llvm::DenseSet<StringAttr> heads;
  llvm::SmallSetVector<Operation *, 16> open;
  auto add = [&](Value value) {
    if (Operation *producer = value.getDefiningOp())
      open.insert(producer);
  };
  add(loss);
  for (size_t i = 0; i < open.size(); ++i) {
    const SmallVector<StringAttr> read = matricesOf(open[i]);
    heads.insert(read.begin(), read.end());
    if (read.empty())
      llvm::for_each(open[i]->getOperands(), add);
  }
  return heads;
}

/// The matrices that are among the first `count` operands of a node that `reads` them.
static llvm::DenseSet<StringAttr> findReadBy(func::FuncOp step, unsigned count,
                                             llvm::function_ref<bool(onnx::NodeOp)> reads) {
  llvm::DenseSet<StringAttr> matrices;
  for (auto node : step.getBody().getOps<onnx::NodeOp>())
    if (reads(node))
      for (Value input : node.getInputs().take_front(count))
        if (ReadOp read = matrixOf(input))
          matrices.insert(read.getSymbolAttr().getAttr());
  return matrices;
}

/// The orientation of matrices by the products of the forward pass, which read them as the layers
/// of the model do; those of the backward pass read most of them transposed.
static llvm::DenseMap<StringAttr, MatrixOrientation> findOrientations(func::FuncOp step) {
  llvm::DenseMap<StringAttr, MatrixOrientation> orientations;
  for (Operation *op : findForwardOps(step)) {
    auto node = dyn_cast<onnx::NodeOp>(op);
    for (unsigned operand : {0u, 1u}) {
      const std::optional<ops::Factor> outputs = ops::outputFactor(node, operand);
      if (!outputs)
        continue;
      std::optional<int64_t> dim = outputs->operands[operand];
      ReadOp read = matrixOf(node.getInputs()[operand], &dim);
      if (!read)
        continue;
      const int64_t rank = cast<RankedTensorType>(read.getType()).getRank();
      const MatrixOrientation own = !dim || *dim < rank - 2 ? MatrixOrientation::Unknown
                                    : *dim == rank - 1      ? MatrixOrientation::InputsFirst
                                                            : MatrixOrientation::OutputsFirst;
      auto [known, isNew] = orientations.try_emplace(read.getSymbolAttr().getAttr(), own);
      if (!isNew && known->second != own)
        known->second = MatrixOrientation::Unknown;
    }
  }
  return orientations;
}

FailureOr<MatrixParameters> MatrixParameters::find(func::FuncOp step,
                                                   ArrayRef<GradientOp> gradients,
                                                   const Optimizer &optimizer,
                                                   ArrayRef<std::string> included,
                                                   ArrayRef<std::string> excluded) {
  auto module = step->getParentOfType<ModuleOp>();
  const SymbolTable symbols(module);
  FailureOr<NamePatterns> matrices = NamePatterns::create(module, "matrix-params", included);
  FailureOr<NamePatterns> others = NamePatterns::create(module, "other-params", excluded);
  FailureOr<Value> loss = findLoss(step);
  if (failed(matrices) || failed(others) || failed(loss))
    return failure();
  auto looksUp = [](onnx::NodeOp node) { return ops::computes(node, ops::Function::Lookup); };
  auto multiplies = [](onnx::NodeOp node) { return ops::computes(node, ops::Function::Product); };
  const llvm::DenseSet<StringAttr> heads = findHeads(*loss), tables = findReadBy(step, 1, looksUp),
                                   factors = findReadBy(step, 2, multiplies),
                                   products = findReadBy(step, 2, ops::isProduct);
  MatrixParameters result;
  result.orientations = findOrientations(step);
  for (GradientOp gradient : gradients) {
    auto parameter = symbols.lookup<ParameterOp>(gradient.getParameter());
    StringAttr symbol = parameter.getSymNameAttr();
    const SmallVector<int64_t> shape = wholeShape(parameter, parameter.getTensorType());
    StringRef &reason = result.reasons[symbol];
    if (others->match(modelNames(parameter))) {
      reason = "of --other-params";
    } else if (matrices->match(modelNames(parameter))) {
      if (shape.size() < 2)
        return emitError(parameter.getLoc())
               << "--matrix-params: expected matrices, got '" << modelName(parameter)
               << "' of type " << parameter.getTensorType();
      if (shape.size() > 2 && !products.contains(symbol))
        result.flattened.insert(symbol);
    } else if (shape.size() != 2) {
      reason = "no matrix";
    } else if (tables.contains(symbol)) {
      reason = "a table";
    } else if (heads.contains(symbol)) {
      reason = "the head";
    } else if (!factors.contains(symbol)) {
      reason = "in no product";
    } else if (std::max(shape[0], shape[1]) > optimizer.largestSide()) {
      reason = "too large";
    }
  }
  for (NamePatterns *patterns : {&*matrices, &*others})
    if (const NamePatterns::Member *unused = patterns->findUnused())
      return module.emitError() << patterns->describe(*unused) << " matches no trained parameter";
  return result;
}

SmallVector<int64_t> MatrixParameters::shapeOf(ParameterOp parameter) const {
  SmallVector<int64_t> shape = wholeShape(parameter, parameter.getTensorType());
  if (!flattened.contains(parameter.getSymNameAttr()))
    return shape;
  return {shape.front(), ShapedType::getNumElements(ArrayRef(shape).drop_front())};
}

} // namespace zero
