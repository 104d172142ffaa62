//===- Passes.td - decide where state resides ----------------------------===//

#ifndef ZERO_TRANSFORMS_PLACE_PASSES_TD
#define ZERO_TRANSFORMS_PLACE_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlaceActivations : Pass<"zero-place-activations", "::mlir::ModuleOp"> {
  let summary = "Decides which activations are kept for backward, and which made again";
  let description = [{
    Forward is a chain of layers, found by the repetition of like kernels, or where
    nothing repeats by the cuts that one value crosses. With `mode` layer, what goes from
    one layer to another is kept, and all else that layers make is made again, layer by
    layer. With sqrt, several layers share a checkpoint and are made again together
    (Chen et al., arXiv 1604.06174). With `slots`, at most so many checkpoints are kept
    at a time (Revolve, Algorithm 799). What follows the last layer is kept, what is read
    by more than backward, too.

    `partition` (ZeRO, arXiv 1910.02054, section 6.1) is refused as long as no axis of
    ranks replicates activations, as tensor parallelism would: data-parallel ranks have
    batches of their own.

    Only writes attributes: `layer` and `kept` (the results that stay) on
    launches of layers, `zero.runs` on the step. A planner may write them itself, value by
    value, with `writeActivationPlan` (Activations.h).

    ```mlir
    func.func @step(...) attributes {zero.runs = [#zero.run<0 to 0>, #zero.run<1 to 1>]}
    %0 = zero.launch @norm(%x) {kept = array<i64>, layer = 0 : i64} : ...
    %1 = zero.launch @gemm(%0) {kept = array<i64: 0>, layer = 0 : i64} : ...
    ```
  }];
  let options = [
    Option<"mode", "mode", "::zero::Checkpoint", /*default=*/"::zero::Checkpoint::None", "none, layer or sqrt">,
    Option<"slots", "slots", "uint64_t", /*default=*/"0", "most checkpoints at a time; 0: by mode">,
    Option<"partition", "partition", "bool", /*default=*/"false",
           "cut what is kept over the axis along which it is replicated (Pa)">];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def RecomputeActivations : Pass<"zero-recompute-activations", "::mlir::ModuleOp"> {
  let summary = "Makes backward run launches of layers again";
  let description = [{
    Applies `kept` and `zero.runs`. Where backward first reads a value that a layer of
    a run made and that is not kept, the run starts: first its advances, then, as backward
    reads on, each launch that leads to what it reads, once in a run. A copy calls the
    same kernel with the same operands, so its bits are those of forward; marked
    `zero.recompute` with the number of its run, it is merged with nothing. Checks are not
    repeated. What a kernel works on in place is made again with the kernel.

    ```mlir
    %2 = zero.launch @norm(%x) {layer = 0 : i64, zero.recompute = 0 : i64} : ...
    ```
  }];
  let options = [Option<"quiet", "quiet", "bool", /*default=*/"false",
                        "say nothing, as of a program that a planner only tries">];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::zero::ZeroDialect"];
}

def PlaceState : Pass<"zero-place-state", "::mlir::ModuleOp"> {
  let summary = "Decides where parameters, gradients and optimizer state lie";
  let description = [{
    Writes `#zero.placement` on every parameter and state: stage 1 shards
    optimizer state over the ranks, stage 2 gradients too, stage 3 parameters
    too (ZeRO, arXiv 1910.02054, section 5). A parameter of fewer bytes than
    `persist-under` stays whole at stage 3 as well: it costs one gather after the
    update instead of two around its uses (persistent parameters: ZeRO-Infinity,
    arXiv 2104.07857; DeepSpeed's stage3_param_persistence_threshold). Sharded parameters,
    gradients and the optimizer state of parameters lie on the tiers that are asked for:
    ZeRO-Infinity, section 5.1. Only writes attributes.
  }];
  let options = [
    Option<"stage", "stage", "unsigned", /*default=*/"0", "ZeRO stage, 0 to 3">,
    Option<"ranks", "ranks", "unsigned", /*default=*/"1", "number of data-parallel ranks">,
    Option<"persistUnder", "persist-under", "uint64_t", /*default=*/"0",
           "bytes below which each rank keeps a parameter whole">,
    Option<"params", "params", "::zero::Tier", /*default=*/"::zero::Tier::Device",
           "tier of sharded parameters">,
    Option<"gradients", "gradients", "::zero::Tier", /*default=*/"::zero::Tier::Device",
           "tier of summed gradients">,
    Option<"optimizer", "optimizer", "::zero::Tier", /*default=*/"::zero::Tier::Device",
           "tier of optimizer state">];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def AssignBuckets : Pass<"zero-assign-buckets", "::mlir::ModuleOp"> {
  let summary = "Decides which parameters share a flat buffer";
  let description = [{
    Writes `home` and `start` on every parameter and on its states. Parameters
    go in order of first use; a bucket holds parameters of one layer that are
    alike in element type, in being trained and in whether backward reads them,
    so that at stage 3 backward gathers nothing that it does not read. Layers
    are found by the repetition of shapes. A parameter that is used far apart (a
    tied embedding) is a bucket of its own. Only writes attributes.
  }];
  let options = [
    Option<"limit", "bucket-bytes", "uint64_t", /*default=*/"25000000", "largest bucket">];
  let dependentDialects = ["::zero::ZeroDialect"];
}

#endif // ZERO_TRANSFORMS_PLACE_PASSES_TD
