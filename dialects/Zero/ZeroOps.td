//===- ZeroOps.td - operations --------------------------------------------===//
//
// README.md in this directory explains why each op exists beside the upstream ones.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ZERO_ZEROOPS_TD
#define DIALECTS_ZERO_ZEROOPS_TD

include "dialects/Zero/ZeroDialect.td"
include "dialects/Zero/ZeroInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Zero_Op<string mnemonic, list<Trait> traits = []>
    : Op<Zero_Dialect, mnemonic, traits>;

/// Kernels that the partitioned step launches.
def Zero_Kernels : TypedArrayAttrBase<FlatSymbolRefAttr, "kernels">;
/// One boolean value of the program.
def Zero_Condition : Type<CPred<"$_self == ::mlir::RankedTensorType::get({}, "
                                "::mlir::IntegerType::get($_self.getContext(), 1))">,
                          "tensor<i1>", "::mlir::RankedTensorType">,
                     BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI1Type())">;

//===----------------------------------------------------------------------===//
// State: symbols that outlive the step
//===----------------------------------------------------------------------===//

def Zero_ParameterOp
    : Zero_Op<"parameter", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Declare a tensor of the model that training changes";
  let description = [{
    Initial values are bytes of a file (`data`), one value for all elements (`splat`), or drawn
    (`random`); those of a `required` tensor are given to the run, which does not start without
    them. A
    `frozen` parameter is sharded and gathered like the others but has no gradient and no
    optimizer state. The phase `place` writes the placement of the parameter and of its gradient
    (`placement`, `gradient`), the bucket that holds it (`home`) and its offset there in
    elements (`start`).

    A frozen parameter may be stored in `blocks`: then it has codes, and `decoded` is the type of
    the elements that they stand for, of which `data` and the like are the initial values. Its
    scales are a parameter `of` it, which follows from the same values. Without `decoded` the pass
    zero-encode-parameters is yet to store it so.

    ```mlir
    zero.parameter @"fc1.weight" : tensor<128x784xf32> {data = #zero.data<"mlp.onnx", 517, 401408>}
    zero.parameter @w : tensor<2048xi8> {frozen, blocks = #zero.blocks<4, 64, nf4, @"w.scale">,
        decoded = tensor<64x64xf32>, data = #zero.data<"mlp.onnx", 99, 16384, f32>}
    zero.parameter @"w.scale" of @w : tensor<64xi8> {frozen, decoded = tensor<64xf32>,
        blocks = #zero.blocks<8, 256, dynamic, @"w.scale.scale">}
    zero.parameter @"w.scale.scale" of @w : tensor<2xf32> {frozen}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<FlatSymbolRefAttr>:$of,
                       TypeAttrOf<AnyStaticShapeTensor>:$type,
                       OptionalAttr<Zero_DataAttr>:$data, OptionalAttr<F64Attr>:$splat,
                       UnitAttr:$frozen,
                       OptionalAttr<Zero_PlacementAttr>:$placement,
                       OptionalAttr<Zero_PlacementAttr>:$gradient,
                       OptionalAttr<FlatSymbolRefAttr>:$home, OptionalAttr<I64Attr>:$start,
                       UnitAttr:$required, OptionalAttr<Zero_RandomAttr>:$random,
                       OptionalAttr<Zero_BlocksAttr>:$blocks,
                       OptionalAttr<TypeAttrOf<AnyStaticShapeTensor>>:$decoded);
  let hasVerifier = 1;
  let assemblyFormat = "$sym_name (`of` $of^)? `:` $type attr-dict";
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::RankedTensorType":$type,
                                 "::zero::DataAttr":$data, "::mlir::FloatAttr":$splat,
                                 "bool":$frozen, CArg<"bool", "false">:$required,
                                 CArg<"::zero::RandomAttr", "{}">:$random), [{
    build($_builder, $_state, name, ::mlir::FlatSymbolRefAttr(), type, data, splat, frozen,
          ::zero::PlacementAttr(), ::zero::PlacementAttr(), ::mlir::FlatSymbolRefAttr(),
          ::mlir::IntegerAttr(), required, random, ::zero::BlocksAttr(), ::mlir::TypeAttr());
  }]>];
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
    /// The type of its elements, also of those that are stored as codes.
    ::mlir::RankedTensorType getValueType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getDecoded().value_or(getType()));
    }
  }];
}

def Zero_StateOp : Zero_Op<"state", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Declare another tensor that outlives the step";
  let description = [{
    Optimizer state of parameter `of`, a program counter, a constant too large for the IR, or a
    buffer: a tensor of the model that the step writes although it is not trained, such as
    running statistics. Initialized like `zero.parameter`.

    States of the same kind of all parameters share the buffers of the parameters' buckets. The
    kind is what follows the name of the parameter in the name of the state, or `slot` if the
    name is the model's own. A state with `blocks` has codes for the elements of its parameter.

    ```mlir
    zero.state optimizer @"fc1.weight.m" of @"fc1.weight" : tensor<128x784xf32> {splat = 0.0}
    zero.state constant @mask : tensor<4x1x128x128xi1> {data = #zero.data<"gpt2.onnx", 99, 65536>}
    zero.state buffer @"bn.running_mean" : tensor<64xf32>
        {data = #zero.data<"resnet.onnx", 4096, 256>}
    ```
  }];
  let arguments = (ins Zero_RoleAttr:$role, SymbolNameAttr:$sym_name,
                       OptionalAttr<FlatSymbolRefAttr>:$of, TypeAttrOf<AnyStaticShapeTensor>:$type,
                       OptionalAttr<Zero_DataAttr>:$data, OptionalAttr<F64Attr>:$splat,
                       OptionalAttr<Zero_PlacementAttr>:$placement,
                       OptionalAttr<FlatSymbolRefAttr>:$home, OptionalAttr<I64Attr>:$start,
                       OptionalAttr<StrAttr>:$slot, UnitAttr:$required,
                       OptionalAttr<Zero_RandomAttr>:$random,
                       OptionalAttr<Zero_BlocksAttr>:$blocks);
  let hasVerifier = 1;
  let assemblyFormat = "`` $role $sym_name (`of` $of^)? `:` $type attr-dict";
  let builders = [OpBuilder<(ins "::zero::Role":$role, "::llvm::StringRef":$name,
                                 "::mlir::FlatSymbolRefAttr":$of, "::mlir::RankedTensorType":$type,
                                 "::zero::DataAttr":$data, "::mlir::FloatAttr":$splat,
                                 CArg<"bool", "false">:$required,
                                 CArg<"::zero::RandomAttr", "{}">:$random), [{
    build($_builder, $_state, role, name, of, type, data, splat, ::zero::PlacementAttr(),
          ::mlir::FlatSymbolRefAttr(), ::mlir::IntegerAttr(), ::mlir::StringAttr(), required, random,
          ::zero::BlocksAttr());
  }]>];
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
    /// What distinguishes this state from others of its parameter `of`, the same for all
    /// parameters: ".m".
    ::std::string getSuffix() {
      if (::std::optional<::llvm::StringRef> slot = getSlot())
        return "." + slot->str();
      return getSymName().drop_front(getOf()->size()).str();
    }
  }];
}

def Zero_BufferOp : Zero_Op<"buffer", [Symbol]> {
  let summary = "Declare one rank's flat storage of a bucket";
  let description = [{
    Created by `partition`. Holds `type` elements per rank: the whole bucket, or, with `shards`
    > 1, the rank's slice of it. It resides on `tier`, by default on the device.
  }];
  let arguments = (ins Zero_RoleAttr:$role, SymbolNameAttr:$sym_name,
                       TypeAttrOf<AnyStaticShapeTensor>:$type, I64Attr:$shards,
                       OptionalAttr<Zero_TierAttr>:$tier);
  let hasVerifier = 1;
  let assemblyFormat = "`` $role $sym_name `:` $type `shards` $shards (`on` `` $tier^)? attr-dict";
  let builders = [OpBuilder<(ins "::zero::Role":$role, "::llvm::StringRef":$name,
                                 "::mlir::RankedTensorType":$type, "uint64_t":$shards,
                                 CArg<"::zero::Tier", "::zero::Tier::Device">:$tier), [{
    build($_builder, $_state, role, name, type, shards,
          tier == ::zero::Tier::Device ? ::zero::TierAttr()
                                       : ::zero::TierAttr::get($_builder.getContext(), tier));
  }]>];
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
    /// The tier on which it resides.
    ::zero::Tier getHomeTier() { return getTier().value_or(::zero::Tier::Device); }
  }];
}

def Zero_ReadOp : Zero_Op<"read", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Read a state symbol as of the start of the step";
  let description = [{
    Pure, because the value at the start of the step never changes. A verifier rejects a read
    after an update or a write of the same symbol.
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$symbol attr-dict `:` type($result)";
}

def Zero_WriteOp : Zero_Op<"write", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Set the value of a state symbol for the next step";
  let description = [{
    The value of an accumulator is set for the next micro-batch. With a `condition` that is
    false the symbol keeps its value.
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol, AnyStaticShapeTensor:$value,
                       Optional<Zero_Condition>:$condition);
  let assemblyFormat = "$symbol `,` $value (`if` $condition^)? attr-dict `:` type($value)";
  let builders = [OpBuilder<(ins "::mlir::FlatSymbolRefAttr":$symbol, "::mlir::Value":$value), [{
    build($_builder, $_state, symbol, value, ::mlir::Value());
  }]>];
}

//===----------------------------------------------------------------------===//
// Gradients and updates, before partition
//===----------------------------------------------------------------------===//

def Zero_GradientOp : Zero_Op<"gradient", [AllShapesMatch<["local", "result"]>,
                                           DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Sum the gradient of a parameter over ranks and micro-batches";
  let description = [{
    `local` is the gradient that this rank computed from its part of the batch, `result` the sum
    over all ranks. The op has no effect interface, so it is never removed or merged. Over
    several micro-batches `accumulate` names two kernels (accumulator in place, summand) ->
    accumulator, for the first micro-batch and for later ones, and the result is f32. If it is
    bf16, they also take what to round by, which a third kernel computes for a micro-batch.

    ```mlir
    %s = zero.gradient @w, %g accumulate [@first, @later] : tensor<8x4xbf16> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, AnyStaticShapeTensor:$local,
                       OptionalAttr<Zero_Kernels>:$accumulate);
  let results = (outs AnyStaticShapeTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $parameter `,` $local (`accumulate` $accumulate^)? attr-dict
    `:` type($local) `->` type($result)
  }];
}

def Zero_SquareSumOp : Zero_Op<"square_sum", [Pure]> {
  let summary = "Sum the squares of the elements of a gradient";
  let description = [{
    The operand is a `zero.gradient`, or the `zero.read` of a parameter for the norm of that
    parameter. `kernels` are two: (tensor<?x64xT>) -> tensor<?xf32> computes the sum of squares
    of each block of 64 elements, and (tensor<?xf32>) -> tensor<f64> sums these. `partition`
    assigns each rank the blocks that it holds and gathers the sums of the blocks on all ranks,
    so the result does not depend on how the tensor is sharded. Three kernels sum the blocks of
    many tensors at once: see `zero-chunk-sums`.
  }];
  let arguments = (ins AnyStaticShapeTensor:$gradient, Zero_Kernels:$kernels);
  let results = (outs RankedTensorOf<[F64]>:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$gradient `by` $kernels attr-dict `:` functional-type($gradient, $result)";
}

def Zero_UpdateOp : Zero_Op<"update", [AttrSizedOperandSegments,
                                       DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Apply an optimizer to one parameter";
  let description = [{
    Runs the elementwise kernel `kernel` over the parameter, its `states` and its gradient:
    (parameter, states..., gradient, scalars...) -> (parameter, states...). Each result is in
    place of the operand of the same index. The kernel takes one dimension of any length, so
    that `partition` can apply the same code to any slice of a bucket. With a `condition` that
    is false nothing changes. The gradient may also be the result of a launch that has processed
    it, such as the direction of a factored optimizer (Adafactor).

    An optimizer that scales the step by a ratio of norms of each tensor (LAMB) has three more
    kernels, `layerwise`, which all take blocks of 64 elements, tensor<?x64xT>. The first
    (operands as above) -> (states..., sums of squares of the parameter and of its direction for
    each block). The second sums the blocks of a tensor; like those of `zero.square_sum` it may
    be two. The last (two f64 sums, a tensor<?xf32> that gives the shape) -> the ratio for each
    block. `kernel` then is (parameter, master..., states..., ratios, scalars...) -> (parameter,
    master...).

    ```mlir
    zero.update @w [@w.m, @w.v], %g by @adamw(%scalars) : tensor<8x4xf32>, (tensor<4xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter,
                       TypedArrayAttrBase<FlatSymbolRefAttr, "state symbols">:$states,
                       AnyStaticShapeTensor:$gradient, FlatSymbolRefAttr:$kernel,
                       OptionalAttr<Zero_Kernels>:$layerwise,
                       Variadic<AnyStaticShapeTensor>:$scalars,
                       Optional<Zero_Condition>:$condition);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $parameter $states `,` $gradient `by` $kernel (`layerwise` $layerwise^)? `(` $scalars `)`
    (`if` $condition^)? attr-dict `:` type($gradient) (`,` `(` type($scalars)^ `)`)?
  }];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Zero_LaunchOp : Zero_Op<"launch", [Pure, AttrSizedOperandSegments, Zero_ActivationOpInterface,
                                       DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                       DeclareOpInterfaceMethods<Zero_LaneOpInterface>]> {
  let summary = "Launch a kernel";
  let description = [{
    `kernel` is a private `func.func` on tensors that carries `zero.kernel`. Its argument with
    `zero.inplace = i` shares its buffer with result i. A static operand may correspond to a
    dynamic dimension of the kernel. `zero.name` is the node of the model that the launch comes
    from. With a `condition` that is false the kernel does not run: results in place keep their
    values, other results are undefined.

    - `host`: the kernel runs on the cores of the host, on operands in the memory of the host.
    - `layer` and `kept`: see ActivationOpInterface.
    - `updates` and `gradient`: the launch updates that bucket, and the input of that number is
      the gradient, summed over ranks.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyRankedTensor>:$inputs,
                       Optional<Zero_Condition>:$condition, UnitAttr:$host,
                       OptionalAttr<I64Attr>:$layer, OptionalAttr<DenseI64ArrayAttr>:$kept,
                       OptionalAttr<FlatSymbolRefAttr>:$updates, OptionalAttr<I64Attr>:$gradient);
  let hasVerifier = 1;
  let results = (outs Variadic<AnyStaticShapeTensor>:$outputs);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` (`if` $condition^)? attr-dict `:` functional-type($inputs, $outputs)
  }];
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$outputs, "::mlir::FlatSymbolRefAttr":$kernel,
                                 "::mlir::ValueRange":$inputs,
                                 CArg<"::mlir::Value", "{}">:$condition), [{
    build($_builder, $_state, outputs, kernel, inputs, condition, ::mlir::UnitAttr(), {}, {}, {},
          {});
  }]>];
}

def Zero_CheckOp : Zero_Op<"check", [DeclareOpInterfaceMethods<Zero_LaneOpInterface>]> {
  let summary = "Stop the step with `message` unless all values are in a range";
  let description = [{
    `value` holds the minimum and the maximum of the values. Unless both are in [`lower`, `upper`],
    the step stops before any later op, or on a GPU before the epilogue.
  }];
  let arguments = (ins RankedTensorOf<[I64]>:$value, I64Attr:$lower, I64Attr:$upper,
                       StrAttr:$message);
  let hasVerifier = 1;
  let assemblyFormat = "$value `in` `[` $lower `,` $upper `]` $message attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// Ops on ranks, which partition resolves
//===----------------------------------------------------------------------===//

def Zero_RankMeanOp : Zero_Op<"rank_mean", [AllTypesMatch<["input", "result"]>, Pure]> {
  let summary = "Average a value over the data-parallel ranks";
  let arguments = (ins AnyStaticShapeTensor:$input);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Zero_MicroMeanOp : Zero_Op<"micro_mean", [AllTypesMatch<["input", "result"]>, Pure]> {
  let summary = "Average a scalar over the micro-batches of this rank";
  let description = [{
    If the step itself uses the value, such as the number of labels, the value must be known
    before the first micro-batch; `zero-split-prologue` ensures this. `accumulate` is as in
    `zero.gradient`, except that its kernels divide by the number of micro-batches.
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$input, OptionalAttr<Zero_Kernels>:$accumulate);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$input (`accumulate` $accumulate^)? attr-dict `:` type($input)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input), [{
    build($_builder, $_state, input.getType(), input, ::mlir::ArrayAttr());
  }]>];
}

def Zero_RankShareOp : Zero_Op<"rank_share", [Pure]> {
  let summary = "Seed the local gradient: 1 / (data-parallel ranks x micro-batches)";
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// The program of one rank, after partition
//===----------------------------------------------------------------------===//

// Generic passes neither merge nor move an op that allocates its result, and erase it if it is
// unused. The collectives of upstream are Pure, so CSE merges them.
class Zero_AllocatingOp<string mnemonic, list<Trait> traits = []> : Zero_Op<mnemonic, traits> {
  let results = (outs Res<AnyStaticShapeTensor, "", [MemAlloc<DefaultResource>]>:$result);
}

class Zero_Collective<string mnemonic, list<string> methods, list<string> access = [],
                      list<Trait> traits = []>
    : Zero_AllocatingOp<mnemonic, !listconcat(traits, [
          DeclareOpInterfaceMethods<Zero_CollectiveOpInterface, methods>,
          DeclareOpInterfaceMethods<Zero_BufferAccessOpInterface, access>,
          DeclareOpInterfaceMethods<Zero_LaneOpInterface>])> {
  let hasVerifier = 1;
}

def Zero_AllGatherOp : Zero_Collective<"all_gather", ["getDestination", "isControl"],
                                       ["readsBytes", "getReused"],
                                       [Zero_ActivationOpInterface]> {
  let summary = "Concatenate the slices of the ranks of a group";
  let description = [{
    With `into` the result reuses the buffer of that operand; a shard that already is the rank's
    own slice of it is not copied. `control` marks a value that is not a parameter.
  }];
  let arguments = (ins AnyStaticShapeTensor:$shard, Optional<AnyStaticShapeTensor>:$into,
                       UnitAttr:$control, OptionalAttr<Zero_GroupAttr>:$group,
                       OptionalAttr<I64Attr>:$layer, OptionalAttr<DenseI64ArrayAttr>:$kept);
  let assemblyFormat = [{
    $shard (`into` $into^)? (`control` $control^)? (`over` $group^)? attr-dict
    `:` functional-type(operands, $result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$shard,
                                 "::zero::GroupAttr":$group, CArg<"::mlir::Value", "{}">:$into,
                                 CArg<"bool", "false">:$control), [{
    build($_builder, $_state, result, shard, into, control, group, {}, {});
  }]>];
}

def Zero_ReduceScatterOp : Zero_Collective<"reduce_scatter", ["getSumType", "reducesInPlace"],
                                           ["getReused"], [Zero_ActivationOpInterface]> {
  let summary = "Sum over ranks in rank order and return the rank's own slice";
  let description = [{
    With `in_place` the result is the rank's slice of the operand's buffer. Sums are computed in
    the type `arithmetic`, by default in the type of the operand, and rounded once.
  }];
  let arguments = (ins AnyStaticShapeTensor:$input, UnitAttr:$in_place,
                       OptionalAttr<TypeAttr>:$arithmetic, OptionalAttr<Zero_GroupAttr>:$group,
                       OptionalAttr<I64Attr>:$layer, OptionalAttr<DenseI64ArrayAttr>:$kept);
  let assemblyFormat = [{
    $input (`in_place` $in_place^)? (`in` $arithmetic^)? (`over` $group^)? attr-dict
    `:` functional-type($input, $result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input,
                                 "::mlir::TypeAttr":$arithmetic, "::zero::GroupAttr":$group,
                                 CArg<"bool", "false">:$inPlace), [{
    build($_builder, $_state, result, input, inPlace, arithmetic, group, {}, {});
  }]>];
}

def Zero_AllReduceOp : Zero_Collective<"all_reduce",
                                       ["getSumType", "isMean", "isControl", "reducesInPlace"], [],
                                       [AllTypesMatch<["input", "result"]>,
                                        Zero_ActivationOpInterface]> {
  let summary = "Sum over ranks in rank order, in place";
  let description = [{
    With `mean` the sum is divided by the number of ranks of the group; such a value comes from
    `zero.rank_mean` and is not a gradient. `arithmetic` is as in `zero.reduce_scatter`.
  }];
  let arguments = (ins AnyStaticShapeTensor:$input, UnitAttr:$mean,
                       OptionalAttr<TypeAttr>:$arithmetic, OptionalAttr<Zero_GroupAttr>:$group,
                       OptionalAttr<I64Attr>:$layer, OptionalAttr<DenseI64ArrayAttr>:$kept);
  let assemblyFormat = [{
    $input (`mean` $mean^)? (`in` $arithmetic^)? (`over` $group^)? attr-dict `:` type($input)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::TypeAttr":$arithmetic,
                                 "::zero::GroupAttr":$group, CArg<"bool", "false">:$mean), [{
    build($_builder, $_state, input.getType(), input, mean, arithmetic, group, {}, {});
  }]>];
}

def Zero_BroadcastOp : Zero_Collective<"broadcast", ["getDestination", "getRootRank", "isControl"],
                                       ["readsBytes", "getReused"],
                                       [AllTypesMatch<["input", "result"]>]> {
  let summary = "Broadcast the value of one rank to all ranks";
  let description = [{
    The result is the operand of rank `root` of the group, byte for byte, of any element type
    and shape. The operands of other ranks are not read. With `into` the result reuses the
    buffer of that operand, which may be the input. `control` is as in `zero.all_gather`. All
    ranks except the root receive all elements. A root that is not a rank of the program is an
    error.

    ```mlir
    %w = zero.broadcast %own from 0 over <[@data]> : (tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$input, Optional<AnyStaticShapeTensor>:$into,
                       I64Attr:$root, UnitAttr:$control, OptionalAttr<Zero_GroupAttr>:$group);
  let assemblyFormat = [{
    $input `from` $root (`into` $into^)? (`control` $control^)? (`over` $group^)? attr-dict
    `:` functional-type(operands, $result)
  }];
}

def Zero_TransferOp : Zero_AllocatingOp<"transfer", [
      AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<Zero_LaneOpInterface>,
      DeclareOpInterfaceMethods<Zero_BufferAccessOpInterface, ["readsBytes", "getReused"]>]> {
  let summary = "Copy a value to another tier";
  let description = [{
    Copies from tier `from` to the adjacent tier `to`: between device and host, or between host
    and nvme (a file of the rank). With `into` the result reuses the bytes of that operand,
    which resides on `tier`: the previous value of a state. The copy runs on a lane of its own,
    beside kernels. Its position in the step only determines from when on the result needs
    memory, or until when the input does.

    ```mlir
    %h = zero.transfer %read from nvme to host : tensor<64xf32>
    %n = zero.transfer %new from host to nvme into %read : tensor<64xf32> : tensor<64xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$input, Optional<AnyStaticShapeTensor>:$into,
                       Zero_TierAttr:$from, Zero_TierAttr:$tier);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $input `from` `` $from `to` `` $tier (`into` $into^ `:` type($into))? attr-dict `:` type($input)
  }];
}

def Zero_CopyOp : Zero_AllocatingOp<"copy", [AllTypesMatch<["input", "result"]>,
                                            DeclareOpInterfaceMethods<Zero_LaneOpInterface>]> {
  let summary = "Copy a value to bytes of its own";
  let description = [{
    The bytes of the operand, of which it may be a view, are free for others after its last
    reader: `zero-partition-activations` copies the slice of a saved value that a rank keeps.

    ```mlir
    %s = zero.own_slice %a over <[@tensor]> : (tensor<8x64xf32>) -> tensor<256xf32>
    %k = zero.copy %s : tensor<256xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$input);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Zero_ReserveOp : Zero_AllocatingOp<"reserve"> {
  let summary = "Reserve bytes of a tier that a kernel writes without reading";
  let arguments = (ins Zero_TierAttr:$tier);
  let assemblyFormat = "`on` `` $tier attr-dict `:` type($result)";
}

class Zero_View<string mnemonic, list<string> methods = []>
    : Zero_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<Zero_ViewOpInterface, methods>]> {
  let hasVerifier = 1;
}

def Zero_OwnSliceOp : Zero_View<"own_slice", ["getRankStride", "getViewGroup"]> {
  let summary = "View this rank's slice of a flat bucket, without a copy";
  let description = [{
    The slices of the ranks of a group follow each other in the order of ranks; without a group,
    those of all ranks.
  }];
  let arguments = (ins AnyStaticShapeTensor:$input, OptionalAttr<Zero_GroupAttr>:$group);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $input (`over` $group^)? attr-dict `:` functional-type($input, $result)
  }];
}

def Zero_MemberOp : Zero_View<"member"> {
  let summary = "View one tensor inside a flat bucket, without a copy";
  let arguments = (ins AnyStaticShapeTensor:$bucket, I64Attr:$start);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$bucket `at` $start attr-dict `:` functional-type($bucket, $result)";
}

def Zero_BucketOp : Zero_Op<"bucket", [Pure]> {
  let summary = "Form a flat buffer from whole tensors";
  let description = [{
    Each operand has its element offset in `starts`. `pack` places the operands inside the
    bucket, so that nothing is copied.
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$members, DenseI64ArrayAttr:$starts);
  let results = (outs AnyStaticShapeTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `(` $members `)` `at` $starts attr-dict `:` functional-type($members, $result)
  }];
}

#endif // DIALECTS_ZERO_ZEROOPS_TD
