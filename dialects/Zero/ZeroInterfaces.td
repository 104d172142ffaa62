//===- ZeroInterfaces.td - what passes ask of a step's ops ----------------===//

#ifndef DIALECTS_ZERO_ZEROINTERFACES_TD
#define DIALECTS_ZERO_ZEROINTERFACES_TD

include "mlir/IR/OpBase.td"

def Zero_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::zero";
  let description = [{
    An op in which the ranks of a group exchange a value. All of them run it, in the
    same order as their other collectives, always: it has no condition.

    Planner, schedule, emitter and cost model ask these questions and name no
    collective, so that a new one is an op here, a value of `CollectiveKind`, and a
    function of each communicator of the runtime.
  }];
  let methods = [
    InterfaceMethod<"What is exchanged.", "::zero::CollectiveKind", "getCollectiveKind">,
    InterfaceMethod<"What this rank contributes.", "::mlir::Value", "getSource">,
    InterfaceMethod<"The value whose bytes the result takes, or null.",
                    "::mlir::Value", "getDestination", (ins), "", "return {};">,
    InterfaceMethod<"Whether the result takes bytes of the source.", "bool", "reducesInPlace",
                    (ins), "", "return false;">,
    InterfaceMethod<"The ranks that take part: all of the program's if null.",
                    "::zero::GroupAttr", "getCollectiveGroup",
                    (ins), "", "return $_op.getGroupAttr();">,
    InterfaceMethod<"The type that sums are made in, or null: that of the source.",
                    "::mlir::TypeAttr", "getSumType", (ins), "", "return {};">,
    InterfaceMethod<"Whether the sum is divided by the number of ranks.", "bool", "isMean",
                    (ins), "", "return false;">,
    InterfaceMethod<"Of a broadcast: the rank of the group whose value all get.",
                    "int64_t", "getRootRank", (ins), "", "return 0;">,
    InterfaceMethod<[{
        Whether a value of the program is exchanged, like a loss or a norm, rather than
        parameters or gradients, of which the volume is counted.
      }], "bool", "isControl", (ins), "", "return false;">];
  let extraSharedClassDeclaration = [{
    ::mlir::TypedValue<::mlir::RankedTensorType> getExchanged() {
      return ::llvm::cast<::mlir::TypedValue<::mlir::RankedTensorType>>($_op->getResult(0));
    }
    /// The type of the larger of source and result: of what all ranks of the group have together.
    ::mlir::RankedTensorType getWholeType() {
      auto from = ::llvm::cast<::mlir::RankedTensorType>($_op.getSource().getType());
      auto to = getExchanged().getType();
      return from.getNumElements() > to.getNumElements() ? from : to;
    }
    /// Elements of what one rank brings or keeps.
    int64_t getSliceElements() {
      auto from = ::llvm::cast<::mlir::RankedTensorType>($_op.getSource().getType());
      return std::min(from.getNumElements(), getExchanged().getType().getNumElements());
    }
    /// Whether it brings a value into fresh bytes, which can be done early.
    bool isFetch() {
      return !::zero::isReduction($_op.getCollectiveKind()) && !$_op.getDestination();
    }
  }];
}

def Zero_LaneOpInterface : OpInterface<"LaneOpInterface"> {
  let cppNamespace = "::zero";
  let description = [{
    An op that does work when the step reaches it, on a lane of the rank: lanes run
    beside each other, each in program order. Ops without this interface name bytes.
  }];
  let methods = [InterfaceMethod<"The lane that runs it.", "::zero::Lane", "getLane">];
}

def Zero_BufferAccessOpInterface : OpInterface<"BufferAccessOpInterface"> {
  let cppNamespace = "::zero";
  let description = [{
    Which of its operands' bytes an op reads, and of which it makes its results.
  }];
  let methods = [
    InterfaceMethod<"Whether it reads the bytes of `operand`, or only fills them.",
                    "bool", "readsBytes", (ins "::mlir::OpOperand &":$operand), "", "return true;">,
    InterfaceMethod<[{
        The operand whose bytes the result takes, in any case; null if it has bytes of its
        own, or takes an operand's only if nobody else needs them.
      }], "::mlir::OpOperand *", "getReused", (ins), "", "return nullptr;">];
}

def Zero_ViewOpInterface : OpInterface<"ViewOpInterface"> {
  let cppNamespace = "::zero";
  let description = [{
    An op that moves nothing: its result is a part of its operand's bytes.
  }];
  let methods = [
    InterfaceMethod<"What it is a part of.", "::mlir::Value", "getViewed">,
    InterfaceMethod<"Elements of the operand before the result, on rank 0.",
                    "int64_t", "getViewStart">,
    InterfaceMethod<"Elements by which that grows from rank to rank.",
                    "int64_t", "getRankStride">];
}

#endif // DIALECTS_ZERO_ZEROINTERFACES_TD
