// RUN: zero-opt %s --zero-select-parameters 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARN --input-file=%t.err
// RUN: echo net.weight > %t.list && echo logit_scale >> %t.list && echo half >> %t.list
// RUN: zero-opt %s --zero-select-parameters=trainable=%t.list 2>%t.quiet | FileCheck %s --check-prefix=LIST
// RUN: count 0 < %t.quiet

// Initializers without a record of what they are. The name of a module's tensor makes one a
// parameter. Others are named in a warning unless they are an exponent, a bound or an epsilon, or
// an exporter has made up their name; those of one element become constants that patterns can read.
// CHECK-DAG: zero.parameter @net.gate : tensor<f32> {splat = 0.000000e+00 : f64}
// CHECK-DAG: zero.parameter @net.weight
// CHECK-DAG: arith.constant dense<1.500000e+00> : tensor<1xf32>
// CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<f32>
// CHECK-DAG: arith.constant dense<9.99999974E-6> : tensor<f32>
// CHECK-DAG: arith.constant dense<2.000000e+00> : tensor<f32>
// CHECK-DAG: zero.state constant @gains
// CHECK-NOT: zero.read @{{logit_scale|half|eps|two|none}}

// WARN: warning: the exporter does not record whether these initializers are parameters, and their names are not those of a module's tensors, so they are not trained: 'logit_scale', 'half', 'gains'; if one is a parameter, list all that is trained in --trainable=FILE (docs/guides/weights.md)
// WARN-NOT: warning

// LIST-DAG: zero.parameter @net.gate : tensor<f32> {frozen, splat = 0.000000e+00 : f64}
// LIST-DAG: zero.parameter @logit_scale : tensor<1xf32> {data = #zero.data<"m.onnx", 0, 4>}
// LIST-DAG: zero.parameter @half : tensor<f32> {splat = 5.000000e-01 : f64}

zero.state constant @net.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 4, 16>}
zero.state constant @net.gate : tensor<f32> {splat = 0.0 : f64, zero.number = 0.0 : f64}
zero.state constant @logit_scale : tensor<1xf32> {data = #zero.data<"m.onnx", 0, 4>, zero.number = 1.5 : f64}
zero.state constant @half : tensor<f32> {splat = 0.5 : f64, zero.number = 0.5 : f64}
zero.state constant @eps : tensor<f32> {splat = 9.9999997473787516e-06 : f64, zero.number = 9.9999997473787516e-06 : f64}
zero.state constant @two : tensor<f32> {splat = 2.0 : f64, zero.number = 2.0 : f64}
zero.state constant @none : tensor<f32> {splat = 3.0 : f64, zero.number = 3.0 : f64}
zero.state constant @gains : tensor<4xf32> {data = #zero.data<"m.onnx", 20, 16>}
zero.state constant @val_7 : tensor<4xf32> {data = #zero.data<"m.onnx", 36, 16>}

func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %w = zero.read @net.weight : tensor<4xf32>
  %g = zero.read @net.gate : tensor<f32>
  %s = zero.read @logit_scale : tensor<1xf32>
  %h = zero.read @half : tensor<f32>
  %e = zero.read @eps : tensor<f32>
  %t = zero.read @two : tensor<f32>
  %n = zero.read @none : tensor<f32>
  %gains = zero.read @gains : tensor<4xf32>
  %v = zero.read @val_7 : tensor<4xf32>
  %y = onnx.node "Mul"(%x, %gains) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = onnx.node "Mul"(%y, %v) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = onnx.node "Mul"(%z, %w) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = onnx.node "Mul"(%a, %g) {} opset 18 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = onnx.node "Mul"(%b, %s) {} opset 18 : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %d = onnx.node "Mul"(%c, %h) {} opset 18 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %p = onnx.node "Pow"(%d, %t) {} opset 18 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %q = onnx.node "Add"(%p, %e) {} opset 18 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = onnx.node "Sqrt"(%q) {} opset 18 : (tensor<4xf32>) -> tensor<4xf32>
  %loss = onnx.node "ReduceMean"(%r) {keepdims = 0 : i64} opset 18 : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
