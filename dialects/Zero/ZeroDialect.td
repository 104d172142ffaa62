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

class Zero_Attr<string name, string attrMnemonic, list<Trait> traits = []> :
    AttrDef<Zero_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Zero_Tier : I32EnumAttr<"Tier", "a memory tier", [
    I32EnumAttrCase<"Device", 0, "device">,
    I32EnumAttrCase<"Host", 1, "host">,
    I32EnumAttrCase<"Nvme", 2, "nvme">]> {
  let cppNamespace = "::zero";
  let genSpecializedAttr = 0;
}
def Zero_TierAttr : EnumAttr<Zero_Dialect, Zero_Tier, "tier"> {
  let assemblyFormat = "$value";
}

def Zero_StateOrder : I32EnumAttr<"StateOrder", "which state fills nearer tiers, in this order", [
    I32EnumAttrCase<"OptimizerParams", 0, "optimizer_params">,
    I32EnumAttrCase<"ParamsOptimizer", 1, "params_optimizer">,
    I32EnumAttrCase<"Optimizer", 2, "optimizer">,
    I32EnumAttrCase<"Params", 3, "params">]> {
  let cppNamespace = "::zero";
  let genSpecializedAttr = 0;
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

def Zero_Iterations : I32EnumAttr<"Iterations", "the micro-batches of a step in which an op runs", [
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
    A step has three segments. `prologue` runs for each micro-batch before the first one,
    `micro_batch` runs for each micro-batch, `epilogue` runs once, after all of them. An op of
    the first two segments may be limited to the `first` micro-batch, to all `later` ones, or to
    the `last`. An op without this attribute runs for every micro-batch in `micro_batch`. The
    terminator of the step belongs to the epilogue. Passes read, write and copy the attribute
    with the functions of Schedule.h.

    ```mlir
    %s = zero.launch @add(%sum, %g) {zero.schedule = #zero.schedule<micro_batch, later>} : ...
    ```
  }];
  let parameters = (ins "::zero::Segment":$segment,
                        DefaultValuedParameter<"::zero::Iterations",
                                               "::zero::Iterations::Every">:$iterations);
  let assemblyFormat = "`<` $segment (`,` $iterations^)? `>`";
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

def Zero_MeshAttr : Zero_Attr<"Mesh", "mesh"> {
  let summary = "The axes along which ranks are arranged";
  let description = [{
    Names and sizes of axes, the outermost first: with the mesh below, rank 5 has coordinate 2
    along `data` and 1 along `tensor`. The ranks along `data` have different parts of the batch,
    and ZeRO shards state over them. The ranks along `tensor` have the same part of the batch, and
    shards of parameters and activations (Shoeybi et al., arXiv 1909.08053). As the innermost
    axis, `tensor` stays inside a node. A module without a mesh has the one axis `data`.

    If parameters are sharded within nodes, `zero-place-state` divides `data` into the axes `node`
    and `local`: the ranks along `local` are those of one node.

    ```mlir
    module attributes {zero.mesh = #zero.mesh<data = 4, tensor = 2>} {}
    module attributes {zero.mesh = #zero.mesh<node = 2, local = 4>} {}
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names,
                        ArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Zero_ShardAttr : Zero_Attr<"Shard", "shard"> {
  let summary = "The shard of a model's tensor that a rank holds";
  let description = [{
    Dimension `dim` of the tensor is divided into equal parts over the ranks along `over`. With
    `parts`, extents that add up to that of the dimension, each part is divided by itself, and a
    rank holds its share of each, one after the other: joint projections of queries, keys and
    values. The type of the parameter or state is that of the shard.

    ```mlir
    zero.parameter @w : tensor<64x96xf32> {zero.shard = #zero.shard<1, [@tensor], 64, 64, 64>}
    ```
  }];
  let parameters = (ins "int64_t":$dim,
                        OptionalArrayRefParameter<"::mlir::FlatSymbolRefAttr">:$over,
                        OptionalArrayRefParameter<"int64_t">:$parts);
  let assemblyFormat = "`<` $dim `,` custom<Axes>($over) (`,` $parts^)? `>`";
  let genVerifyDecl = 1;
}

def Zero_GroupAttr : Zero_Attr<"Group", "group"> {
  let summary = "The ranks that take part in a collective";
  let description = [{
    Axes of the mesh, as in `#zero.placement`. A rank exchanges with the ranks whose coordinates
    differ from its own along these axes only. A collective without a group includes all ranks.

    Slices of a buffer follow each other in the order of the coordinates along the axes as they are
    listed, the outermost first. Sums are in the order of ranks, whatever that of the slices is.

    ```mlir
    #zero.group<[@data]>
    #zero.group<[@local, @node]> // the slice of node 1 follows that of node 0 at the same place
    ```
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::FlatSymbolRefAttr">:$axes);
  let assemblyFormat = "`<` custom<Axes>($axes) `>`";
}

def Zero_DataAttr : Zero_Attr<"Data", "data"> {
  let summary = "A reference to initial values in a file";
  let description = [{
    `bytes` bytes from `offset` of `file`, little-endian and row-major. Their element type is
    `stored`, which the runtime converts, or by default that of the tensor that they initialize.
    `file` is relative to the directory of the model (`--data-root`). The bytes themselves never
    enter the IR.

    ```mlir
    zero.parameter @w : tensor<8xf32> {data = #zero.data<"m.onnx", 64, 32>}
    zero.parameter @v : tensor<8xf32> {data = #zero.data<"m.onnx", 96, 16, bf16>}
    ```
  }];
  let parameters = (ins StringRefParameter<>:$file, "uint64_t":$offset, "uint64_t":$bytes,
                        OptionalParameter<"::mlir::Type">:$stored);
  let assemblyFormat = "`<` $file `,` $offset `,` $bytes (`,` $stored^)? `>`";
}

def Zero_Distribution : I32EnumAttr<"Distribution", "how random numbers are distributed", [
    I32EnumAttrCase<"Uniform", 0, "uniform">,
    I32EnumAttrCase<"Normal", 1, "normal">]> {
  let cppNamespace = "::zero";
  let genSpecializedAttr = 0;
}
def Zero_DistributionAttr : EnumAttr<Zero_Dialect, Zero_Distribution, "distribution"> {
  let assemblyFormat = "$value";
}

def Zero_RandomAttr : Zero_Attr<"Random", "random"> {
  let summary = "Random initial values";
  let description = [{
    Each element is drawn by its index, so it is the same however the tensor is sharded.
    `first` and `second` are the mean and the standard deviation of a normal distribution, or the
    ends of a uniform one. Two tensors with the same `stream` have the same values.

    ```mlir
    zero.parameter @w : tensor<8xf32> {random = #zero.random<normal, 0.0 : f64, 0.02 : f64, 7>}
    ```
  }];
  let parameters = (ins EnumParameter<Zero_Distribution>:$distribution,
                        "::mlir::FloatAttr":$first, "::mlir::FloatAttr":$second,
                        "uint64_t":$stream);
  let assemblyFormat = "`<` $distribution `,` $first `,` $second `,` $stream `>`";
}

def Zero_PlacementAttr : Zero_Attr<"Placement", "placement"> {
  let summary = "Placement of a tensor that outlives one kernel";
  let description = [{
    `shard` lists the axes of the mesh over which the tensor is partitioned into equal
    slices, the outermost first; it is replicated over the other axes. `tier` is the memory
    tier. A ZeRO stage is a choice of this attribute for optimizer state (stage 1), gradients (2)
    and parameters (3): ZeRO, arXiv 1910.02054, section 5.
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
  let summary = "How backward recomputes values of layers that are not saved";
  let description = [{
    The run starts when backward first reads a value that a layer of `first` to `last` computed
    and that is not saved. `advances` lists pairs of layers that are recomputed first, one pair
    after the other: from the first to the second layer of a pair, limited to what layers after
    the second need. From then on, the values of layers `first` to `last` are recomputed in the
    order in which backward reads them: each launch once. A run starts from values that are
    saved, or that an earlier run recomputed for earlier layers.

    ```mlir
    #zero.run<7 to 7>             // layer 7 from its saved input
    #zero.run<7 to 7 after 4, 6>  // after recomputing layers 4 to 6
    ```
  }];
  let parameters = (ins "int64_t":$first, "int64_t":$last,
                        OptionalArrayRefParameter<"int64_t">:$advances);
  let assemblyFormat = "`<` $first `to` $last (`after` $advances^)? `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Choices and results of planners
//===----------------------------------------------------------------------===//

def Zero_NearerStateAttr : Zero_Attr<"NearerState", "nearer_state"> {
  let summary = "How much state resides on nearer tiers than the rest";
  let description = [{
    Bytes of a rank's parameters and optimizer state that reside on the `device` and on the `host`
    at most, while a #zero.plan says on which tier the rest is. zero-divide-state says which
    buckets these are. `order` says whether parameters or optimizer state are placed first, or that
    only one of both is placed.

    ```mlir
    #zero.nearer_state<device = 1024, host = 4096, order = params_optimizer>
    ```
  }];
  let parameters = (ins "uint64_t":$device, "uint64_t":$host, "::zero::StateOrder":$order);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Zero_PlanAttr : Zero_Attr<"Plan", "plan"> {
  let summary = "The plan that a planner chose";
  let description = [{
    An attribute of the module. It overrides the options of passes: the ZeRO `stage`, the number
    of `ranks`, the size in bytes below which a parameter is not sharded (`persist_under`),
    `bucket_bytes`, the tiers of `params`, `gradients` and `optimizer` state, except for what is
    `nearer`, and bytes of a rank: `activations_host` and `activations_nvme` are saved values on
    these tiers. Parameters are
    sharded over `node_ranks` data-parallel ranks of a node (0: as the options say). With
    `interleave` micro-batches run in vertical order, see zero-interleave-micro-batches.
  }];
  let parameters = (ins "uint64_t":$stage, "uint64_t":$ranks, "uint64_t":$persist_under,
                        "uint64_t":$bucket_bytes, "::zero::Tier":$params,
                        "::zero::Tier":$gradients, "::zero::Tier":$optimizer,
                        "::zero::NearerStateAttr":$nearer, "uint64_t":$activations_host,
                        "uint64_t":$activations_nvme, "uint64_t":$node_ranks, "bool":$interleave);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// This plan with other bytes of state on nearer tiers.
    PlanAttr withNearer(NearerStateAttr nearer) const {
      return get(getContext(), getStage(), getRanks(), getPersistUnder(), getBucketBytes(),
                 getParams(), getGradients(), getOptimizer(), nearer, getActivationsHost(),
                 getActivationsNvme(), getNodeRanks(), getInterleave());
    }
  }];
}

def Zero_FoundPlanAttr : Zero_Attr<"FoundPlan", "found_plan"> {
  let summary = "A plan that zero-plan-tiles found with the tiles that it chose";
  let description = [{
    An attribute of the module, so that zero-plan-memory does not search again: the `plan`, and the
    index of the way to `recompute` in the planner's list (-1: as the options say). `fits` is
    whether it is the fastest plan within the budget, or else the one that needs least memory.
    `considered` plans were compared, and the programs of `built` ones created.
  }];
  let parameters = (ins "::zero::PlanAttr":$plan, "int64_t":$recompute, "bool":$fits,
                        "uint64_t":$considered, "uint64_t":$built);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Zero_TilesAttr : Zero_Attr<"Tiles", "tiles"> {
  let summary = "The size of parameter tiles with which a plan fits";
  let description = [{
    An attribute of a module for which no plan fits. If parameters above `limit` bytes are
    tiled, a plan fits whose step takes `seconds` and whose arena has `bytes`.
  }];
  let parameters = (ins "uint64_t":$limit, "::mlir::FloatAttr":$seconds, "int64_t":$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Zero_MemoryFloorAttr : Zero_Attr<"MemoryFloor", "memory_floor"> {
  let summary = "The memory that every plan needs, whatever its tiles";
  let description = [{
    An attribute of a module for which no plan fits: bytes of the `state` that stays on the
    device, and of the operands of the `launch` with the largest operands; `at` names that
    launch.
  }];
  let parameters = (ins "int64_t":$state, "int64_t":$launch, StringRefParameter<>:$at);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Zero_RoleBytesAttr : Zero_Attr<"RoleBytes", "role_bytes"> {
  let summary = "Bytes by role";
  let parameters = (ins "int64_t":$parameters, "int64_t":$gradients, "int64_t":$optimizer,
                        "int64_t":$activations, "int64_t":$working);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Zero_ArenaAttr : Zero_Attr<"Arena", "arena"> {
  let summary = "The contents of a rank's arena on one tier";
  let description = [{
    An entry of the certificate, `zero.certificate`, which lists one arena for each tier that
    the step uses, the device first. `peak` is the size in bytes, `lower_bound` the maximum of
    the bytes that are live at once, `optimal` whether `peak` is minimal for these lifetimes,
    `peak_at` the op at which most bytes are live. `most` has the maximum of the live bytes of
    each role, `at_peak` the bytes of each role at `peak_at`.

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
  let summary = "The part of a model's tensor that a parameter holds";
  let description = [{
    Indices [`begin`, `begin` + the parameter's extent) of dimension `axis`, which has `extent`
    indices, of the model's tensor `of`. The initial values of the parameter (`data`) are those
    of the whole tensor. For users the parts are one tensor, with one name, one set of initial
    values and one entry in a checkpoint.
  }];
  let parameters = (ins StringRefParameter<>:$of, "int64_t":$axis, "int64_t":$begin,
                        "int64_t":$extent);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Zero_CodeMap : I32EnumAttr<"CodeMap", "the numbers in [-1, 1] that codes stand for", [
    // Of both signs, denser near 0: decades of 10, each divided evenly, the larger ones into more
    // parts (Dettmers et al., arXiv 2110.02861, section 1.3).
    I32EnumAttrCase<"Dynamic", 0, "dynamic">,
    // The same without a sign, which gives one more bit.
    I32EnumAttrCase<"DynamicPositive", 1, "dynamic_positive">,
    // Even steps up to 1, without 0, which a second moment would be divided by (Li et al.,
    // arXiv 2309.01507, section 4.2).
    I32EnumAttrCase<"LinearPositive", 2, "linear_positive">,
    // The 4-bit NormalFloat: quantiles of a normal distribution (Dettmers et al., QLoRA,
    // arXiv 2305.14314, section 3 and appendix E).
    I32EnumAttrCase<"NormalFloat", 3, "nf4">,
    // The code as a signed integer, divided by 127.
    I32EnumAttrCase<"Integer", 4, "int8">,
    // The code as a float of 4 bits of exponent and 3 of mantissa (E4M3 without infinities,
    // arXiv 2209.05433), divided by the largest one, 448.
    I32EnumAttrCase<"Float8", 5, "fp8">]> {
  let cppNamespace = "::zero";
  let genSpecializedAttr = 0;
}

def Zero_BlocksAttr : Zero_Attr<"Blocks", "blocks"> {
  let summary = "A tensor is stored as codes, with a scale for each block";
  let description = [{
    Each element has a code of `bits`, 8 or 4, and each `size` elements in their order have one
    scale, their largest magnitude, in the state or parameter `scales`: the element is the number
    that its code stands for in `map`, times that scale (Dettmers et al., arXiv 2110.02861,
    section 2). Of 4 bits two codes share a byte: byte i of a block has that of element i in its low
    half and that of element `size` / 2 + i in its high half. The last block may be shorter, if its
    codes have 8 bits.

    Scales of a state are f32. Those of a parameter are non-negative, and may be stored in blocks,
    too (double quantization, arXiv 2305.14314, section 3): then `scales` has one element more than
    there are blocks, the mean, which is added to each element.

    A slice of a bucket has whole blocks of a state, which an update encodes. Parameters are
    decoded where all of them is gathered.

    ```mlir
    zero.state optimizer @"w.m" of @w : tensor<64x64xi8>
        {blocks = #zero.blocks<8, 256, dynamic, @"w.m.scale">, splat = 0.0}
    zero.state optimizer @"w.m.scale" of @w : tensor<16xf32> {splat = 0.0}
    ```
  }];
  let parameters = (ins "unsigned":$bits, "int64_t":$size, EnumParameter<Zero_CodeMap>:$map,
                        "::mlir::FlatSymbolRefAttr":$scales);
  let assemblyFormat = "`<` $bits `,` $size `,` $map `,` $scales `>`";
  let genVerifyDecl = 1;
}

include "dialects/Zero/LibraryCalls.td"

#endif // DIALECTS_ZERO_ZERODIALECT_TD
