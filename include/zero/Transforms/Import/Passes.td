//===- Passes.td - check the model, select what is trained ---------------===//

#ifndef ZERO_TRANSFORMS_IMPORT_PASSES_TD
#define ZERO_TRANSFORMS_IMPORT_PASSES_TD

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

#endif // ZERO_TRANSFORMS_IMPORT_PASSES_TD
