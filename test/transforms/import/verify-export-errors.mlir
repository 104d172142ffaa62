// RUN: not zero-opt %s --split-input-file --zero-verify-export 2>&1 | FileCheck %s

// Without metadata of the exporter: a constant that is used as a weight but has another name.
// CHECK: error: the exporter seems to have lost parameters (findings: 6): the graph would not train as the model does
// CHECK-NEXT: note: export for training: model.train(), then torch.onnx.export(..., dynamo=True, optimize=False); with dynamo=False: do_constant_folding=False, training=torch.onnx.TrainingMode.TRAINING
// CHECK-NEXT: note: or, if the graph is intended, list the parameters to train in --trainable=FILE, one name or pattern per line
// CHECK-NEXT: note: constant 'onnx::MatMul_1' of 4x4, read by MatMul node 'fc', looks like a weight without its name
// CHECK-NEXT: note: constant 'val_2' of 4, read by Add node 'bias', looks like a weight without its name
// CHECK-NEXT: note: constant 'val_3' of 4, read by LayerNormalization node 'ln', looks like a weight without its name
// CHECK-NEXT: note: constant 'embedding' of 1x4x4, read by Add node 'positions', looks like a weight without its name
// CHECK-NEXT: note: constant 'w' of 4x4, read by Gemm node 'head', looks like a weight without its name
// CHECK-NEXT: note: BatchNormalization node 'bn' is in inference mode: it would neither use nor update the statistics of a batch
zero.state constant @"onnx::MatMul_1" : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
zero.state constant @val_2 : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
zero.state constant @val_3 : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
zero.state constant @embedding : tensor<1x4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
zero.state constant @w : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
zero.state constant @bn.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
zero.state constant @bn.running_mean : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
func.func @step(%x: tensor<4x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @"onnx::MatMul_1" : tensor<4x4xf32>
  %b = zero.read @val_2 : tensor<4xf32>
  %g = zero.read @val_3 : tensor<4xf32>
  %p = zero.read @embedding : tensor<1x4x4xf32>
  %h = zero.read @w : tensor<4x4xf32>
  %s = zero.read @bn.weight : tensor<4xf32>
  %mean = zero.read @bn.running_mean : tensor<4xf32>
  %0 = onnx.node "MatMul"(%x, %w) {} opset 18 node "fc" : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = onnx.node "Add"(%b, %0) {} opset 18 node "bias" : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = onnx.node "LayerNormalization"(%1, %g) {axis = -1 : i64} opset 18 node "ln" : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %3 = onnx.node "Add"(%2, %p) {} opset 18 node "positions" : (tensor<4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %4 = onnx.node "Squeeze"(%3) {} opset 18 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
  %t = onnx.node "Transpose"(%h) {} opset 18 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = onnx.node "Gemm"(%4, %t) {} opset 18 node "head" : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = onnx.node "BatchNormalization"(%5, %s, %s, %mean, %mean) {} opset 18 node "bn" : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %loss = onnx.node "ReduceMean"(%6) {keepdims = 0 : i64} opset 18 : (tensor<4x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// CHECK: error: the exporter seems to have lost parameters (findings: 1)
// CHECK: note: export for training
// CHECK: note: parameter 'b.bias' is gone
module attributes {zero.lost_parameters = ["parameter 'b.bias' is gone"]} {
  func.func @step(%x: tensor<4x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %loss = onnx.node "ReduceMean"(%x) {keepdims = 0 : i64} opset 18 : (tensor<4x4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// Lists the first five and the number of the others, or all on request.
// RUN: not zero-opt %s --split-input-file --zero-verify-export=verbose 2>&1 | FileCheck %s --check-prefix=VERBOSE
// CHECK: error: the exporter seems to have lost parameters (findings: 7)
// CHECK: note: or, if
// CHECK-NEXT: note: a
// CHECK-NEXT: note: b
// CHECK-NEXT: note: c
// CHECK-NEXT: note: d
// CHECK-NEXT: note: e
// CHECK-NEXT: note: and 2 more; -v lists all
// VERBOSE: error: the exporter seems to have lost parameters (findings: 7)
// VERBOSE: note: f
// VERBOSE-NEXT: note: g
// VERBOSE-NOT: more
module attributes {zero.lost_parameters = ["a", "b", "c", "d", "e", "f", "g"]} {
  func.func @step(%x: tensor<4x4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
    %loss = onnx.node "ReduceMean"(%x) {keepdims = 0 : i64} opset 18 : (tensor<4x4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
