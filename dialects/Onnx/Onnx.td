//===- Onnx.td - imported ONNX nodes --------------------------------------===//
//
// One generic op holds every node. Each operator is defined in a file of its own
// under lib/Ops, so a new operator needs no change in this dialect.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ONNX_ONNX_TD
#define DIALECTS_ONNX_ONNX_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Onnx_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::zero::onnx";
  let summary = "Imported ONNX nodes in generic form, without semantics";
  let description = [{
    The importer converts every ONNX node to one `onnx.node` with its operator type, domain,
    opset version, name and attributes. The op table of lib/Ops defines the semantics: how an
    operator is lowered and differentiated.
  }];
}

class Onnx_Op<string mnemonic, list<Trait> traits = []>
    : Op<Onnx_Dialect, mnemonic, traits>;

def Onnx_NodeOp : Onnx_Op<"node", [Pure]> {
  let summary = "Hold one node of an ONNX graph";
  let description = [{
    Holds the operator `domain`::`op_type` as of version `opset` of its domain.
    `domain` is "" for ai.onnx. `node` is the node's name in the model, for
    messages. An operand that the model leaves out is the result of `onnx.none`.
    Attributes keep their ONNX names in the dictionary `attrs`: INT is i64,
    FLOAT f32, STRING a string, INTS an i64 array, FLOATS an f32 array, STRINGS
    an array of strings, TENSOR an elements attribute.

    ```mlir
    %y = onnx.node "Gemm"(%x, %w, %b) {transB = 1 : i64} opset 18 node "fc1"
        : (tensor<32x784xf32>, tensor<128x784xf32>, tensor<128xf32>) -> tensor<32x128xf32>
    ```
  }];
  let arguments = (ins StrAttr:$op_type,
                       Variadic<AnyType>:$inputs,
                       DictionaryAttr:$attrs,
                       DefaultValuedStrAttr<StrAttr, "">:$domain,
                       I64Attr:$opset,
                       DefaultValuedStrAttr<StrAttr, "">:$node);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = [{
    $op_type `(` $inputs `)` $attrs (`domain` $domain^)? `opset` $opset
    (`node` $node^)? attr-dict `:` functional-type($inputs, $outputs)
  }];
  let extraClassDeclaration = [{
    /// The operator that the node computes.
    ::zero::onnx::Operator getOperator() { return {getDomain(), getOpType()}; }
    bool is(::zero::onnx::Operator type) { return getOperator() == type; }
    bool isAnyOf(::llvm::ArrayRef<::zero::onnx::Operator> types) {
      return ::llvm::is_contained(types, getOperator());
    }
    /// The integer attribute `name`, or `fallback` when it is absent.
    int64_t getInt(::llvm::StringRef name, int64_t fallback);
    /// The float attribute `name`, or `fallback` when it is absent.
    double getFloat(::llvm::StringRef name, double fallback);
    /// The string attribute `name`, or `fallback` when it is absent.
    ::llvm::StringRef getString(::llvm::StringRef name, ::llvm::StringRef fallback);
    /// The integers of attribute `name`; std::nullopt if it is absent.
    ::std::optional<::llvm::SmallVector<int64_t>> getInts(::llvm::StringRef name);
    /// Whether operand `index` is present and not `onnx.none`.
    bool hasInput(unsigned index);
    /// The tensor type of operand `index`, unsigned integers as signless ones.
    ::mlir::RankedTensorType inputType(unsigned index);
    /// The tensor type of result `index`, unsigned integers as signless ones.
    ::mlir::RankedTensorType outputType(unsigned index);
    /// The name of this node in messages: "Gemm node 'fc1'".
    ::std::string describe();
  }];
}

def Onnx_NoneOp : Onnx_Op<"none", [Pure]> {
  let summary = "Represent an optional operand that the model leaves out";
  let results = (outs NoneType:$result);
  let assemblyFormat = "attr-dict";
}

#endif // DIALECTS_ONNX_ONNX_TD
