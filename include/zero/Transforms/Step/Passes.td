//===- Passes.td - add the optimizer -------------------------------------===//

#ifndef ZERO_TRANSFORMS_STEP_PASSES_TD
#define ZERO_TRANSFORMS_STEP_PASSES_TD

include "mlir/Pass/PassBase.td"

def BuildStep : Pass<"zero-build-step", "::mlir::ModuleOp"> {
  let summary = "Add the optimizer, gradient accumulation and clipping to the step";
  let description = [{
    Adds for each trained parameter its optimizer states (for a 16-bit parameter first an f32
    master copy) and one `zero.update` of its `zero.gradient`. An optimizer of matrices updates
    hidden matrices, and another one the rest; the update of a matrix takes the result of launches
    of products instead of its gradient. Where ranks along `tensor` have shards of a matrix, nodes
    gather its direction and take the rank's shard of the step. With `qk-clip` among the settings,
    nodes measure the largest score of each attention head, and matrices of queries and keys are
    scaled by factors that follow. With `ema`, the first state of each parameter is an average of
    its values, which its update advances. Adds the learning rate as input `learning_rate`, and the
    kernel that computes the scalars of the step from the schedule.
    Returns the mean of the loss over micro-batches and ranks ("loss") and the rank's own
    ("local_loss"), and, where the loss is divided by one sum of the weights of labels, that sum
    ("loss_weight"): evaluations add up batches by it.

    Over several micro-batches, gradients and losses get kernels that accumulate them. With
    `grad-precision=bf16` the sums of gradients are bf16: each addition is computed in f32 and
    rounded at random, by bits of the sum, the summand, the step and the micro-batch. With
    gradient clipping or a loss scale, the global norm of the gradients becomes a factor that
    the updates apply. With a loss scale or `nonfinite=skip`, a step whose norm is not finite is
    skipped: updates and step counters have the condition `applied`, and the loss scale adapts.
    So is a step beyond `skip-above` or `skip-spikes`, to which the scale does not adapt.
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", /*default=*/"\"adamw\"",
           "name of the optimizer; see lib/Optimizers/Definitions">,
    Option<"settings", "settings", "std::string", /*default=*/"\"\"",
           "hyperparameters that differ from their defaults: {flag=1,2 switch}">,
    Option<"otherOptimizer", "other-optimizer", "std::string", /*default=*/"\"adamw\"",
           "name of the optimizer of what is no matrix, and settings: name:flag=1,2:switch">,
    Option<"otherLearningRate", "other-lr", "double", /*default=*/"-1.0",
           "its learning rate in a run with that of zero.start_rate; below 0: the same one">,
    Option<"otherWeightDecay", "other-weight-decay", "double", /*default=*/"-1.0",
           "its weight decay; below 0: that of its settings">,
    ListOption<"matrixParams", "matrix-params", "std::string",
               "patterns of parameters that an optimizer of matrices updates">,
    ListOption<"otherParams", "other-params", "std::string",
               "patterns of parameters that it does not update">,
    ListOption<"paramGroups", "param-group", "std::string", "pattern:weight-decay=X:lr-scale=Y, or settings of a schedule">,
    ListOption<"statePrecision", "state-precision", "std::string",
               "f32, bf16, 8bit or 4bit, or STATE= and one of these: how states are stored">,
    Option<"masterWeights", "master-weights", "::zero::MasterWeights",
           /*default=*/"::zero::MasterWeights::F32",
           "none, nearest: 16-bit parameters have no f32 master">,
    ListOption<"noDecay", "no-decay", "std::string",
               "patterns of parameters without weight decay">,
    Option<"scheduleKind", "lr-schedule", "::zero::ScheduleKind",
           /*default=*/"::zero::ScheduleKind::Constant",
           "form of the learning rate after the warm-up">,
    Option<"warmupSteps", "warmup-steps", "uint64_t", /*default=*/"0",
           "steps in which the learning rate rises">,
    Option<"totalSteps", "total-steps", "uint64_t", /*default=*/"0",
           "steps after which the learning rate is constant">,
    Option<"minLearningRate", "min-lr-ratio", "double", /*default=*/"0.0",
           "final learning rate, as a fraction of the peak">,
    Option<"warmupForm", "warmup-form", "::zero::WarmupForm",
           /*default=*/"::zero::WarmupForm::Linear", "linear, log or cosine">,
    Option<"warmupRatio", "warmup-ratio", "double", /*default=*/"0.0",
           "learning rate of the first step, as a fraction of the peak">,
    Option<"lrPower", "lr-power", "double", /*default=*/"1.0", "exponent of polynomial">,
    Option<"lrCycles", "lr-cycles", "uint64_t", /*default=*/"1", "cycles of cosine-restarts">,
    Option<"decaySteps", "decay-steps", "uint64_t", /*default=*/"0", "steps of the decay of wsd">,
    Option<"decayForm", "decay-form", "::zero::DecayForm",
           /*default=*/"::zero::DecayForm::Linear", "linear, cosine or sqrt">,
    ListOption<"lrPoints", "lr-points", "std::string", "STEP:FACTOR: points of the schedule">,
    Option<"ema", "ema", "std::string", /*default=*/"\"\"",
           "decay rate of averages of parameters, or mean; empty: there are none">,
    Option<"emaEvery", "ema-every", "uint64_t", /*default=*/"1",
           "updates between two values that count in averages">,
    Option<"emaStart", "ema-start", "uint64_t", /*default=*/"1",
           "number of the first update whose values count in averages, from 1">,
    Option<"clipNorm", "clip-norm", "double", /*default=*/"0.0",
           "maximum global norm; 0: no limit">,
    Option<"microBatches", "micro-batches", "uint64_t", /*default=*/"1",
           "micro-batches that one step accumulates">,
    Option<"gradPrecision", "grad-precision", "::zero::GradPrecision",
           /*default=*/"::zero::GradPrecision::F32",
           "f32 or bf16: the type of sums of gradients over micro-batches">,
    Option<"clipByPrevious", "clip-by-previous", "bool", /*default=*/"false",
           "clip by the norm of the step before">,
    Option<"nonFinite", "nonfinite", "::zero::NonFinite", /*default=*/"::zero::NonFinite::Stop",
           "skip: a step of which a gradient is not finite changes no state">,
    Option<"skipAbove", "skip-above", "double", /*default=*/"0.0",
           "norm of gradients above which a step changes no state; 0: no limit">,
    Option<"skipSpikes", "skip-spikes", "double", /*default=*/"0.0",
           "the same for the loss, as a multiple of a running mean; 0: no limit">,
    Option<"lossScale", "loss-scale", "double", /*default=*/"0.0", "fixed loss scale; 0: dynamic">,
    Option<"minLossScale", "min-loss-scale", "double", /*default=*/"1.0", "minimum loss scale">,
    Option<"lossScaleWindow", "loss-scale-window", "unsigned", /*default=*/"1000",
           "steps without overflow after which the scale doubles">,
    Option<"patience", "loss-scale-hysteresis", "unsigned", /*default=*/"1",
           "overflows after which the scale halves">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
                           "::zero::ZeroDialect", "::zero::onnx::OnnxDialect"];
}

def SplitPrologue : Pass<"zero-split-prologue", "::mlir::ModuleOp"> {
  let summary = "Clone what the first micro-batch depends on into the prologue";
  let description = [{
    A mean over labels divides by the number of labels in the whole global batch, including
    later micro-batches. The ops that compute a `zero.micro_mean` that the step itself uses are
    cloned to the start of the step and marked `zero.prologue`: they run for each micro-batch
    before the first one. With one micro-batch there are no such means, and the pass has no
    effect.

    ```mlir
    %c = onnx.node "LabelWeights"(%labels) ... {zero.prologue}
    %m = zero.micro_mean %c accumulate [@first, @later] {zero.prologue} : tensor<f32>
    %n = zero.rank_mean %m {zero.prologue} : tensor<f32>
    ```
  }];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def AverageBuffers : Pass<"zero-average-buffers", "::mlir::ModuleOp"> {
  let summary = "Average the next values of buffers over ranks";
  let description = [{
    Each rank computes the next running statistics from its own batch. The step writes their
    mean over ranks, in rank order, so that all ranks hold the same values: one bucket for each
    element type, one collective, and the writes at the end of the step. Over several
    micro-batches each continues from the result of the previous one, in accumulators, and the
    mean is taken once, after the last. A skipped step does not write them. What the step writes
    in its epilogue already is the same on all ranks, and stays.

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
  let summary = "Verify that each trained parameter is updated exactly once";
}

def VerifyEvaluation : Pass<"zero-verify-evaluation", "::mlir::ModuleOp"> {
  let summary = "Verify that an evaluation reads state as the last step left it";
  let description = [{
    An evaluation runs what the loss depends on, with `zero.training` false. So of a `Where` on
    `zero.training` it reads the last operand, and a launch under this condition leaves what its
    first operand holds. Of what it reads then, nothing may be the statistics of its own batch
    (`BatchMoments`), nor a state that a launch with `zero.carries` has updated for the next
    micro-batch. Runs after `step`, and again after `partition`, where the vertical order lets the
    forward of a micro-batch read what the one before it left.
  }];
}

#endif // ZERO_TRANSFORMS_STEP_PASSES_TD
