//===- Passes.td - decide where state resides ----------------------------===//

#ifndef ZERO_TRANSFORMS_PLACE_PASSES_TD
#define ZERO_TRANSFORMS_PLACE_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlaceActivations : Pass<"zero-place-activations", "::mlir::ModuleOp"> {
  let summary = "Choose the activations to save and those to recompute";
  let description = [{
    Forward is treated as a chain of layers. Layers are found by the repetition of equal
    kernels, or, where nothing repeats, by the cuts that a single value crosses. With `mode`
    layer, the values between layers are saved and all other results of layers are recomputed in
    backward, layer by layer. With sqrt, several layers share a checkpoint and are recomputed
    together (Chen et al., arXiv 1604.06174). With `slots`, at most that many checkpoints are
    stored at a time (Revolve, Algorithm 799). Values after the last layer are saved, and so are
    values that are read outside of backward.

    `partition` (ZeRO, arXiv 1910.02054, section 6.1) is an error as long as no axis of ranks
    replicates activations, as tensor parallelism would: data-parallel ranks have different
    batches.

    Only writes attributes: `layer` and `kept` (the results that are saved) on launches of
    layers, and `zero.runs` on the step. A planner may write them itself, value by value, with
    `writeActivationPlan` (Activations.h).

    ```mlir
    func.func @step(...) attributes {zero.runs = [#zero.run<0 to 0>, #zero.run<1 to 1>]}
    %0 = zero.launch @norm(%x) {kept = array<i64>, layer = 0 : i64} : ...
    %1 = zero.launch @gemm(%0) {kept = array<i64: 0>, layer = 0 : i64} : ...
    ```
  }];
  let options = [
    Option<"mode", "mode", "::zero::Checkpoint", /*default=*/"::zero::Checkpoint::None",
           "none, layer or sqrt">,
    Option<"slots", "slots", "uint64_t", /*default=*/"0",
           "maximum number of checkpoints stored at a time; 0: by mode">,
    Option<"partition", "partition", "bool", /*default=*/"false",
           "partition saved activations over the axis that replicates them (Pa)">];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def RecomputeActivations : Pass<"zero-recompute-activations", "::mlir::ModuleOp"> {
  let summary = "Insert launches that recompute activations in backward";
  let description = [{
    Applies `kept` and `zero.runs`. A run starts where backward first reads a value that a layer
    of the run computed and that is not saved: first its advances, then, in the order in which
    backward reads, each launch that leads to a value that backward reads, once per run. A clone
    calls the same kernel with the same operands, so its result is bitwise identical to that of
    forward. It is marked `zero.recompute` with the number of its run and is never merged with
    another op. Checks are not repeated. An operand that a kernel updates in place is recomputed
    together with the kernel.

    ```mlir
    %2 = zero.launch @norm(%x) {layer = 0 : i64, zero.recompute = 0 : i64} : ...
    ```
  }];
  let options = [Option<"quiet", "quiet", "bool", /*default=*/"false",
                        "emit no remarks, for programs that a planner tries">];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::zero::ZeroDialect"];
}

def MarkReplicated : Pass<"zero-mark-replicated", "::mlir::ModuleOp"> {
  let summary = "Mark the activations that ranks hold alike";
  let description = [{
    Writes on ops of forward which of their results all ranks along the axis tensor hold alike:
    those that depend on no shard of a parameter and not on the coordinate of the rank, except
    through a collective whose result all of these ranks have.
    `zero-partition-activations` divides them. Runs before parameters are read through buckets.

    ```mlir
    %y = zero.launch @norm(%x) {zero.replicated = array<i64: 0>} : ...
    ```
  }];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def PlaceState : Pass<"zero-place-state", "::mlir::ModuleOp"> {
  let summary = "Place parameters, gradients and optimizer state on ranks and tiers";
  let description = [{
    Writes `#zero.placement` on every parameter and state: stage 1 shards optimizer state over
    the ranks, stage 2 gradients too, stage 3 parameters too (ZeRO, arXiv 1910.02054, section
    5). A parameter of fewer bytes than `persist-under` is not sharded at stage 3 either: it
    costs one gather after the update instead of two around its uses (persistent parameters:
    ZeRO-Infinity, arXiv 2104.07857; stage3_param_persistence_threshold of DeepSpeed). Sharded
    parameters, gradients and optimizer state of parameters reside on the tiers that the options
    name (ZeRO-Infinity, section 5.1). With `shard-params` node, divides the axis `data` of the mesh
    into `node` and `local` and shards parameters over `local`, the ranks of a node, only: a gather
    then does not leave the node (hpZ of ZeRO++, arXiv 2306.10209; MiCS, arXiv 2205.00119).
    Gradients and optimizer state are sharded over `local` and, within that, `node`, so that the
    slice of a rank is part of its slice of the parameters. With `interleave`, marks a step of
    several micro-batches `zero.interleave`, for zero-interleave-micro-batches. Only writes attributes.
  }];
  let options = [
    Option<"stage", "stage", "unsigned", /*default=*/"0", "ZeRO stage, 0 to 3">,
    Option<"ranks", "ranks", "unsigned", /*default=*/"1", "number of data-parallel ranks">,
    Option<"ranksPerNode", "ranks-per-node", "unsigned", /*default=*/"0",
           "ranks whose values are added before those of other nodes; 0: all ranks in order">,
    Option<"shardParams", "shard-params", "::zero::ShardParams",
           /*default=*/"::zero::ShardParams::All",
           "ranks over which stage 3 shards parameters: all, or those of a node">,
    Option<"persistUnder", "persist-under", "uint64_t", /*default=*/"0",
           "size in bytes below which a parameter is not sharded">,
    Option<"params", "params", "::zero::Tier", /*default=*/"::zero::Tier::Device",
           "tier of sharded parameters">,
    Option<"gradients", "gradients", "::zero::Tier", /*default=*/"::zero::Tier::Device",
           "tier of summed gradients">,
    Option<"optimizer", "optimizer", "::zero::Tier", /*default=*/"::zero::Tier::Device",
           "tier of optimizer state">,
    Option<"interleave", "interleave", "bool", /*default=*/"false",
           "run each part of the step for all micro-batches before the next part">];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def AssignBuckets : Pass<"zero-assign-buckets", "::mlir::ModuleOp"> {
  let summary = "Assign parameters to buckets";
  let description = [{
    Writes `home` (the bucket) and `start` (the offset in it) on every parameter and on its
    states. Parameters are ordered by their first use. A bucket holds parameters of one layer
    that have the same element type, are all trained or all frozen, and are all read in backward
    or all not, so that at stage 3 backward gathers only what it reads. Layers are found by the
    repetition of shapes. A parameter whose uses are far apart (a tied embedding) has a bucket
    of its own.
    Where states are sharded, each matrix that an optimizer of matrices updates has an owner
    (`zero.owner`, the number of a rank): the operations of owners are balanced. N matrices of one
    shape on N ranks are a bucket; others are put together into buckets whose slices have whole
    matrices, if that takes at most 10 % more elements. Slices of other buckets may cut matrices.
    So does a tensor that an optimizer of whole tensors updates, unless slices cut it.
    States with shapes of their own (`zero.whole`) have homes of which the slice of a rank has one
    state of a matrix that it owns; `zero.slice` says how large slices are.
    At stages 2 and 3 buckets have at most `bucket-bytes`. Only writes attributes. The program for
    another shape of the inputs takes over the buckets of the first one (`zero.state_homes`).
  }];
  let options = [
    Option<"limit", "bucket-bytes", "uint64_t", /*default=*/"25000000",
           "maximum bytes of a bucket">];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def DivideState : Pass<"zero-divide-state", "::mlir::ModuleOp"> {
  let summary = "Divide the state of buckets over tiers as the plan says";
  let description = [{
    Places parameters and optimizer state of entire buckets on the device and on the host, as many
    bytes as the `#zero.nearer_state` of the plan says at most, the device first. Selects the
    first buckets: forward needs their parameters before transfers can overlap with anything, and
    they are updated last, when backward cannot overlap with links any more. A bucket that is too
    large is skipped, until little space remains. States that an owner has whole stay. Writes
    placements, and in the plan the bytes that were placed.

    ```mlir
    // nearer = <device = 0, host = 1024, order = optimizer_params>
    zero.state optimizer @a.m of @a : tensor<256xf32> {home = @bucket0.m, placement = #zero.placement<tier = nvme>}
    // after
    zero.state optimizer @a.m of @a : tensor<256xf32> {home = @bucket0.m, placement = #zero.placement<tier = host>}
    ```
  }];
  let dependentDialects = ["::zero::ZeroDialect"];
}

#endif // ZERO_TRANSFORMS_PLACE_PASSES_TD
