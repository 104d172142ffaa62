// RUN: zero-opt %s --zero-recognise-normalization --remark-format=emitRemark --remarks-filter=recognise 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// REMARK-COUNT-3: root-mean-square normalization at node
// REMARK-COUNT-2: Remark="layer normalization at node
// REMARK: root-mean-square normalization at node
// REMARK: Remark="layer normalization at node

// The form of LLaMA's normalization from the dynamo exporter.
// CHECK-LABEL: func.func @reciprocal
// CHECK-SAME: (%[[X:.*]]: tensor<3x8xf32>, %[[W:.*]]: tensor<8xf32>)
// CHECK: %[[Y:.*]] = onnx.node "RMSNormalization"(%[[X]], %[[W]]) {axis = 1 : i64, epsilon = {{.*}} : f32} opset 23 node "y"
// CHECK-NOT: onnx.node
// CHECK: return %[[Y]]
func.func @reciprocal(%x: tensor<3x8xf32>, %w: tensor<8xf32>) -> tensor<3x8xf32> {
  %two = arith.constant dense<2.0> : tensor<f32>
  %eps = arith.constant dense<1.0E-6> : tensor<f32>
  %last = arith.constant dense<-1> : tensor<1xi64>
  %sq = onnx.node "Pow"(%x, %two) {} opset 18 node "sq" : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %m = onnx.node "ReduceMean"(%sq, %last) {keepdims = 1 : i64} opset 18 node "m" : (tensor<3x8xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %a = onnx.node "Add"(%m, %eps) {} opset 18 node "a" : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %d = onnx.node "Sqrt"(%a) {} opset 18 node "d" : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %r = onnx.node "Reciprocal"(%d) {} opset 18 node "r" : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %n = onnx.node "Mul"(%x, %r) {} opset 18 node "n" : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %y = onnx.node "Mul"(%w, %n) {} opset 18 node "y" : (tensor<8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// The inverse root as a power, the square as a product, the axes as an attribute.
// CHECK-LABEL: func.func @power
// CHECK: onnx.node "RMSNormalization"(%arg0, %arg1) {axis = 1 : i64
// CHECK-NOT: onnx.node
// CHECK: return
func.func @power(%x: tensor<3x8xf32>, %w: tensor<8xf32>) -> tensor<3x8xf32> {
  %eps = arith.constant dense<1.0E-6> : tensor<f32>
  %h = arith.constant dense<-0.5> : tensor<f32>
  %sq = onnx.node "Mul"(%x, %x) {} opset 18 node "sq" : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %m = onnx.node "ReduceMean"(%sq) {axes = array<i64: 1>} opset 18 node "m" : (tensor<3x8xf32>) -> tensor<3x1xf32>
  %a = onnx.node "Add"(%eps, %m) {} opset 18 node "a" : (tensor<f32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %r = onnx.node "Pow"(%a, %h) {} opset 18 node "r" : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %n = onnx.node "Mul"(%r, %x) {} opset 18 node "n" : (tensor<3x1xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %y = onnx.node "Mul"(%n, %w) {} opset 18 node "y" : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// A quotient. Without a weight, a weight of ones is used.
// CHECK-LABEL: func.func @quotient
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK: onnx.node "RMSNormalization"(%arg0, %[[ONE]])
// CHECK-NOT: onnx.node
// CHECK: return
func.func @quotient(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %two = arith.constant dense<2.0> : tensor<f32>
  %eps = arith.constant dense<1.0E-6> : tensor<f32>
  %last = arith.constant dense<-1> : tensor<1xi64>
  %sq = onnx.node "Pow"(%x, %two) {} opset 18 node "sq" : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %m = onnx.node "ReduceMean"(%sq, %last) {keepdims = 1 : i64} opset 18 node "m" : (tensor<3x8xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %a = onnx.node "Add"(%m, %eps) {} opset 18 node "a" : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %d = onnx.node "Sqrt"(%a) {} opset 18 node "d" : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = onnx.node "Div"(%x, %d) {} opset 18 node "y" : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// The form of exporters before opset 17.
// CHECK-LABEL: func.func @layer
// CHECK: %[[Y:.*]] = onnx.node "LayerNormalization"(%arg0, %arg1, %arg2) {axis = 1 : i64, epsilon = {{.*}} : f32} opset 17 node "y"
// CHECK-NOT: onnx.node
// CHECK: return %[[Y]]
func.func @layer(%x: tensor<3x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<3x8xf32> {
  %two = arith.constant dense<2.0> : tensor<f32>
  %eps = arith.constant dense<1.0E-6> : tensor<f32>
  %last = arith.constant dense<-1> : tensor<1xi64>
  %mu = onnx.node "ReduceMean"(%x, %last) {keepdims = 1 : i64} opset 18 node "mu" : (tensor<3x8xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %c = onnx.node "Sub"(%x, %mu) {} opset 18 node "c" : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %sq = onnx.node "Pow"(%c, %two) {} opset 18 node "sq" : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %m = onnx.node "ReduceMean"(%sq, %last) {keepdims = 1 : i64} opset 18 node "m" : (tensor<3x8xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %a = onnx.node "Add"(%m, %eps) {} opset 18 node "a" : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %d = onnx.node "Sqrt"(%a) {} opset 18 node "d" : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %n = onnx.node "Div"(%c, %d) {} opset 18 node "n" : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %v = onnx.node "Mul"(%n, %w) {} opset 18 node "v" : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  %y = onnx.node "Add"(%v, %b) {} opset 18 node "y" : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// The difference occurs twice, and there is no weight.
// CHECK-LABEL: func.func @layer_twice
// CHECK: onnx.node "LayerNormalization"(%arg0, %{{.*}}) {axis = 1
// CHECK-NOT: onnx.node
// CHECK: return
func.func @layer_twice(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %two = arith.constant dense<2.0> : tensor<f32>
  %eps = arith.constant dense<1.0E-6> : tensor<f32>
  %last = arith.constant dense<-1> : tensor<1xi64>
  %mu = onnx.node "ReduceMean"(%x, %last) {keepdims = 1 : i64} opset 18 node "mu" : (tensor<3x8xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %c = onnx.node "Sub"(%x, %mu) {} opset 18 node "c" : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %c2 = onnx.node "Sub"(%x, %mu) {} opset 18 node "c2" : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %sq = onnx.node "Pow"(%c, %two) {} opset 18 node "sq" : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %m = onnx.node "ReduceMean"(%sq, %last) {keepdims = 1 : i64} opset 18 node "m" : (tensor<3x8xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %a = onnx.node "Add"(%m, %eps) {} opset 18 node "a" : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %d = onnx.node "Sqrt"(%a) {} opset 18 node "d" : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = onnx.node "Div"(%c2, %d) {} opset 18 node "y" : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// Centred by another mean, this is still a normalization of the difference.
// CHECK-LABEL: func.func @another_mean
// CHECK: onnx.node "Sub"
// CHECK: onnx.node "RMSNormalization"
func.func @another_mean(%x: tensor<3x8xf32>, %mu: tensor<3x1xf32>) -> tensor<3x8xf32> {
  %two = arith.constant dense<2.0> : tensor<f32>
  %eps = arith.constant dense<1.0E-6> : tensor<f32>
  %last = arith.constant dense<-1> : tensor<1xi64>
  %c = onnx.node "Sub"(%x, %mu) {} opset 18 node "c" : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %sq = onnx.node "Pow"(%c, %two) {} opset 18 node "sq" : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %m = onnx.node "ReduceMean"(%sq, %last) {keepdims = 1 : i64} opset 18 node "m" : (tensor<3x8xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %a = onnx.node "Add"(%m, %eps) {} opset 18 node "a" : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %d = onnx.node "Sqrt"(%a) {} opset 18 node "d" : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = onnx.node "Div"(%c, %d) {} opset 18 node "y" : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// Another axis, another power, another numerator, and a statistic that is read: each remains.
// CHECK-LABEL: func.func @first_axis
// CHECK-NOT: Normalization"
// CHECK: return
func.func @first_axis(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %two = arith.constant dense<2.0> : tensor<f32>
  %eps = arith.constant dense<1.0E-6> : tensor<f32>
  %first = arith.constant dense<0> : tensor<1xi64>
  %sq = onnx.node "Pow"(%x, %two) {} opset 18 node "sq" : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %m = onnx.node "ReduceMean"(%sq, %first) {keepdims = 1 : i64} opset 18 node "m" : (tensor<3x8xf32>, tensor<1xi64>) -> tensor<1x8xf32>
  %a = onnx.node "Add"(%m, %eps) {} opset 18 node "a" : (tensor<1x8xf32>, tensor<f32>) -> tensor<1x8xf32>
  %d = onnx.node "Sqrt"(%a) {} opset 18 node "d" : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %y = onnx.node "Div"(%x, %d) {} opset 18 node "y" : (tensor<3x8xf32>, tensor<1x8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// CHECK-LABEL: func.func @fourth_power
// CHECK-NOT: Normalization"
// CHECK: return
func.func @fourth_power(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %two = arith.constant dense<4.0> : tensor<f32>
  %eps = arith.constant dense<1.0E-6> : tensor<f32>
  %last = arith.constant dense<-1> : tensor<1xi64>
  %sq = onnx.node "Pow"(%x, %two) {} opset 18 node "sq" : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %m = onnx.node "ReduceMean"(%sq, %last) {keepdims = 1 : i64} opset 18 node "m" : (tensor<3x8xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %a = onnx.node "Add"(%m, %eps) {} opset 18 node "a" : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %d = onnx.node "Sqrt"(%a) {} opset 18 node "d" : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = onnx.node "Div"(%x, %d) {} opset 18 node "y" : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// CHECK-LABEL: func.func @other_numerator
// CHECK-NOT: Normalization"
// CHECK: return
func.func @other_numerator(%x: tensor<3x8xf32>, %z: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %two = arith.constant dense<2.0> : tensor<f32>
  %eps = arith.constant dense<1.0E-6> : tensor<f32>
  %last = arith.constant dense<-1> : tensor<1xi64>
  %sq = onnx.node "Pow"(%x, %two) {} opset 18 node "sq" : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %m = onnx.node "ReduceMean"(%sq, %last) {keepdims = 1 : i64} opset 18 node "m" : (tensor<3x8xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %a = onnx.node "Add"(%m, %eps) {} opset 18 node "a" : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %d = onnx.node "Sqrt"(%a) {} opset 18 node "d" : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = onnx.node "Div"(%z, %d) {} opset 18 node "y" : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// CHECK-LABEL: func.func @read_statistic
// CHECK-NOT: Normalization"
// CHECK: return
func.func @read_statistic(%x: tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x1xf32>) {
  %two = arith.constant dense<2.0> : tensor<f32>
  %eps = arith.constant dense<1.0E-6> : tensor<f32>
  %last = arith.constant dense<-1> : tensor<1xi64>
  %sq = onnx.node "Pow"(%x, %two) {} opset 18 node "sq" : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %m = onnx.node "ReduceMean"(%sq, %last) {keepdims = 1 : i64} opset 18 node "m" : (tensor<3x8xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %a = onnx.node "Add"(%m, %eps) {} opset 18 node "a" : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %d = onnx.node "Sqrt"(%a) {} opset 18 node "d" : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = onnx.node "Div"(%x, %d) {} opset 18 node "y" : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  return %y, %d : tensor<3x8xf32>, tensor<3x1xf32>
}

// PyTorch decomposes the variance in f64, and the difference in f32.
// CHECK-LABEL: func.func @wide_variance
// CHECK: %[[Y:.*]] = onnx.node "LayerNormalization"(%arg0, %arg1, %arg2) {axis = 1 : i64
// CHECK-NOT: onnx.node
// CHECK: return %[[Y]]
func.func @wide_variance(%x: tensor<3x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<3x8xf32> {
  %eps = arith.constant dense<1.0E-5> : tensor<f32>
  %last = arith.constant dense<1> : tensor<1xi64>
  %wide = onnx.node "Cast"(%x) {to = 11 : i64} opset 23 node "wide" : (tensor<3x8xf32>) -> tensor<3x8xf64>
  %wm = onnx.node "ReduceMean"(%wide, %last) {keepdims = 1 : i64} opset 23 node "wm" : (tensor<3x8xf64>, tensor<1xi64>) -> tensor<3x1xf64>
  %wd = onnx.node "Sub"(%wide, %wm) {} opset 23 node "wd" : (tensor<3x8xf64>, tensor<3x1xf64>) -> tensor<3x8xf64>
  %sq = onnx.node "Mul"(%wd, %wd) {} opset 23 node "sq" : (tensor<3x8xf64>, tensor<3x8xf64>) -> tensor<3x8xf64>
  %wv = onnx.node "ReduceMean"(%sq, %last) {keepdims = 1 : i64} opset 23 node "wv" : (tensor<3x8xf64>, tensor<1xi64>) -> tensor<3x1xf64>
  %v = onnx.node "Cast"(%wv) {to = 1 : i64} opset 23 node "v" : (tensor<3x1xf64>) -> tensor<3x1xf32>
  %m = onnx.node "ReduceMean"(%x, %last) {keepdims = 1 : i64} opset 23 node "m" : (tensor<3x8xf32>, tensor<1xi64>) -> tensor<3x1xf32>
  %d = onnx.node "Sub"(%x, %m) {} opset 23 node "d" : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %a = onnx.node "Add"(%v, %eps) {} opset 23 node "a" : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %s = onnx.node "Sqrt"(%a) {} opset 23 node "s" : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %r = onnx.node "Reciprocal"(%s) {} opset 23 node "r" : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %n = onnx.node "Mul"(%d, %r) {} opset 23 node "n" : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  %p = onnx.node "Mul"(%n, %w) {} opset 23 node "p" : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  %y = onnx.node "Add"(%p, %b) {} opset 23 node "y" : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}
