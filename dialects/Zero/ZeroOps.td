//===- ZeroOps.td - operations --------------------------------------------===//
//
// Why each of these exists beside upstream's: README.md in this folder.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ZERO_ZEROOPS_TD
#define DIALECTS_ZERO_ZEROOPS_TD

include "dialects/Zero/ZeroDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Zero_Op<string mnemonic, list<Trait> traits = []>
    : Op<Zero_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// State: symbols that outlive the step
//===----------------------------------------------------------------------===//

def Zero_ParameterOp : Zero_Op<"parameter", [Symbol]> {
  let summary = "A tensor of the model that training changes";
  let description = [{
    Initial values are bytes of a file (`data`) or one value for all elements
    (`splat`). A `frozen` parameter is sharded and gathered like the others but
    has no gradient and no optimizer state. `place` writes where the parameter
    and its gradient lie (`placement`, `gradient`) and which flat buffer holds
    it, from which element on (`home`, `start`).

    ```mlir
    zero.parameter @"fc1.weight" : tensor<128x784xf32> {data = #zero.data<"mlp.onnx", 517, 401408>}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyStaticShapeTensor>:$type,
                       OptionalAttr<Zero_DataAttr>:$data, OptionalAttr<F64Attr>:$splat,
                       UnitAttr:$frozen,
                       OptionalAttr<Zero_PlacementAttr>:$placement,
                       OptionalAttr<Zero_PlacementAttr>:$gradient,
                       OptionalAttr<FlatSymbolRefAttr>:$home, OptionalAttr<I64Attr>:$start);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
  }];
}

def Zero_StateOp : Zero_Op<"state", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Any other tensor that outlives the step";
  let description = [{
    Optimizer state of parameter `of`, a program counter, a constant too large
    for the IR, or a buffer: a tensor of the model that the step writes though it
    is not trained, like running statistics. Initialised like `zero.parameter`.

    ```mlir
    zero.state optimizer @"fc1.weight.m" of @"fc1.weight" : tensor<128x784xf32> {splat = 0.0}
    zero.state constant @mask : tensor<4x1x128x128xi1> {data = #zero.data<"gpt2.onnx", 99, 65536>}
    zero.state buffer @"bn.running_mean" : tensor<64xf32> {data = #zero.data<"resnet.onnx", 4096, 256>}
    ```
  }];
  let arguments = (ins Zero_RoleAttr:$role, SymbolNameAttr:$sym_name,
                       OptionalAttr<FlatSymbolRefAttr>:$of, TypeAttrOf<AnyStaticShapeTensor>:$type,
                       OptionalAttr<Zero_DataAttr>:$data, OptionalAttr<F64Attr>:$splat,
                       OptionalAttr<Zero_PlacementAttr>:$placement,
                       OptionalAttr<FlatSymbolRefAttr>:$home, OptionalAttr<I64Attr>:$start);
  let assemblyFormat = "`` $role $sym_name (`of` $of^)? `:` $type attr-dict";
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
  }];
}

def Zero_BufferOp : Zero_Op<"buffer", [Symbol]> {
  let summary = "One rank's flat storage of a bucket of parameters or states";
  let description = [{
    Made by `partition`. Holds `type` elements per rank: the whole bucket, or,
    with `shards` > 1, the rank's slice of it.
  }];
  let arguments = (ins Zero_RoleAttr:$role, SymbolNameAttr:$sym_name,
                       TypeAttrOf<AnyStaticShapeTensor>:$type, I64Attr:$shards);
  let assemblyFormat = "`` $role $sym_name `:` $type `shards` $shards attr-dict";
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
  }];
}

def Zero_ReadOp : Zero_Op<"read", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The value of a state symbol at the start of the step";
  let description = [{
    Pure, because the value at the start of the step never changes; a verifier
    forbids a read after an update or write of the same symbol.
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$symbol attr-dict `:` type($result)";
}

def Zero_WriteOp : Zero_Op<"write", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Sets a state symbol's value for the next step";
  let arguments = (ins FlatSymbolRefAttr:$symbol, AnyStaticShapeTensor:$value);
  let assemblyFormat = "$symbol `,` $value attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// Gradients and updates, before partition
//===----------------------------------------------------------------------===//

def Zero_GradientOp : Zero_Op<"gradient", [AllTypesMatch<["local", "result"]>,
                                           DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The gradient of a parameter, summed over ranks";
  let description = [{
    `local` is what this rank computed from its part of the batch, `result` the
    sum over all ranks. Has no effect interface: it is never dropped or merged.
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, AnyStaticShapeTensor:$local);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$parameter `,` $local attr-dict `:` type($local)";
}

def Zero_UpdateOp : Zero_Op<"update", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Applies an optimizer to one parameter";
  let description = [{
    Runs the elementwise kernel `kernel` over the parameter, its `states` and
    its gradient: (parameter, states..., gradient, scalars...) -> (parameter,
    states...), the results in place of the operands of the same index. The
    kernel takes one dimension of any length, so that `partition` can apply the
    very same code to any slice of a bucket (promise 3).

    ```mlir
    zero.update @w [@w.m, @w.v], %g by @adamw(%scalars) : tensor<8x4xf32>, (tensor<4xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter,
                       TypedArrayAttrBase<FlatSymbolRefAttr, "state symbols">:$states,
                       AnyStaticShapeTensor:$gradient, FlatSymbolRefAttr:$kernel,
                       Variadic<AnyStaticShapeTensor>:$scalars);
  let assemblyFormat = [{
    $parameter $states `,` $gradient `by` $kernel `(` $scalars `)` attr-dict
    `:` type($gradient) (`,` `(` type($scalars)^ `)`)?
  }];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Zero_LaunchOp : Zero_Op<"launch", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel";
  let description = [{
    `kernel` is a private `func.func` on tensors that carries `zero.kernel`. An
    argument of it with `zero.inplace = i` shares its buffer with result i. A
    static operand may stand for a dynamic dimension of the kernel. `zero.name`
    says which node of the model this came from.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyStaticShapeTensor>:$outputs);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}

def Zero_CheckOp : Zero_Op<"check"> {
  let summary = "Stops the step with `message` unless all values lie in a range";
  let description = [{
    `value` holds the smallest and the largest value found; the step stops
    before anything that follows unless both lie in [`lower`, `upper`].
  }];
  let arguments = (ins RankedTensorOf<[I64]>:$value, I64Attr:$lower, I64Attr:$upper,
                       StrAttr:$message);
  let assemblyFormat = "$value `in` `[` $lower `,` $upper `]` $message attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// Ranks: what partition resolves
//===----------------------------------------------------------------------===//

def Zero_RankMeanOp : Zero_Op<"rank_mean", [AllTypesMatch<["input", "result"]>, Pure]> {
  let summary = "The mean of a value over the data-parallel ranks";
  let arguments = (ins AnyStaticShapeTensor:$input);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Zero_RankShareOp : Zero_Op<"rank_share", [Pure]> {
  let summary = "One over the number of ranks: the seed of the local gradient";
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// The program of one rank, after partition
//===----------------------------------------------------------------------===//

// Collectives allocate their result: CSE and LICM then leave them alone, and a
// dead one is still dropped (measured: upstream's Pure ones are merged).
class Zero_Collective<string mnemonic, list<Trait> traits = []> : Zero_Op<mnemonic, traits> {
  let results = (outs Res<AnyStaticShapeTensor, "", [MemAlloc<DefaultResource>]>:$result);
}

def Zero_AllGatherOp : Zero_Collective<"all_gather"> {
  let summary = "Concatenates the ranks' slices";
  let description = [{
    With `into` the result takes the buffer of that operand; a shard that is the
    rank's own slice of it moves nothing.
  }];
  let arguments = (ins AnyStaticShapeTensor:$shard, Optional<AnyStaticShapeTensor>:$into);
  let assemblyFormat = "$shard (`into` $into^)? attr-dict `:` functional-type(operands, $result)";
}

def Zero_ReduceScatterOp : Zero_Collective<"reduce_scatter"> {
  let summary = "Sums over ranks in rank order and keeps the rank's own slice";
  let description = [{
    With `in_place` the result is the rank's slice of the operand's buffer.
  }];
  let arguments = (ins AnyStaticShapeTensor:$input, UnitAttr:$in_place);
  let assemblyFormat = "$input (`in_place` $in_place^)? attr-dict `:` functional-type($input, $result)";
}

def Zero_AllReduceOp : Zero_Collective<"all_reduce", [AllTypesMatch<["input", "result"]>]> {
  let summary = "Sums over ranks in rank order; in place";
  let description = [{
    With `mean` the sum is divided by the number of ranks: a value of the program,
    from `zero.rank_mean`, and no gradient.
  }];
  let arguments = (ins AnyStaticShapeTensor:$input, UnitAttr:$mean);
  let assemblyFormat = "$input (`mean` $mean^)? attr-dict `:` type($input)";
}

def Zero_OwnSliceOp : Zero_Op<"own_slice", [Pure]> {
  let summary = "This rank's slice of a flat bucket: a view, nothing moves";
  let arguments = (ins AnyStaticShapeTensor:$input);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type($input, $result)";
}

def Zero_MemberOp : Zero_Op<"member", [Pure]> {
  let summary = "One tensor inside a flat bucket: a view, nothing moves";
  let arguments = (ins AnyStaticShapeTensor:$bucket, I64Attr:$start);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$bucket `at` $start attr-dict `:` functional-type($bucket, $result)";
}

def Zero_BucketOp : Zero_Op<"bucket", [Pure]> {
  let summary = "A flat buffer made of whole tensors";
  let description = [{
    Each operand lies at its element offset in `starts`; `pack` gives the
    operands their place inside the bucket, so that nothing is copied.
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$members, DenseI64ArrayAttr:$starts);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "`(` $members `)` `at` $starts attr-dict `:` functional-type($members, $result)";
}

#endif // DIALECTS_ZERO_ZEROOPS_TD
