//===- StableHloBase.td - the stablehlo dialect and its attributes --------===//

#ifndef DIALECTS_STABLEHLO_STABLEHLOBASE_TD
#define DIALECTS_STABLEHLO_STABLEHLOBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def StableHlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::zero::stablehlo";
  let summary = "Ops of StableHLO in generic form";
  let description = [{
    What the conversion to nodes understands has an op or an attribute here. Any other op of the
    dialect is parsed without a definition, so that one error can list all that are not supported.
  }];
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attr, ::mlir::DialectAsmPrinter &printer) const override;
  }];
  let useDefaultTypePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class StableHlo_Enum<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, name, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::zero::stablehlo";
}

def StableHlo_ComparisonDirection : StableHlo_Enum<"ComparisonDirection", [
    I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>,
    I32EnumAttrCase<"GT", 3>, I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def StableHlo_ComparisonDirectionAttr
    : EnumAttr<StableHlo_Dialect, StableHlo_ComparisonDirection, "comparison_direction">;

def StableHlo_ComparisonType : StableHlo_Enum<"ComparisonType", [
    I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
    I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>]>;
def StableHlo_ComparisonTypeAttr
    : EnumAttr<StableHlo_Dialect, StableHlo_ComparisonType, "comparison_type">;

def StableHlo_RngAlgorithm : StableHlo_Enum<"RngAlgorithm", [
    I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"THREE_FRY", 1>, I32EnumAttrCase<"PHILOX", 2>]>;
def StableHlo_RngAlgorithmAttr
    : EnumAttr<StableHlo_Dialect, StableHlo_RngAlgorithm, "rng_algorithm">;

class StableHlo_Attr<string name, string attrMnemonic> : AttrDef<StableHlo_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def StableHlo_DotAttr : StableHlo_Attr<"Dot", "dot"> {
  let summary = "Which dimensions a dot_general sums over, and which both operands share";
  let parameters = (ins ArrayRefParameter<"int64_t">:$lhsBatch,
                        ArrayRefParameter<"int64_t">:$rhsBatch,
                        ArrayRefParameter<"int64_t">:$lhsContracting,
                        ArrayRefParameter<"int64_t">:$rhsContracting);
}

def StableHlo_GatherAttr : StableHlo_Attr<"GatherDims", "gather"> {
  let summary = "Which dimensions of a gather are indexed";
  let parameters = (ins ArrayRefParameter<"int64_t">:$offsetDims,
                        ArrayRefParameter<"int64_t">:$collapsedSliceDims,
                        ArrayRefParameter<"int64_t">:$operandBatchingDims,
                        ArrayRefParameter<"int64_t">:$startIndicesBatchingDims,
                        ArrayRefParameter<"int64_t">:$startIndexMap,
                        "int64_t":$indexVectorDim);
}

def StableHlo_ScatterAttr : StableHlo_Attr<"ScatterDims", "scatter"> {
  let summary = "Which dimensions of a scatter are indexed";
  let parameters = (ins ArrayRefParameter<"int64_t">:$updateWindowDims,
                        ArrayRefParameter<"int64_t">:$insertedWindowDims,
                        ArrayRefParameter<"int64_t">:$inputBatchingDims,
                        ArrayRefParameter<"int64_t">:$scatterIndicesBatchingDims,
                        ArrayRefParameter<"int64_t">:$scatterDimsToOperandDims,
                        "int64_t":$indexVectorDim);
}

def StableHlo_ConvAttr : StableHlo_Attr<"Conv", "conv"> {
  let summary = "The order of dimensions in the operands and the result of a convolution";
  let description = [{
    Each list has one number for each dimension of its tensor, in order: the number of a spatial
    dimension, or one of the negative numbers in ConvDim.

    ```mlir
    #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$lhs, ArrayRefParameter<"int64_t">:$rhs,
                        ArrayRefParameter<"int64_t">:$result);
}

def StableHlo_TextAttr : AttrDef<StableHlo_Dialect, "Text"> {
  let summary = "Hold an attribute that the conversion does not read";
  let attrName = "stablehlo.text";
  let parameters = (ins StringRefParameter<>:$text);
}

def StableHlo_TokenType : TypeDef<StableHlo_Dialect, "Token"> {
  let summary = "The order of side effects";
  let mnemonic = "token";
}

#endif // DIALECTS_STABLEHLO_STABLEHLOBASE_TD
