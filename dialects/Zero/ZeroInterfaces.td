//===- ZeroInterfaces.td - interfaces of ops and attributes ---------------===//

#ifndef DIALECTS_ZERO_ZEROINTERFACES_TD
#define DIALECTS_ZERO_ZEROINTERFACES_TD

include "mlir/IR/OpBase.td"

def Zero_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::zero";
  let description = [{
    An op in which the ranks of a group exchange a value. All of them always execute it, in the
    same order as their other collectives: it has no condition.

    Planner, schedule, emitter and cost model use these methods and do not depend on concrete
    collectives. A new collective needs an op, a value of `CollectiveKind`, and a function in
    each communicator of the runtime.
  }];
  let methods = [
    InterfaceMethod<"The kind of the collective.", "::zero::CollectiveKind", "getCollectiveKind">,
    InterfaceMethod<"The value that this rank contributes.", "::mlir::Value", "getSource">,
    InterfaceMethod<"The value whose bytes the result reuses, or null.",
                    "::mlir::Value", "getDestination", (ins), "", "return {};">,
    InterfaceMethod<"Whether the result reuses bytes of the source.", "bool", "reducesInPlace",
                    (ins), "", "return false;">,
    InterfaceMethod<"The ranks that take part; null means all ranks of the program.",
                    "::zero::GroupAttr", "getCollectiveGroup",
                    (ins), "", "return $_op.getGroupAttr();">,
    InterfaceMethod<"The type of the arithmetic of sums; null means that of the source.",
                    "::mlir::TypeAttr", "getSumType", (ins), "", "return {};">,
    InterfaceMethod<"Whether the sum is divided by the number of ranks.", "bool", "isMean",
                    (ins), "", "return false;">,
    InterfaceMethod<"For a broadcast: the rank of the group whose value all ranks receive.",
                    "int64_t", "getRootRank", (ins), "", "return 0;">,
    InterfaceMethod<[{
        Whether a control value is exchanged, such as a loss or a norm, instead of parameters
        or gradients. Only the volume of the latter is counted.
      }], "bool", "isControl", (ins), "", "return false;">];
  let extraSharedClassDeclaration = [{
    ::mlir::TypedValue<::mlir::RankedTensorType> getExchanged() {
      return ::llvm::cast<::mlir::TypedValue<::mlir::RankedTensorType>>($_op->getResult(0));
    }
    /// The type of the larger of source and result: the data of all ranks of the group.
    ::mlir::RankedTensorType getWholeType() {
      auto from = ::llvm::cast<::mlir::RankedTensorType>($_op.getSource().getType());
      auto to = getExchanged().getType();
      return from.getNumElements() > to.getNumElements() ? from : to;
    }
    /// The number of elements that one rank contributes or receives.
    int64_t getSliceElements() {
      auto from = ::llvm::cast<::mlir::RankedTensorType>($_op.getSource().getType());
      return std::min(from.getNumElements(), getExchanged().getType().getNumElements());
    }
    /// Whether the result has bytes of its own, so that the op can be executed early.
    bool isFetch() {
      return !::zero::isReduction($_op.getCollectiveKind()) && !$_op.getDestination();
    }
  }];
}

def Zero_LaneOpInterface : OpInterface<"LaneOpInterface"> {
  let cppNamespace = "::zero";
  let description = [{
    An op that executes a command when the step reaches it, on a lane of the rank. Lanes run
    beside each other, each in program order. Ops without this interface only name bytes.
  }];
  let methods = [InterfaceMethod<"The lane that runs it.", "::zero::Lane", "getLane">];
}

def Zero_ActivationOpInterface : OpInterface<"ActivationOpInterface"> {
  let cppNamespace = "::zero";
  let description = [{
    An op of forward that computes activations: a launch, or a collective on activations.
    `layer` is the number of its layer. Backward recomputes its results, except those whose
    numbers `kept` lists. Results of ops without a layer are saved.
  }];
  let methods = [
    InterfaceMethod<"The number of the layer; null if none.", "::mlir::IntegerAttr",
                    "getLayerAttr">,
    InterfaceMethod<"Sets the number of the layer.", "void", "setLayerAttr",
                    (ins "::mlir::IntegerAttr":$layer)>,
    InterfaceMethod<"The numbers of the results that are saved; null if not chosen.",
                    "::mlir::DenseI64ArrayAttr", "getKeptAttr">,
    InterfaceMethod<"Sets the numbers of the results that are saved.", "void", "setKeptAttr",
                    (ins "::mlir::DenseI64ArrayAttr":$kept)>,
    InterfaceMethod<"Removes the choice of results.", "::mlir::Attribute", "removeKeptAttr">];
}

def Zero_BufferAccessOpInterface : OpInterface<"BufferAccessOpInterface"> {
  let cppNamespace = "::zero";
  let description = [{
    Which operands' bytes an op reads, and which operands' bytes its results reuse.
  }];
  let methods = [
    InterfaceMethod<"Whether the op reads the bytes of `operand` or only overwrites them.",
                    "bool", "readsBytes", (ins "::mlir::OpOperand &":$operand), "", "return true;">,
    InterfaceMethod<[{
        The operand whose bytes the result always reuses; null if the result has bytes of
        its own, or reuses an operand's bytes only if nothing else needs them.
      }], "::mlir::OpOperand *", "getReused", (ins), "", "return nullptr;">];
}

def Zero_ViewOpInterface : OpInterface<"ViewOpInterface"> {
  let cppNamespace = "::zero";
  let description = [{
    An op that copies nothing: its result is a part of the bytes of its operand.
  }];
  let methods = [
    InterfaceMethod<"The value that the result is a part of.", "::mlir::Value", "getViewed">,
    InterfaceMethod<"The offset of the result in the operand on rank 0, in elements.",
                    "int64_t", "getViewStart">,
    InterfaceMethod<[{
        The increase of that offset with the index of the rank in the group, in elements.
      }], "int64_t", "getRankStride", (ins), "", "return 0;">,
    InterfaceMethod<"The group whose ranks view different parts; null means all ranks.",
                    "::zero::GroupAttr", "getViewGroup", (ins), "", "return {};">];
}

def Zero_CallAttrInterface : AttrInterface<"CallAttrInterface"> {
  let cppNamespace = "::zero";
  let description = [{
    A library call. Its mnemonic is the name of its message in an executable.
  }];
  let methods = [
    InterfaceMethod<"The mnemonic.", "::llvm::StringRef", "getCallName", (ins), "",
                    "return ConcreteAttr::getMnemonic();">,
    InterfaceMethod<"Calls `visit` with the name and the value of each field.", "void",
                    "visitFields", (ins "::zero::FieldVisitor":$visit)>];
}

#endif // DIALECTS_ZERO_ZEROINTERFACES_TD
