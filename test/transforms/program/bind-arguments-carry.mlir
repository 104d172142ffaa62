// Pairs of names, or of patterns with one *, say which result is the next value of an argument.
// RUN: zero-opt %s --zero-bind-arguments="carry=*=*.new" | FileCheck %s
// RUN: not zero-opt %s --zero-bind-arguments="carry=w=nothing,*.a=*.b" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ERROR

// CHECK-DAG: zero.state constant @w : tensor<4xf32> {required}
// CHECK-DAG: zero.state constant @m : tensor<4xf32> {required}
// CHECK: func.func @step(%{{.*}}: tensor<f32> {zero.binding = "x"})
// CHECK-DAG: zero.write @w, %{{.*}} : tensor<4xf32>
// CHECK-DAG: zero.write @m, %{{.*}} : tensor<4xf32>

// ERROR: error: --carry: expected pairs of an argument and a result of the program
// ERROR: note: input 'w': the model has no output 'nothing'
// ERROR: note: '*.a' = '*.b' matches no input that has such an output
func.func @main(%w: tensor<4xf32> {zero.name = "w"}, %m: tensor<4xf32> {zero.name = "m"},
                %x: tensor<f32> {zero.name = "x"})
    -> (tensor<f32>, tensor<4xf32> {zero.name = "m.new"}, tensor<4xf32> {zero.name = "w.new"}) {
  %n = onnx.node "Mul"(%m, %x) {} opset 23 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %x, %n, %w : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
