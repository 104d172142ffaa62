//===- Chlo.td - ops of CHLO ----------------------------------------------===//

#ifndef DIALECTS_STABLEHLO_CHLO_TD
#define DIALECTS_STABLEHLO_CHLO_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::zero::chlo";
  let summary = "Ops of CHLO in generic form";
  let description = [{
    Functions that StableHLO has no op for. As in `stablehlo`, other ops are parsed without a
    definition.
  }];
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attr, ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

def Chlo_TextAttr : AttrDef<Chlo_Dialect, "Text"> {
  let summary = "Hold an attribute that the conversion does not read";
  let attrName = "chlo.text";
  let parameters = (ins StringRefParameter<>:$text);
}

class Chlo_Unary<string mnemonic>
    : Op<Chlo_Dialect, mnemonic, [Pure, SameOperandsAndResultShape]> {
  let arguments = (ins AnyStaticShapeTensor:$operand);
  let results = (outs AnyStaticShapeTensor:$result);
}

foreach name = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erf_inv", "erfc",
                "is_inf", "is_neg_inf", "is_pos_inf", "sinh", "square", "tan"] in
  def Chlo_Unary_#name : Chlo_Unary<name>;

def Chlo_NextAfterOp
    : Op<Chlo_Dialect, "next_after", [Pure, SameTypeOperands, SameOperandsAndResultShape]> {
  let arguments = (ins AnyStaticShapeTensor:$x, AnyStaticShapeTensor:$y);
  let results = (outs AnyStaticShapeTensor:$result);
}

def Chlo_TopKOp : Op<Chlo_Dialect, "top_k", [Pure]> {
  let arguments = (ins AnyStaticShapeTensor:$operand, I64Attr:$k);
  let results = (outs AnyStaticShapeTensor:$values, AnyStaticShapeTensor:$indices);
}

#endif // DIALECTS_STABLEHLO_CHLO_TD
