//===- Passes.td - add the optimizer -------------------------------------===//

#ifndef ZERO_TRANSFORMS_STEP_PASSES_TD
#define ZERO_TRANSFORMS_STEP_PASSES_TD

include "mlir/Pass/PassBase.td"

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

def VerifyUpdates : Pass<"zero-verify-updates", "::mlir::ModuleOp"> {
  let summary = "Checks that each trained parameter is updated exactly once";
}

#endif // ZERO_TRANSFORMS_STEP_PASSES_TD
