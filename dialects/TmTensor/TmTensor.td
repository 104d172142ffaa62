//===- TmTensor.td - ops of torch-mlir that linalg lacks ------------------===//
//
// As far as programs contain them, in the forms that torch-mlir prints; checked by the pass that
// reads them.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_TMTENSOR_TMTENSOR_TD
#define DIALECTS_TMTENSOR_TMTENSOR_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TmTensor_Dialect : Dialect {
  let name = "tm_tensor";
  let cppNamespace = "::zero::tm_tensor";
  let summary = "Ops of torch-mlir on tensors that linalg lacks";
  let description = [{
    torch-mlir lowers PyTorch to linalg. What linalg cannot express, such as a scatter, is an op of
    its dialect `tm_tensor`. Without this dialect MLIR reads such a program as one of an unknown
    dialect only.
  }];
}

class TmTensor_Op<string mnemonic, list<Trait> traits = []>
    : Op<TmTensor_Dialect, mnemonic, traits>;

/// `head` is what the custom form has before the operands.
class TmTensor_LoopOp<string mnemonic, string head>
    : TmTensor_Op<mnemonic, [AttrSizedOperandSegments]> {
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = head # [{ (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` $body (`->` type($results)^)?
  }];
}

def TmTensor_ScatterOp
    : TmTensor_LoopOp<"scatter", "attr-dict `unique_indices` `(` $unique_indices `)`"> {
  let summary = "Combine updates with elements at computed indices";
  let description = [{
    The operands are updates, tuples of indices, and the tensor that is updated. `dimension_map`
    says which dimension each index of a tuple is of. The region has an update and the element
    that is there as arguments.

    ```mlir
    %r = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
        ins(%updates, %indices : tensor<128x64xf32>, tensor<128x1xi32>)
        outs(%into : tensor<512x64xf32>) {
    ^bb0(%update: f32, %element: f32):
      %sum = arith.addf %element, %update : f32
      tm_tensor.yield %sum : f32
    } -> tensor<512x64xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<AnyType>:$outputs,
                       DenseI64ArrayAttr:$dimension_map,
                       DefaultValuedAttr<BoolAttr, "true">:$unique_indices);
}

def TmTensor_ScanOp
    : TmTensor_LoopOp<"scan", "`dimension` `(` $dimension `)` `inclusive` `(` $inclusive `)`"
                              " attr-dict"> {
  let summary = "Combine each element with those before it";
  let description = [{
    Along `dimension`. The outputs are the running values and the last one. The region combines an
    element and the value so far.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<AnyType>:$outputs, I64Attr:$dimension,
                       BoolAttr:$inclusive);
}

def TmTensor_SortOp : TmTensor_LoopOp<"sort", "attr-dict `dimension` `(` $dimension `)`"> {
  let summary = "Sort along a dimension";
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<AnyType>:$outputs, I64Attr:$dimension);
}

def TmTensor_TopkOp : TmTensor_LoopOp<"topk", "attr-dict `dimension` `(` $dimension `)`"> {
  let summary = "Find the largest elements along a dimension";
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<AnyType>:$outputs, I64Attr:$dimension);
}

def TmTensor_AttentionOp : TmTensor_LoopOp<"attention", "attr-dict"> {
  let summary = "Compute attention of queries, keys and values";
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<AnyType>:$outputs);
}

def TmTensor_YieldOp : TmTensor_Op<"yield", [Pure, Terminator]> {
  let summary = "Return values from the region of an op";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // DIALECTS_TMTENSOR_TMTENSOR_TD
