//===- Passes.td - check the model, select what is trained ---------------===//

#ifndef ZERO_TRANSFORMS_IMPORT_PASSES_TD
#define ZERO_TRANSFORMS_IMPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def WidenFloats : Pass<"zero-widen-floats", "::mlir::ModuleOp"> {
  let summary = "Convert a model of 16-bit floats to f32";
  let description = [{
    Every f16 and bf16 tensor of the module becomes f32: inputs, constants, values of nodes, and
    the tensors that initial values are read into. The files keep their 16-bit values (`stored`
    of `#zero.data`), and the runtime converts them, which is exact. Casts to and from 16 bits
    then have no effect and are removed, so that nothing is rounded. A remark of category
    "precision" reports the conversion. A program that keeps its types (`zero.own_types`) is not
    changed.

    ```mlir
    zero.state constant @w : tensor<8xbf16> {data = #zero.data<"m.onnx", 64, 16>}        // before
    zero.state constant @w : tensor<8xf32> {data = #zero.data<"m.onnx", 64, 16, bf16>}   // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect",
                           "::zero::onnx::OnnxDialect"];
}

def VerifyImport : Pass<"zero-verify-import", "::mlir::ModuleOp"> {
  let summary = "Verify the imported module";
  let description = [{
    Every operator is in the op table, every value has a static shape, no state has 16-bit
    floats, every input and result of `@step` has the name that users bind, and every further
    name of a tensor (`zero.aliases`) refers to one tensor. One error lists the operators that
    are not supported, each with its first nodes: the first few operators, or all with
    `verbose`.
  }];
  let options = [
    Option<"verbose", "verbose", "bool", /*default=*/"false",
           "list all errors, not only the first few">];
}

def VerifyExport : Pass<"zero-verify-export", "::mlir::ModuleOp"> {
  let summary = "Diagnose graphs whose exporter lost parameters";
  let description = [{
    An exporter that optimizes for inference folds weights into constants under new names,
    merges equal constants, drops zero biases, fuses BatchNormalization into convolutions, or
    exports it in inference mode. Such a graph could be trained, but would not train as the
    model. If import found the exporter's list of tensors, the lost parameters are known
    (`zero.lost_parameters`). Otherwise, a constant that is used as a weight and does not have
    the name of a module's tensor counts as lost. One error says how to export the complete
    model and names the first few parameters, or all with `verbose`. A normalization without an
    epsilon is a warning, because folding x + 1e-8 to x causes it.
  }];
  let options = [
    Option<"verbose", "verbose", "bool", /*default=*/"false",
           "list all errors, not only the first few">];
}

def SelectParameters : Pass<"zero-select-parameters", "::mlir::ModuleOp"> {
  let summary = "Select the constants of the model that are trained";
  let description = [{
    Turns each float `zero.state constant` that reaches the loss into a `zero.parameter` if the
    exporter marks it as a parameter (`zero.exported_as`). Without such marks, a constant
    becomes a parameter if it has the name of a module's tensor ("layer.0.weight") and is not a
    buffer. Buffers are running statistics of a BatchNormalization, a rotary table that reaches
    the loss only through Cos and Sin, and a mask that is only added to or selected into the
    input of a Softmax. An initializer of one element (`zero.number`) that is no parameter by
    these rules becomes a constant of the step again, with a warning unless it is an exponent, a
    bound or an epsilon.

    With `trainable`, the parameters that the file lists by name or glob pattern are trained,
    and all others are frozen. A name may be that of any constant except running statistics; a
    pattern does not match buffers. `freeze` and `freeze-all-but` freeze by pattern. A tied
    tensor (`zero.aliases`) matches by any of its names. Constants that the loss does not depend
    on are removed. Each decision is a remark of category "parameters". If no option says what is
    trained, parameters stay frozen that were frozen in the module (`zero.exported_frozen`); without
    such marks, names that look like adapters of a base model or like a teacher cause a warning.

    ```mlir
    zero.state constant @"fc1.weight" : tensor<8x4xf32> {data = ...}  // before
    zero.parameter @"fc1.weight" : tensor<8x4xf32> {data = ...}       // after
    ```
  }];
  let options = [
    Option<"trainable", "trainable", "std::string", /*default=*/"",
           "file of the names or globs to train, one per line">,
    ListOption<"freeze", "freeze", "std::string", "glob patterns of parameters to freeze">,
    ListOption<"freezeAllBut", "freeze-all-but", "std::string",
               "glob patterns of the parameters that are not frozen">,
    Option<"freezeAll", "freeze-all", "bool", /*default=*/"false", "freeze all parameters">,
    Option<"verbose", "verbose", "bool", /*default=*/"false",
           "list all errors, not only the first few">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect"];
}

def FoldEmpty : Pass<"zero-fold-empty", "::mlir::ModuleOp"> {
  let summary = "Fold nodes on tensors without elements";
  let description = [{
    A tensor without elements, such as a parameter of 8x0, needs no computation, and kernels are
    loops over elements. Reads and nodes without elements in their results become constants. A
    product or sum over no elements becomes zeros, a mean NaN, a maximum minus infinity; a
    concatenation loses the operand.
    Any other node that reads such a tensor is an error. After this pass only constants and
    arguments have no elements.

    ```mlir
    %z = onnx.node "MatMul"(%x, %none) : (tensor<4x0xf32>, tensor<0x3xf32>) -> tensor<4x3xf32>
    %z = arith.constant dense<0.0> : tensor<4x3xf32>  // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::onnx::OnnxDialect"];
}

def InitializeParameters : Pass<"zero-initialize-parameters", "::mlir::ModuleOp"> {
  let summary = "Draw the initial values of parameters";
  let description = [{
    Replaces the initial values of all parameters, trained or frozen. Those of two and more
    dimensions are drawn around 0: `normal:STD`, `uniform:BOUND` between -BOUND and BOUND, or
    `xavier-normal`, `xavier-uniform`, `kaiming-normal`, `kaiming-uniform` with a width from the
    numbers of inputs and outputs, as in `torch.nn.init` (gain 1, and the square root of 2 for
    kaiming). Outputs are the last dimension of B in a product, and the first dimension of other
    tensors. Vectors are 1 if they scale, as the weight of a normalization does, else 0.

    Each element is drawn by the hash of its parameter's name and its index, so that values do not
    depend on ranks, stages and tiers. `--seed` chooses others.

    ```mlir
    zero.parameter @w : tensor<8x4xf32> {data = ...}                                        // before
    zero.parameter @w : tensor<8x4xf32> {random = #zero.random<normal, 0.0 : f64, 0.02 : f64, 7>}
    ```
  }];
  let options = [Option<"scheme", "scheme", "std::string", /*default=*/"", "normal:0.02, ...">];
  let dependentDialects = ["::zero::ZeroDialect"];
}

def PlanAdapters : Pass<"zero-plan-adapters", "::mlir::ModuleOp"> {
  let summary = "Find the products that get a low-rank adapter";
  let description = [{
    Marks each MatMul, Gemm and Contract of a parameter whose name matches a pattern, also through
    nodes that only transpose, reshape or convert the parameter. A pattern is the name of a module
    or the end of it (`q_proj` for `model.layers.0.self_attn.q_proj.weight`), or a glob of whole
    names; `all-linear` stands for all matrices of products but those of output layers, after which
    no product follows, and passes over what cannot have an adapter. The module that a product
    computes is the name of its parameter without `.weight`, `.kernel` or `.w`.

    Errors: a pattern that matches no such parameter, with the nearest names; an embedding, whose
    rows are looked up; a matrix that other nodes read; a module that has an adapter already; and a
    tensor of several modules, whose adapters would be one. A glob passes over what is no matrix of
    a product, except embeddings.

    ```mlir
    %w = zero.read @"q_proj.weight" : tensor<8x4xf32>
    %t = onnx.node "Transpose"(%w) : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %y = onnx.node "MatMul"(%x, %t) {zero.adapted_module = "q_proj",           // after
                                     zero.adapted_operand = 1 : i64}
        : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let options = [ListOption<"targets", "targets", "std::string", "modules: names, ends of names or globs, or all-linear">];
}

def AddAdapters : Pass<"zero-add-adapters", "::mlir::ModuleOp"> {
  let summary = "Add low-rank adapters beside marked products";
  let description = [{
    Adds to the result y of each product that zero-plan-adapters has marked, of x and a matrix, the
    term `scale * dropout(x) A^T B^T` (LoRA, Hu et al., arXiv 2106.09685). A of [size, inputs] and
    B of [outputs, size] are new trained parameters with the names that PEFT gives them. They have
    f32 elements (f64 beside f64), whatever x has. A is drawn by its name and `--seed`: uniformly
    between the square root of 1 / inputs and its negative, as kaiming_uniform_ with a = sqrt(5)
    does, or from a normal distribution with the deviation 1 / size. B is 0.

    With `dora`, the weights of each output, with what the adapter adds to them, are scaled to a
    magnitude (DoRA, Liu et al., arXiv 2402.09353): y becomes `m / n * (y + change)`. m is a trained
    parameter that begins as the norms of the matrix, which the run computes. n are the norms of
    matrix plus change, without a gradient; what a Gemm adds stays outside. With dropout, as with
    PEFT, only what the remaining inputs give is scaled.

    Products of one module share its adapter. `zero.adapters` on the module says which parameters
    are adapted, so that a file of weights may have them with their adapters added.

    ```mlir
    %y = onnx.node "MatMul"(%x, %t) {zero.adapted_module = "q_proj", ...}      // before
    %a = zero.read @"base_model.model.q_proj.lora_A.weight" : tensor<2x4xf32>  // after
    %b = zero.read @"base_model.model.q_proj.lora_B.weight" : tensor<8x2xf32>
    %y = onnx.node "MatMul"(%x, %t)
    %0 = onnx.node "MatMul"(%x, %a^T)
    %1 = onnx.node "Mul"(%0, %scale)
    %2 = onnx.node "MatMul"(%1, %b^T)
    %z = onnx.node "Add"(%y, %2)
    ```
  }];
  let options = [
    Option<"size", "size", "unsigned", /*default=*/"8", "rows of A and columns of B">,
    Option<"scale", "scale", "double", /*default=*/"1.0", "factor of what an adapter adds">,
    Option<"dropoutRatio", "dropout", "double", /*default=*/"0.0",
           "share of the inputs of adapters that are set to 0">,
    Option<"gaussian", "gaussian", "bool", /*default=*/"false",
           "draw A from a normal distribution">,
    Option<"dora", "dora", "bool", /*default=*/"false",
           "scale the weights of each output to a trained magnitude">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::zero::ZeroDialect",
                           "::zero::onnx::OnnxDialect"];
}

def MarkTokens : Pass<"zero-mark-tokens", "::mlir::ModuleOp"> {
  let summary = "Mark the inputs of the step that are tokens";
  let description = [{
    An integer input of shape batch x sequence whose elements select rows of an embedding gets
    `zero.tokens`. Throughput of such a model is reported in tokens per second. Labels, and a
    vector of user or item ids, are not tokens.

    ```mlir
    func.func @step(%ids: tensor<4x32xi64> {zero.binding = "input_ids", zero.tokens}) -> ...
    ```
  }];
}

def UpdateBuffers : Pass<"zero-update-buffers", "::mlir::ModuleOp"> {
  let summary = "Convert running statistics to state that the step writes";
  let description = [{
    The running mean and variance of a BatchNormalization in training mode become `zero.state
    buffer`, and results 1 and 2 of the node become their next values. The next variance is that
    of PyTorch and other frameworks, which divide by the number of elements minus one; the
    result of ONNX divides by the number of elements. Several nodes that share statistics update
    them in sequence.

    ```mlir
    zero.state constant @var : tensor<8xf32>                             // before
    %y = onnx.node "BatchNormalization"(%x, %s, %b, %m, %v) {training_mode = 1 : i64}
    zero.state buffer @var : tensor<8xf32>                               // after
    %y, %n, %w = onnx.node "BatchNormalization"(%x, %s, %b, %m, %v)
        {training_mode = 1 : i64, unbiased}
    zero.write @var, %w : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::zero::ZeroDialect", "::zero::onnx::OnnxDialect"];
}

#endif // ZERO_TRANSFORMS_IMPORT_PASSES_TD
