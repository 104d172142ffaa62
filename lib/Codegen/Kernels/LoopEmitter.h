//===- LoopEmitter.h - emit stages as scf.for loops -------------*- C++ -*-===//

#ifndef LIB_CODEGEN_KERNELS_LOOPEMITTER_H
#define LIB_CODEGEN_KERNELS_LOOPEMITTER_H

#include "LoopSchedule.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace zero::loops {

/// The part of a tensor that is visible at some depth: only the dimensions
/// `kept` of it are left, or it is a scalar.
struct Part {
  mlir::Value value;
  llvm::SmallVector<unsigned> kept;
};

/// The destination of the results of a node.
struct Destination {
  Part part;
  /// A reduction in progress: its value is not yet to be read by others.
  bool accumulating = false;
};

/// A value that a loop carries.
struct Carry {
  mlir::OpResult value;
  Node node;
  bool accumulates = false; ///< the reduction, or its part of this iteration, begins with this loop
  bool escapes = false;
  mlir::Value init;
  llvm::SmallVector<unsigned> kept;
  std::optional<Destination> outer;
};

/// Writes the loops of one block; see LoopFusion.h.
class Emitter {
public:
  Emitter(mlir::RewriterBase &rewriter, mlir::Block &block,
          const llvm::DenseMap<mlir::Value, mlir::Value> &destinations, LoopStyle style)
      : rewriter(rewriter), block(block), wishes(destinations), style(style) {}

  void run();

private:
  void emitBody(llvm::ArrayRef<Node> nodes, bool outermost);
  void emitOpaque(const Node &node);
  void emitScalar(const Placed &placed);
  void emitLoop(const Stage &stage);
  llvm::DenseMap<mlir::Value, Destination> hideFromCopies(const Stage &stage);
  std::vector<Carry> carriesOf(const Stage &stage);
  void beginAccumulator(Carry &carry);
  void finish(const Carry &carry, mlir::Value result);
  void flushStores(size_t from);
  void keepWhole(const Stage &stage);
  void remap(mlir::Operation *op);

  mlir::Value newTensor(const Carry &carry);
  mlir::Value wholeDestination(const Carry &carry, const Stage &stage);
  bool mayOverwrite(mlir::Value tensor, const Carry &carry, const Stage &stage);
  mlir::Value extentOf(const Node &node, unsigned dim);

  Part partOf(mlir::Value value);
  mlir::Value load(mlir::Value value, mlir::AffineMap map, const Node &node);
  llvm::SmallVector<mlir::Value> indices(llvm::ArrayRef<unsigned> kept, mlir::AffineMap map,
                                         const Node &node);
  mlir::Value index(int64_t value);

  struct Store {
    mlir::Value target; ///< key into destinations
    mlir::Value scalar;
    llvm::SmallVector<mlir::Value> indices;
  };

  mlir::RewriterBase &rewriter;
  mlir::Block &block;
  const llvm::DenseMap<mlir::Value, mlir::Value> &wishes;
  LoopStyle style;
  mlir::Location loc = rewriter.getUnknownLoc();
  /// The parts of values that can be read at this depth.
  llvm::DenseMap<mlir::Value, Part> readable;
  llvm::DenseMap<mlir::Value, Destination> destinations;
  /// Stores at the end of the body under construction: after all its loads, so
  /// that a result may share its buffer with an operand.
  llvm::SmallVector<Store> stores;
  /// Full values, for opaque ops and for bodies that read at any position.
  mlir::IRMapping whole;
};

} // namespace zero::loops

#endif // LIB_CODEGEN_KERNELS_LOOPEMITTER_H
