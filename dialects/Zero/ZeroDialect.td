//===- ZeroDialect.td - dialect, enums and attributes ---------------------===//

#ifndef DIALECTS_ZERO_ZERODIALECT_TD
#define DIALECTS_ZERO_ZERODIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Zero_Dialect : Dialect {
  let name = "zero";
  let cppNamespace = "::zero";
  let summary = "State, placement and collectives of a training step";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class Zero_Attr<string name, string attrMnemonic> : AttrDef<Zero_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Zero_Tier : I32EnumAttr<"Tier", "a level of memory", [
    I32EnumAttrCase<"Device", 0, "device">,
    I32EnumAttrCase<"Host", 1, "host">,
    I32EnumAttrCase<"Nvme", 2, "nvme">]> {
  let cppNamespace = "::zero";
  let genSpecializedAttr = 0;
}
def Zero_TierAttr : EnumAttr<Zero_Dialect, Zero_Tier, "tier"> {
  let assemblyFormat = "$value";
}

def Zero_Role : I32EnumAttr<"Role", "what a persistent buffer holds", [
    I32EnumAttrCase<"Parameter", 0, "parameter">,
    I32EnumAttrCase<"Optimizer", 1, "optimizer">,
    I32EnumAttrCase<"Constant", 2, "constant">,
    I32EnumAttrCase<"Buffer", 3, "buffer">,
    I32EnumAttrCase<"Accumulator", 4, "accumulator">]> {
  let cppNamespace = "::zero";
  let genSpecializedAttr = 0;
}
def Zero_RoleAttr : EnumAttr<Zero_Dialect, Zero_Role, "role"> {
  let assemblyFormat = "$value";
}

def Zero_Segment : I32EnumAttr<"Segment", "a part of a step", [
    I32EnumAttrCase<"Prologue", 0, "prologue">,
    I32EnumAttrCase<"MicroBatch", 1, "micro_batch">,
    I32EnumAttrCase<"Epilogue", 2, "epilogue">]> {
  let cppNamespace = "::zero";
  let genSpecializedAttr = 0;
}

def Zero_Turns : I32EnumAttr<"Turns", "the micro-batches of a step in which an op runs", [
    I32EnumAttrCase<"Every", 0, "every">,
    I32EnumAttrCase<"First", 1, "first">,
    I32EnumAttrCase<"Later", 2, "later">,
    I32EnumAttrCase<"Last", 3, "last">]> {
  let cppNamespace = "::zero";
  let genSpecializedAttr = 0;
}

def Zero_ScheduleAttr : Zero_Attr<"Schedule", "schedule"> {
  let summary = "When an op of the step runs";
  let description = [{
    A step has three segments. `prologue` runs for each micro-batch before the first
    one, `micro_batch` for each micro-batch, `epilogue` once, after all of them. Of the
    first two an op may run only in the `first` turn, in all `later` ones, or in the
    `last`. An op of the step without this attribute runs in every turn of
    `micro_batch`; the step's terminator belongs to the epilogue.

    Passes read, write and copy it with the functions of Schedule.h.

    ```mlir
    %s = zero.launch @add(%sum, %g) {zero.schedule = #zero.schedule<micro_batch, later>} : ...
    ```
  }];
  let parameters = (ins "::zero::Segment":$segment,
                        DefaultValuedParameter<"::zero::Turns", "::zero::Turns::Every">:$turns);
  let assemblyFormat = "`<` $segment (`,` $turns^)? `>`";
  let genVerifyDecl = 1;
}

def Zero_CollectiveKind : I32EnumAttr<"CollectiveKind", "what ranks exchange", [
    I32EnumAttrCase<"AllGather", 0, "all_gather">,
    I32EnumAttrCase<"ReduceScatter", 1, "reduce_scatter">,
    I32EnumAttrCase<"AllReduce", 2, "all_reduce">,
    I32EnumAttrCase<"Broadcast", 3, "broadcast">]> {
  let cppNamespace = "::zero";
  let genSpecializedAttr = 0;
}

def Zero_Lane : I32EnumAttr<"Lane", "a lane of a rank, which runs its commands in order", [
    I32EnumAttrCase<"Compute", 0, "compute">,
    I32EnumAttrCase<"Collective", 1, "collective">,
    I32EnumAttrCase<"HostToDevice", 2, "h2d">,
    I32EnumAttrCase<"DeviceToHost", 3, "d2h">,
    I32EnumAttrCase<"DiskRead", 4, "nvme_read">,
    I32EnumAttrCase<"DiskWrite", 5, "nvme_write">,
    I32EnumAttrCase<"HostCompute", 6, "host_compute">]> {
  let cppNamespace = "::zero";
  let genSpecializedAttr = 0;
}

def Zero_GroupAttr : Zero_Attr<"Group", "group"> {
  let summary = "The ranks that take part in a collective";
  let description = [{
    Axes of the device grid, as in `#zero.placement`: a rank exchanges with those that
    differ from it along these alone. A collective without a group is of all ranks.

    ```mlir
    #zero.group<[@dp]>
    ```
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::FlatSymbolRefAttr">:$axes);
  let assemblyFormat = "`<` custom<Axes>($axes) `>`";
}

def Zero_DataAttr : Zero_Attr<"Data", "data"> {
  let summary = "A reference to initial values: bytes of a file";
  let description = [{
    `bytes` bytes from `offset` of `file`, little-endian and row-major. Their
    element type is `stored`, from which the runtime converts, or that of the
    tensor that they initialise. `file` is relative to the folder of the model
    (`--data-root`). The bytes themselves never enter the IR.

    ```mlir
    zero.parameter @w : tensor<8xf32> {data = #zero.data<"m.onnx", 64, 32>}
    zero.parameter @v : tensor<8xf32> {data = #zero.data<"m.onnx", 96, 16, bf16>}
    ```
  }];
  let parameters = (ins StringRefParameter<>:$file, "uint64_t":$offset, "uint64_t":$bytes,
                        OptionalParameter<"::mlir::Type">:$stored);
  let assemblyFormat = "`<` $file `,` $offset `,` $bytes (`,` $stored^)? `>`";
}

def Zero_PlacementAttr : Zero_Attr<"Placement", "placement"> {
  let summary = "Where a tensor that outlives one kernel lies";
  let description = [{
    `shard` lists the axes of the device grid over which the tensor is cut into
    equal slices; over the others it is replicated. `tier` is the memory level.
    A ZeRO stage is a choice of this attribute for optimizer state (stage 1),
    gradients (2) and parameters (3): ZeRO, arXiv 1910.02054, section 5.
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::FlatSymbolRefAttr">:$shard,
                        DefaultValuedParameter<"Tier", "Tier::Device">:$tier);
  let assemblyFormat = "`<` struct(custom<Axes>($shard), $tier) `>`";
  let extraClassDeclaration = [{
    /// Whether each rank holds only a slice.
    bool isSharded() const { return !getShard().empty(); }
  }];
}

def Zero_RunAttr : Zero_Attr<"Run", "run"> {
  let summary = "How backward gets what layers made and nobody kept";
  let description = [{
    When backward first reads a value that a layer of `first` to `last` made and that is
    not kept, `advances`, pairs of layers, are run one after the other: from the first
    to the second of a pair, as far as what layers behind the second read needs it. From
    then on, values of layers `first` to `last` are made as backward reads them: each
    launch runs again once. A run starts from what is kept or what an earlier run made
    of layers before it.

    ```mlir
    #zero.run<7 to 7>             // layer 7 from its input, which is kept
    #zero.run<7 to 7 after 4, 6>  // from what layers 4 to 6 make again of theirs
    ```
  }];
  let parameters = (ins "int64_t":$first, "int64_t":$last,
                        OptionalArrayRefParameter<"int64_t">:$advances);
  let assemblyFormat = "`<` $first `to` $last (`after` $advances^)? `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// What planners choose and find
//===----------------------------------------------------------------------===//

def Zero_PlanAttr : Zero_Attr<"Plan", "plan"> {
  let summary = "What a planner chose";
  let description = [{
    On the module. It overrides the options of passes: the ZeRO `stage`, the number of
    `ranks`, the bytes of a parameter under which it is not sharded (`persist_under`),
    `bucket_bytes`, the tiers of `params` and of `optimizer` state, and bytes of a rank:
    `optimizer_host`, its state on the host while the rest is on nvme, `activations_host` and
    `activations_nvme`, its saved values on these tiers.
  }];
  let parameters = (ins "uint64_t":$stage, "uint64_t":$ranks, "uint64_t":$persist_under,
                        "uint64_t":$bucket_bytes, "::zero::Tier":$params, "::zero::Tier":$optimizer,
                        "uint64_t":$optimizer_host, "uint64_t":$activations_host,
                        "uint64_t":$activations_nvme);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Zero_TilesAttr : Zero_Attr<"Tiles", "tiles"> {
  let summary = "Tiles of parameters with which a plan fits";
  let description = [{
    On a module for which no plan fits. With parameters above `limit` bytes in tiles one
    does, whose step takes `seconds` and whose arena has `bytes`.
  }];
  let parameters = (ins "uint64_t":$limit, "::mlir::FloatAttr":$seconds, "int64_t":$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Zero_MemoryFloorAttr : Zero_Attr<"MemoryFloor", "memory_floor"> {
  let summary = "What no plan can do without, whatever its tiles";
  let description = [{
    On a module for which no plan fits: bytes of the `state` that stays on the device, and
    of the `launch` with the most operands, which is `at`.
  }];
  let parameters = (ins "int64_t":$state, "int64_t":$launch, StringRefParameter<>:$at);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Zero_RoleBytesAttr : Zero_Attr<"RoleBytes", "role_bytes"> {
  let summary = "Bytes by what they are for";
  let parameters = (ins "int64_t":$parameters, "int64_t":$gradients, "int64_t":$optimizer,
                        "int64_t":$activations, "int64_t":$working);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Zero_ArenaAttr : Zero_Attr<"Arena", "arena"> {
  let summary = "What a rank's arena on one tier holds";
  let description = [{
    An entry of the certificate, `zero.certificate`, which lists one arena for each tier that
    the step uses, the device's first. `peak` is the size in bytes, `lower_bound` the most bytes
    that are live at once, `optimal` whether no packing of these lifetimes is smaller, `peak_at`
    the op at which most bytes are live. `most` has the largest number of live bytes of each role,
    `at_peak` those at `peak_at`.

    ```mlir
    #zero.arena<tier = device, peak = 1280, lower_bound = 1280, optimal = true,
      peak_at = "fc1", most = <parameters = 256, gradients = 0, optimizer = 0, activations = 512,
      working = 1024>, at_peak = <parameters = 256, gradients = 0, optimizer = 0,
      activations = 512, working = 512>>
    ```
  }];
  let parameters = (ins "::zero::Tier":$tier, "int64_t":$peak,
                        DefaultValuedParameter<"int64_t", "0">:$lower_bound,
                        DefaultValuedParameter<"bool", "false">:$optimal,
                        OptionalParameter<"::mlir::StringAttr">:$peak_at,
                        OptionalParameter<"::zero::RoleBytesAttr">:$most,
                        OptionalParameter<"::zero::RoleBytesAttr">:$at_peak);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Zero_PartAttr : Zero_Attr<"Part", "part"> {
  let summary = "The part of a model's tensor that a parameter is";
  let description = [{
    Indices [`begin`, `begin` + the parameter's own) of dimension `axis`, of `extent` indices, of
    the model's tensor `of`. The parameter's initial values (`data`) are the whole tensor's. To
    users the parts are one tensor: its name, its initial values, its place in a checkpoint.
  }];
  let parameters = (ins StringRefParameter<>:$of, "int64_t":$axis, "int64_t":$begin,
                        "int64_t":$extent);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

include "dialects/Zero/LibraryCalls.td"

#endif // DIALECTS_ZERO_ZERODIALECT_TD
