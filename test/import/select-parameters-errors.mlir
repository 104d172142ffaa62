// RUN: echo fc.weight > %t && echo fc.wieght >> %t && echo spare.weight >> %t && echo ids >> %t
// RUN: echo 'sp*' >> %t && echo 'fc.[' >> %t && echo bn.mean >> %t && echo '*.mean' >> %t
// RUN: not zero-opt %s --zero-select-parameters='trainable=%t verbose' 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN: not zero-opt %s --zero-select-parameters=trainable=%t 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not zero-opt %s --zero-select-parameters=trainable=%t.absent 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: echo "# nothing" > %t.empty
// RUN: not zero-opt %s --zero-select-parameters=trainable=%t.empty 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not zero-opt %s --zero-select-parameters=freeze=nothing* 2>&1 | FileCheck %s --check-prefix=FREEZE
// RUN: not zero-opt %s --zero-select-parameters=freeze-all-but=fc.*,bn.me* 2>&1 | FileCheck %s --check-prefix=ALLBUT
// RUN: not zero-opt %s --zero-select-parameters=freeze=*.shared.weight 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: echo model.fc.weight > %t.prefix
// RUN: not zero-opt %s --zero-select-parameters=trainable=%t.prefix 2>&1 | FileCheck %s --check-prefix=PREFIX
// RUN: echo t5.shared.weight > %t.gone && echo fc.weight >> %t.gone
// RUN: zero-opt %s --zero-select-parameters=trainable=%t.gone 2>&1 | FileCheck %s --check-prefix=PASSED

// NAMES: error: cannot train 7 of the listed parameters
// NAMES: note: write names as the model file has them
// NAMES-NEXT: note: 'fc.wieght' is no float initializer of more than one element
// NAMES-NEXT: note: 'spare.weight' does not reach the loss
// NAMES-NEXT: note: 'ids' is no float initializer of more than one element
// NAMES-NEXT: note: 'sp*' matches no float initializer that reaches the loss
// NAMES-NEXT: note: 'fc.[' is a bad pattern: invalid glob pattern, unmatched '['
// NAMES-NEXT: note: 'bn.mean' is running statistics of a BatchNormalization, which forward updates and no optimizer may: take it out
// NAMES-NEXT: note: '*.mean' matches no parameter, only buffers, which a pattern passes over: 'bn.mean' is one, running statistics of a BatchNormalization
// FEW: error: cannot train 7 of the listed parameters
// FEW: note: 'fc.[' is a bad pattern
// FEW-NEXT: note: and 2 more; -v lists all
// FEW-NOT: note
// ABSENT: error: cannot read '{{.*}}.absent': No such file or directory
// EMPTY: error: expected names of parameters in '{{.*}}.empty', got none
// FREEZE: error: freeze pattern 'nothing*' matches no parameter
// FREEZE-NOT: note
// ALLBUT: error: freeze-all-but pattern 'bn.me*' matches no parameter
// ALLBUT: note: it matches 'bn.mean', which is not trained anyhow: running statistics of a BatchNormalization
// GONE: error: freeze pattern '*.shared.weight' matches no parameter
// GONE: note: it matches 't5.shared.weight', which the graph does not contain: nothing reads it, or it is tied to a tensor of another name
// PREFIX: error: cannot train 1 of the listed parameters
// PREFIX: note: write names as the model file has them: 'fc.weight' instead of 'model.fc.weight'
// PASSED: warning: not in the graph, though listed as trainable: 't5.shared.weight'; nothing reads such a parameter, or it is tied to a tensor whose other name must be listed
// PASSED: zero.parameter @fc.weight

module attributes {zero.absent_parameters = ["t5.shared.weight"]} {
  zero.state constant @fc.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @spare.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @bn.mean : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
  zero.state constant @ids : tensor<4xi64> {data = #zero.data<"m.onnx", 0, 32>}

  func.func @step(%x: tensor<4x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %w = zero.read @fc.weight : tensor<4xf32>
    %m = zero.read @bn.mean : tensor<4xf32>
    %y = onnx.node "BatchNormalization"(%x, %w, %w, %m, %m) {} opset 18 : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    %loss = onnx.node "ReduceMean"(%y) {keepdims = 0 : i64} opset 18 : (tensor<4x4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
