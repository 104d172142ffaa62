//===- Passes.td - passes of lib/Transforms, in the order they run --------===//

#ifndef ZERO_TRANSFORMS_PASSES_TD
#define ZERO_TRANSFORMS_PASSES_TD

include "include/zero/Transforms/PrecisionPasses.td"
include "include/zero/Transforms/TransferPasses.td"
include "mlir/Pass/PassBase.td"

def WidenFloats : Pass<"zero-widen-floats", "::mlir::ModuleOp"> {
  let summary = "Makes a model of 16-bit floats one of f32";
  let description = [{
    Every f16 and bf16 tensor of the module becomes f32: inputs, constants, values
    of nodes, and what initial values are read into; where they lie stays 16-bit
    (`#zero.data`'s `stored`), and the runtime converts, which is exact. Casts to and
    from 16 bits then change nothing and are dropped, so that nothing rounds. What
    was done is a remark of category "precision". A program that computes in 16 bits
    by other ops than the model's nodes is left as it is.

    ```mlir
    zero.state constant @w : tensor<8xbf16> {data = #zero.data<"m.onnx", 64, 16>}        // before
    zero.state constant @w : tensor<8xf32> {data = #zero.data<"m.onnx", 64, 16, bf16>}   // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect",
                           "::zero::onnx::OnnxDialect"];
}

def VerifyImport : Pass<"zero-verify-import", "::mlir::ModuleOp"> {
  let summary = "Checks what import promises";
  let description = [{
    Every operator is in the op table, every value has a static shape, no state is
    of 16-bit floats, every input and result of `@step` has the name that users bind,
    and further names of tensors (`zero.aliases`) are of one tensor each. Operators
    that are not supported are named in one error, each with its first nodes: the first
    few, with `verbose` all.
  }];
  let options = [
    Option<"verbose", "verbose", "bool", /*default=*/"false", "list everything that is wrong">];
}

def VerifyExport : Pass<"zero-verify-export", "::mlir::ModuleOp"> {
  let summary = "Refuses graphs whose exporter lost parameters on the way";
  let description = [{
    An exporter that optimizes for inference folds weights into constants under new
    names, merges equal ones, drops biases of zero, fuses BatchNormalization into
    convolutions or exports it in inference mode: what is left would train, but not
    as the model. Where import found the exporter's account of its tensors, what it
    lost is known (`zero.lost_parameters`); elsewhere a constant without the name of
    a module's tensor looks lost if it is used as a weight is. One error says how to
    export the model whole and names the first few, with `verbose` all. A normalization
    without an epsilon is a warning: folding x + 1e-8 to x leaves that.
  }];
  let options = [
    Option<"verbose", "verbose", "bool", /*default=*/"false", "list everything that is wrong">];
}

def SelectParameters : Pass<"zero-select-parameters", "::mlir::ModuleOp"> {
  let summary = "Decides which of the model's constants are trained";
  let description = [{
    Makes a `zero.parameter` of each float `zero.state constant` that reaches the
    loss and that the exporter says is one (`zero.exported_as`). Where no exporter
    says anything: that has the name of a module's tensor ("layer.0.weight") and is
    no buffer:
    running statistics of a BatchNormalization, a rotary table that reaches the
    loss only through Cos and Sin, a mask that is only added to or selected into
    a Softmax's input. With `trainable`, those that the file lists, by name or glob
    pattern, are trained, and the other parameters frozen; a name may be that of any
    constant but running statistics, a pattern passes buffers over. `freeze` and
    `freeze-all-but` freeze by pattern. A tied tensor (`zero.aliases`) answers to all
    its names. Constants that the loss does not depend on are dropped. Each decision
    is a remark of category "parameters". Where no option says what is frozen, names
    that look like adapters beside a base or like a teacher draw a warning.

    ```mlir
    zero.state constant @"fc1.weight" : tensor<8x4xf32> {data = ...}  // before
    zero.parameter @"fc1.weight" : tensor<8x4xf32> {data = ...}       // after
    ```
  }];
  let options = [
    Option<"trainable", "trainable", "std::string", /*default=*/"", "file of names or globs to train, one a line">,
    ListOption<"freeze", "freeze", "std::string", "glob patterns of parameters to freeze">,
    ListOption<"freezeAllBut", "freeze-all-but", "std::string", "glob patterns of the parameters that are not frozen">,
    Option<"forwardOnly", "forward-only", "bool", /*default=*/"false", "train nothing">,
    Option<"verbose", "verbose", "bool", /*default=*/"false", "list everything that is wrong">];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def MarkTokens : Pass<"zero-mark-tokens", "::mlir::ModuleOp"> {
  let summary = "Mark the inputs of the step that are tokens";
  let description = [{
    An input of integers, batch by sequence, whose numbers choose rows of an embedding
    gets `zero.tokens`: a run of such a model is told in tokens a second. Labels, and
    ids of users or items in a vector, are none.

    ```mlir
    func.func @step(%ids: tensor<4x32xi64> {zero.binding = "input_ids", zero.tokens}) -> ...
    ```
  }];
}

def TileParameters : Pass<"zero-tile-parameters", "::mlir::ModuleOp"> {
  let summary = "Cuts parameters above a size, and what reads them, into tiles";
  let description = [{
    Memory-centric tiling (ZeRO-Infinity, arXiv 2104.07857, section 5.1.3). A parameter
    of more than `bytes` becomes as few parts of at most that as there can be, as even as
    possible, each a parameter of its own (`zero.part`): with its own bucket, gradient
    and states, so that one part is gathered at a time. What reads it is written once
    for each part, in sequence:

    - a matrix product by rows or columns of its result, which are then joined: nothing
      that is summed is cut;
    - a Gather of rows by rows of the table: each part fills in the rows that it has;
    - a product that makes the scores of a cross-entropy, and nothing else reads, becomes
      one node, `ProjectionLoss`, which zero-tile-vocabulary writes out.

    Every reader must cut the same dimension. What cannot be cut is refused, with the
    node and the size: another operator, a limit below one row or column. Does nothing
    when `bytes` is 0. Decisions are remarks of category "tiles".

    ```mlir
    zero.parameter @w : tensor<8x4xf32> {data = ...}                              // before
    %y = onnx.node "MatMul"(%x, %w) ... -> tensor<2x4xf32>

    zero.parameter @"w.part0" : tensor<8x2xf32> {data = ..., zero.part = ...}     // after
    zero.parameter @"w.part1" : tensor<8x2xf32> {data = ..., zero.part = ...}
    %0 = onnx.node "MatMul"(%x, %w0) ... -> tensor<2x2xf32>
    %1 = onnx.node "MatMul"(%x, %w1) ... -> tensor<2x2xf32>
    %y = onnx.node "Concat"(%0, %1) {axis = 1 : i64} ... -> tensor<2x4xf32>
    ```
  }];
  let options = [
    Option<"bytes", "bytes", "uint64_t", "0", "largest part of a parameter; 0: any">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect",
                           "::zero::onnx::OnnxDialect"];
}

def Differentiate : Pass<"zero-differentiate", "::mlir::ModuleOp"> {
  let summary = "Appends the gradient of the loss to the step function";
  let description = [{
    Reverse mode over the op table: walks the nodes of `@step` backwards from its
    returned loss, asks each operator for its operands' gradients, sums what
    arrives from several users in the order of the walk, and ends with one
    `zero.gradient` for each parameter that is not frozen. The seed is
    `zero.rank_share`, so that the sum over ranks is the gradient of the mean
    loss; in a program that computes in f16, times the state `loss_scale`. Only values on a path from a trained parameter to the loss are visited.

    ```mlir
    %l = onnx.node "ReduceSum"(%y) ...          // before: returned
    %s = zero.rank_share : tensor<f32>          // after
    %dy = onnx.node "Expand"(%s, ...) ...
    %g = zero.gradient @w, %dw : tensor<8x4xf32> -> tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect", "::zero::onnx::OnnxDialect"];
}

def SetSeed : Pass<"zero-set-seed", "::mlir::ModuleOp"> {
  let summary = "Writes the seed of the program's random numbers on the module";
  let description = [{
    What draws random numbers, as Dropout does, reads it where it is expanded. Such
    nodes get names that differ in hash, since that is a part of each number's key. A
    seed other than 0 in a program that draws no random numbers has no effect, which is
    an error.
  }];
  let options = [Option<"seed", "seed", "uint64_t", /*default=*/"0", "the seed">];
}

def LocalLossMean : Pass<"zero-local-loss-mean", "::mlir::ModuleOp"> {
  let summary = "Makes each rank average its own loss, as DDP does";
  let description = [{
    Marks the module so that the mean of a cross-entropy divides by the rank's
    own number of valid labels; without it that number is summed over ranks, so
    that any split of a batch gives the same loss.
  }];
}

def SyncBatchNorm : Pass<"zero-sync-batchnorm", "::mlir::ModuleOp"> {
  let summary = "Takes the statistics of a batch over all ranks' batches";
  let description = [{
    Marks the module so that each BatchNormalization in training mode normalises
    with mean and variance over the batches of all ranks, and its gradient flows
    to all of them; without it each rank normalises its own batch, as DDP does.
    The mean over ranks comes first and the variance around it after, two
    collectives of one value per channel each, summed in rank order; backward
    has the same two. An error if no node trains.
  }];
}

def UpdateBuffers : Pass<"zero-update-buffers", "::mlir::ModuleOp"> {
  let summary = "Makes running statistics a state that the step writes";
  let description = [{
    The running mean and variance of a BatchNormalization in training mode become
    `zero.state buffer`, and the node's results 1 and 2 their next values. The
    next variance is that of frameworks, which divide the batch's by its elements
    less one, where ONNX's result divides by all. Several nodes that share
    statistics update them one after the other.

    ```mlir
    zero.state constant @var : tensor<8xf32>                             // before
    %y = onnx.node "BatchNormalization"(%x, %s, %b, %m, %v) {training_mode = 1 : i64}
    zero.state buffer @var : tensor<8xf32>                               // after
    %y, %n, %w = onnx.node "BatchNormalization"(%x, %s, %b, %m, %v) {training_mode = 1 : i64, unbiased}
    zero.write @var, %w : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::zero::ZeroDialect", "::zero::onnx::OnnxDialect"];
}

def AverageBuffers : Pass<"zero-average-buffers", "::mlir::ModuleOp"> {
  let summary = "Averages the next values of buffers over ranks";
  let description = [{
    Each rank computes the next running statistics from its own batch. What is
    written is their mean over ranks, in rank order, so that all ranks hold the
    same: one bucket of each element type, one collective, and the writes at the
    end of the step. Over several micro-batches each goes on from where the one before
    ended, in accumulators, and the mean comes once, after the last. What a step
    that does not count would write stays unwritten.

    ```mlir
    zero.write @mean, %m : tensor<8xf32>                          // before
    %b = zero.bucket(%m, ...) at [0, ...]                         // after
    %a = zero.rank_mean %b : tensor<128xf32>
    %n = zero.member %a at 0 : (tensor<128xf32>) -> tensor<8xf32>
    zero.write @mean, %n {zero.epilogue} : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::zero::ZeroDialect"];
}

def VerifyGradients : Pass<"zero-verify-gradients", "::mlir::ModuleOp"> {
  let summary = "Checks that each trained parameter has exactly one gradient";
}

def VerifyUpdates : Pass<"zero-verify-updates", "::mlir::ModuleOp"> {
  let summary = "Checks that each trained parameter is updated exactly once";
}

def VerifyKernels : Pass<"zero-verify-kernels", "::mlir::ModuleOp"> {
  let summary = "Checks that the step is launches of kernels with known costs";
}

def VerifyStateOrder : Pass<"zero-verify-state-order", "::mlir::ModuleOp"> {
  let summary = "Checks that no state is read after it was written";
  let description = [{
    The order of the step is total and the same on all ranks. A `zero.read` is
    the value at the start of the step, so none may follow a `zero.write` of the
    same symbol, and no value may be read through a bucket after the bucket's
    update took its bytes. Every collective carries the name that a time-out
    reports.
  }];
}

def BuildStep : Pass<"zero-build-step", "::mlir::ModuleOp"> {
  let summary = "Puts everything between gradient and next step into the program";
  let description = [{
    Gives each trained parameter its optimizer states (of a 16-bit parameter its f32
    master first) and one `zero.update` from its `zero.gradient`, adds the learning
    rate as input `learning_rate` and the kernel that computes the step's scalars by
    the schedule, and returns the mean of the loss over micro-batches and ranks
    ("loss") beside the rank's own ("local_loss").

    Over several micro-batches gradients and losses get the kernels that add them up.
    With a norm to clip to or a loss scale, the global norm of the gradients becomes
    a factor that the updates apply; a norm that is not finite makes the step not
    count: updates and what counts them have the condition `applied`, and the loss
    scale adapts.
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", /*default=*/"\"adamw\"", "name of the optimizer; see lib/Optimizers/Definitions">,
    Option<"settings", "settings", "std::string", /*default=*/"\"\"", "its hyperparameters that are not at their default: {flag=1,2 switch}">,
    ListOption<"paramGroups", "param-group", "std::string", "pattern:weight-decay=X:lr-scale=Y">,
    ListOption<"noDecay", "no-decay", "std::string", "patterns of parameters without weight decay">,
    Option<"scheduleKind", "lr-schedule", "::zero::ScheduleKind", /*default=*/"::zero::ScheduleKind::Constant", "constant, linear, cosine or inverse-sqrt">,
    Option<"warmupSteps", "warmup-steps", "uint64_t", /*default=*/"0", "steps in which the learning rate rises">,
    Option<"totalSteps", "total-steps", "uint64_t", /*default=*/"0", "steps after which it stays">,
    Option<"minLearningRate", "min-lr-ratio", "double", /*default=*/"0.0", "where it ends">,
    Option<"clipNorm", "clip-norm", "double", /*default=*/"0.0", "largest global norm; 0: any">,
    Option<"microBatches", "micro-batches", "uint64_t", /*default=*/"1", "batches that one step adds up">,
    Option<"lossScale", "loss-scale", "double", /*default=*/"0.0", "fixed loss scale; 0: it adapts">,
    Option<"minLossScale", "min-loss-scale", "double", /*default=*/"1.0", "smallest loss scale">,
    Option<"lossScaleWindow", "loss-scale-window", "unsigned", /*default=*/"1000", "steps until it doubles">,
    Option<"patience", "loss-scale-hysteresis", "unsigned", /*default=*/"1", "overflows until it halves">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
                           "::zero::ZeroDialect"];
}

def SplitPrologue : Pass<"zero-split-prologue", "::mlir::ModuleOp"> {
  let summary = "Computes what must be known before the first micro-batch";
  let description = [{
    A mean over labels divides by the labels of the whole global batch, those of later
    micro-batches included. What a `zero.micro_mean` that the step itself uses is
    computed from is cloned to the start of the step, marked `zero.prologue`: it runs
    for each micro-batch before the first one. With one micro-batch there are no
    means over them, and nothing to do.

    ```mlir
    %c = onnx.node "LabelWeights"(%labels) ... {zero.prologue}
    %m = zero.micro_mean %c accumulate [@first, @later] {zero.prologue} : tensor<f32>
    %n = zero.rank_mean %m {zero.prologue} : tensor<f32>
    ```
  }];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def TileVocabulary : Pass<"zero-tile-vocabulary", "::mlir::ModuleOp"> {
  let summary = "Computes a projection and its cross-entropy a part of the classes at a time";
  let description = [{
    Writes out `ProjectionLoss` and `ProjectionLossGrad`, whose projection is cut into
    parts of the classes. Forward goes over the parts and keeps, for each row, the largest
    score so far, the sum of exponentials relative to it, and the score of the label;
    backward goes over the parts again and computes their scores anew. So of the
    projection and of its gradient one part is there at a time, and of the scores one part
    of `bytes` at most, in tiles of rows.

    ```mlir
    %l = onnx.node "Contract"(%x0, %w0) {transB = 1 : i64} ...      // for each part and tile
    %s1 = onnx.node "LossPart"(%l, %labels0, %s0) {begin = 0 : i64} ...
    ```
  }];
  let options = [
    Option<"bytes", "bytes", "uint64_t", "0",
           "most bytes of scores at once; 0: 8 MiB, but at least 256 rows">,
  ];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def TileProjection : Pass<"zero-tile-projection", "::mlir::ModuleOp"> {
  let summary = "Computes the logits of a loss, and what follows from them, in tiles of rows";
  let description = [{
    A projection to a vocabulary and its cross-entropy need one row of logits at a
    time. Everything along these rows is written once for each tile: the product, the
    loss, the gradient of the logits, and the products that read it. Losses and the
    gradients of weights are added up in f32 in the order of the tiles, the rows of the
    other gradient are made in their places in one buffer. So all logits are never
    stored at once. Left as it is: a loss whose own gradient depends on its value, and
    logits that something else reads.

    ```mlir
    %l = onnx.node "Contract"(%x, %w) {transB = 1 : i64} ...       // before, and its gradient
    %s:3 = onnx.node "CrossEntropySum"(%l, %labels) ...

    %x0 = zero.member %x at 0 : (tensor<64x8xf32>) -> tensor<16x8xf32>   // after, for each tile
    %l0 = onnx.node "Contract"(%x0, %w) {transB = 1 : i64} ...
    ```
  }];
  let options = [
    Option<"bytes", "bytes", "uint64_t", "0",
           "most bytes of logits at once; 0: 8 MiB, but at least 256 rows">,
  ];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def AddIntoTables : Pass<"zero-add-into-tables", "::mlir::ModuleOp"> {
  let summary = "Lets the gradient of a gather add to what it is added to";
  let description = [{
    The gradient of a table that is read twice, as a tied embedding is, is a sum. Where
    one summand is a `GatherGrad` and the other is there before it, `GatherGrad` takes
    that as the tensor to start from: a few rows change in place, and no table of zeros
    is filled and added.

    ```mlir
    %1 = onnx.node "GatherGrad"(%dy, %ids) ...        // before
    %2 = onnx.node "Add"(%0, %1) ...
    %1 = onnx.node "GatherGrad"(%dy, %ids, %0) ...    // after
    ```
  }];
}

def RecomputeCheap : Pass<"zero-recompute-cheap", "::mlir::ModuleOp"> {
  let summary = "Computes in backward again what is cheap, instead of keeping it";
  let description = [{
    A value that forward makes and backward reads is kept from one to the other. Where
    its node computes element by element or normalises rows, and all that the node reads
    is there anyway when backward first reads the value, a clone of the node makes it
    again just then, from the same bytes to the same bits. The clone is marked
    `zero.recompute`, so that nothing merges the two. Products are never computed again.
    Linear in the step.

    ```mlir
    %1 = onnx.node "Gelu"(%0) ...
    ... the loss ...
    %2 = onnx.node "Gelu"(%0) ... {zero.recompute, zero.round}
    %3 = onnx.node "Contract"(%2, %dy) ...
    ```
  }];
  let options = [
    Option<"what", "what", "::zero::Recompute", /*default=*/"::zero::Recompute::Cheap", "cheap or none">];
}

def FormKernels : Pass<"zero-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Groups nodes into kernels and lowers them to linalg";
  let description = [{
    A matrix product adds what is added to its result: a row, and a tensor of the
    result's shape, in whose place it adds (`zero.inplace`) if nobody else reads that.
    An elementwise node joins the kernel of its consumer when that is its only
    user and computes as many elements; every other node starts a kernel, except
    views, which stay in the step as tensor reshapes. Each group becomes one
    private function made by the operators' lowerings and one `zero.launch`.
    Constants are cloned into the kernels that use them. Floats that the step stores
    in 16 bits are extended where a kernel reads them, everything is computed in
    f32, and results are rounded once at the end; a Cast rounds where it stands, and
    nodes that only move elements move them as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::zero::ZeroDialect"];
}

def DeduplicateKernels : Pass<"zero-deduplicate-kernels", "::mlir::ModuleOp"> {
  let summary = "Keeps one of all kernels that do the same";
  let description = [{
    Kernels are the same when their bodies and signatures are, names and other
    discardable attributes aside. Runs before fusion and bufferization, which
    then see a few dozen functions instead of thousands. Linear: a structural
    hash that enters regions, then a comparison with one candidate.
  }];
}

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
    value, with lib/Transforms' `writeActivationPlan`.

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

def PartitionStep : Pass<"zero-partition-step", "::mlir::ModuleOp"> {
  let summary = "Makes the step the program of one rank";
  let description = [{
    Replaces reads of parameters by reads of flat buckets, gathered just before
    use where the placement shards them, gradients by buckets that are reduced
    as soon as they are whole, and updates by one launch over each bucket's
    slice. Over several micro-batches gradients add up in an accumulator, reduced
    before (`each`, and where the placement shards gradients) or after the last one.
    Resolves `zero.rank_mean`, `zero.rank_share`, `zero.micro_mean` and `zero.square_sum`.

    ```mlir
    %w = zero.read @w                                // before
    %s = zero.read @bucket0 : tensor<64xf32>         // after, stage 3 on 4 ranks
    %f = zero.all_gather %s : (tensor<64xf32>) -> tensor<256xf32>
    %w = zero.member %f at 0 : (tensor<256xf32>) -> tensor<16x8xf32>
    ```
  }];
  let options = [
    Option<"reduceEach", "reduce-each", "bool", /*default=*/"false", "sum over ranks after each micro-batch">,
    Option<"reduceInF32", "reduce-in-f32", "bool", /*default=*/"true", "add 16-bit gradients in f32, round once">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
                           "::zero::ZeroDialect"];
}

def VerifyPartition : Pass<"zero-verify-partition", "::mlir::ModuleOp"> {
  let summary = "Checks what partition promises";
  let description = [{
    No op that only makes sense before partition is left; every trained
    parameter has a home; persistent and gradient bytes divide over the ranks as
    the placements say.
  }];
}

def PackArena : Pass<"zero-pack-arena", "::mlir::ModuleOp"> {
  let summary = "Gives every value of the step its place in one arena";
  let description = [{
    One arena for each tier that the step uses. Lifetimes by position in the step, offsets
    by lib/Planning. Writes
    `zero.offsets` on ops, arguments and state symbols, and `zero.certificate`
    on the module: peak bytes, the lower bound, whether no peak is smaller, bytes by role, and
    the op at the peak; of other tiers the same under `host` and `nvme`.
  }];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def VerifyPacking : Pass<"zero-verify-packing", "::mlir::ModuleOp"> {
  let summary = "Checks that no two live values share bytes";
}

def TestRemat : Pass<"zero-test-print-remat", "::mlir::ModuleOp"> {
  let summary = "Prints recomputation as planners see it";
  let description = [{
    Prints the rematerialisation problem of a step that has kernels as JSON, and the plans
    that `zero-plan-memory` would choose from, each with its peak (bytes of what forward and
    backward make) and its seconds of recomputation. For tests.
  }];
}

#endif // ZERO_TRANSFORMS_PASSES_TD
