// RUN: echo fc.weight > %t && echo fc.wieght >> %t && echo spare.weight >> %t && echo ids >> %t
// RUN: echo 'sp*' >> %t && echo 'fc.[' >> %t
// RUN: not zero-opt %s --zero-select-parameters=trainable=%t 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN: not zero-opt %s --zero-select-parameters=trainable=%t.absent 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: echo "# nothing" > %t.empty
// RUN: not zero-opt %s --zero-select-parameters=trainable=%t.empty 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not zero-opt %s --zero-select-parameters=freeze=nothing* 2>&1 | FileCheck %s --check-prefix=FREEZE

// NAMES: error: 5 listed parameters cannot be trained
// NAMES: note: 'fc.wieght' is no float initializer of more than one element
// NAMES: note: 'spare.weight' does not reach the loss
// NAMES: note: 'ids' is no float initializer of more than one element
// NAMES: note: 'sp*' matches no float initializer that reaches the loss
// NAMES: note: 'fc.[' is a bad pattern: invalid glob pattern, unmatched '['
// ABSENT: error: cannot read '{{.*}}.absent': No such file or directory
// EMPTY: error: expected names of parameters in '{{.*}}.empty', got none
// FREEZE: error: freeze pattern 'nothing*' matches no parameter

zero.state constant @fc.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
zero.state constant @spare.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
zero.state constant @ids : tensor<4xi64> {data = #zero.data<"m.onnx", 0, 32>}

func.func @step() -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @fc.weight : tensor<4xf32>
  %loss = onnx.node "ReduceMean"(%w) {keepdims = 0 : i64} opset 18 : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
