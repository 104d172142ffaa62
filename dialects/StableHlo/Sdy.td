//===- Sdy.td - annotations of Shardy -------------------------------------===//

#ifndef DIALECTS_STABLEHLO_SDY_TD
#define DIALECTS_STABLEHLO_SDY_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::zero::sdy";
  let summary = "Annotations of Shardy that JAX prints";
  let description = [{
    How tensors are divided over devices in the program that JAX traced. Attributes are stored as
    their text. `zero-bind-arguments` reads the shardings of arguments; all else is ignored.
  }];
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attr, ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

def Sdy_TextAttr : AttrDef<Sdy_Dialect, "Text"> {
  let summary = "Hold an attribute that the conversion does not read";
  let attrName = "sdy.text";
  let parameters = (ins StringRefParameter<>:$text);
}

def Sdy_MeshOp : Op<Sdy_Dialect, "mesh", [Symbol]> {
  let summary = "Name the devices of a program";
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_TextAttr:$mesh);
}

def Sdy_ShardingConstraintOp
    : Op<Sdy_Dialect, "sharding_constraint", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "Name the sharding of a tensor";
  let arguments = (ins AnyType:$input, Sdy_TextAttr:$sharding);
  let results = (outs AnyType:$result);
}

#endif // DIALECTS_STABLEHLO_SDY_TD
