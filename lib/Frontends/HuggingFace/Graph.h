//===- Graph.h - a step under construction ----------------------*- C++ -*-===//

#ifndef LIB_FRONTENDS_HUGGINGFACE_GRAPH_H
#define LIB_FRONTENDS_HUGGINGFACE_GRAPH_H

#include "Weights.h"
#include "zero/Ops/NodeBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace zero::hf {

/// A module with the function of a step. Nodes have the names of the modules that compute them,
/// parameters the names that safetensors have.
class Graph {
public:
  /// Inputs are int64 of `shape`, each with its name.
  /// Files may lack `stem` before the names of parameters.
  Graph(mlir::Location loc, Weights &weights, llvm::StringRef stem,
        llvm::ArrayRef<llvm::StringRef> inputs, llvm::ArrayRef<int64_t> shape);

  /// Builds nodes of `module`.
  NodeBuilder at(const llvm::Twine &module);
  mlir::Value input(unsigned index) { return body->getArgument(index); }

  /// The parameter `name`, which is tied to `alias`. Parameters that are read more than once are
  /// one.
  mlir::Value parameter(const llvm::Twine &name, llvm::ArrayRef<int64_t> shape,
                        llvm::StringRef alias = "");
  /// The product of `value` and the weight of `module`, which has `width` columns, and its bias.
  mlir::Value linear(mlir::Value value, const llvm::Twine &module, int64_t width, bool hasBias,
                     bool storesTransposed);
  /// `value`, of whose elements a portion is dropped while the step trains.
  mlir::Value dropout(mlir::Value value, const llvm::Twine &module, double ratio);

  /// Returns `result` as `binding`; the module is complete.
  mlir::OwningOpRef<mlir::ModuleOp> finish(mlir::Value result, llvm::StringRef binding);

private:
  /// Where `name` is stored; null if no weights are open, and after an error.
  DataAttr dataOf(llvm::StringRef name, mlir::RankedTensorType type,
                  llvm::SmallVectorImpl<llvm::StringRef> &aliases);

  mlir::MLIRContext *context;
  mlir::Location loc;
  Weights &weights;
  llvm::StringRef stem;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp step;
  mlir::Block *body = nullptr;
  mlir::OpBuilder builder; ///< at the end of the body
  llvm::StringMap<mlir::Value> parameters;
  llvm::SmallVector<mlir::NamedAttribute> storedNames; ///< of parameters that files name otherwise
};

} // namespace zero::hf

#endif // LIB_FRONTENDS_HUGGINGFACE_GRAPH_H
