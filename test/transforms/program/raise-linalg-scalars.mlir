// RUN: zero-opt %s --zero-raise-linalg | FileCheck %s

// Operations on elements that are not one operator of ONNX.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @floats
// CHECK-DAG: onnx.node "Reciprocal"
// CHECK-DAG: onnx.node "Log1p"({{.*}}) {} domain "zero" opset 1
// CHECK-DAG: onnx.node "Expm1"({{.*}}) {} domain "zero" opset 1
// CHECK-DAG: onnx.node "IsNaN"
// CHECK-DAG: onnx.node "IsInf"
// CHECK-DAG: onnx.node "Mod"({{.*}}) {fmod = 1 : i64}
// CHECK-DAG: onnx.node "Floor"
// CHECK-NOT: math.
func.func @floats(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %low = arith.constant -0.5 : f32
  %high = arith.constant 0.75 : f32
  %e = tensor.empty() : tensor<8xf32>
  %r:10 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e, %e, %e, %e, %e, %e, %e, %e, %e, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o0: f32, %o1: f32, %o2: f32, %o3: f32, %o4: f32, %o5: f32, %o6: f32, %o7: f32, %o8: f32, %o9: f32):
    %abs = math.absf %a : f32
    %0 = math.rsqrt %abs : f32
    %1 = math.log1p %abs : f32
    %2 = math.expm1 %a : f32
    %3 = arith.maxnumf %a, %b : f32
    %4 = arith.remf %a, %b : f32
    %5 = math.round %a : f32
    %6 = math.trunc %b : f32
    %7 = math.copysign %a, %b : f32
    %8 = math.fma %a, %b, %a : f32
    %9 = math.clampf %a to [%low, %high] : f32
    linalg.yield %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %inf = math.isinf %r#0 : tensor<8xf32>
  %number = arith.select %inf, %r#1, %r#0 : tensor<8xi1>, tensor<8xf32>
  return %number, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Comparisons of ONNX are false where an operand is NaN.
// CHECK-LABEL: func.func @comparisons
// CHECK-DAG: %[[LT:.*]] = onnx.node "Less"(%arg0, %arg1)
// CHECK-DAG: %[[LE:.*]] = onnx.node "LessOrEqual"(%arg0, %arg1)
// CHECK-DAG: onnx.node "Not"(%[[LE]])
// CHECK-DAG: %[[EQ:.*]] = onnx.node "Equal"(%arg0, %arg1)
// CHECK-DAG: onnx.node "Not"(%[[EQ]])
func.func @comparisons(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %e = tensor.empty() : tensor<8xi1>
  %r:5 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e, %e, %e, %e, %e : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  ^bb0(%a: f32, %b: f32, %o0: i1, %o1: i1, %o2: i1, %o3: i1, %o4: i1):
    %0 = arith.cmpf olt, %a, %b : f32
    %1 = arith.cmpf ugt, %a, %b : f32
    %2 = arith.cmpf une, %a, %b : f32
    %3 = arith.cmpf one, %a, %b : f32
    %4 = arith.cmpf ueq, %a, %b : f32
    linalg.yield %0, %1, %2, %3, %4 : i1, i1, i1, i1, i1
  } -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}

// CHECK-LABEL: func.func @integers
// CHECK-DAG: onnx.node "BitShift"
// CHECK-DAG: onnx.node "BitwiseAnd"
// CHECK-DAG: onnx.node "BitwiseXor"
// CHECK-DAG: onnx.node "BitwiseNot"
// CHECK-NOT: = arith.{{[^c]}}
// CHECK: return
func.func @integers(%x: tensor<8xi64>, %y: tensor<8xi64>) -> (tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi1>, tensor<8xf32>) {
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %e = tensor.empty() : tensor<8xi64>
  %b = tensor.empty() : tensor<8xi1>
  %f = tensor.empty() : tensor<8xf32>
  %r:8 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<8xi64>, tensor<8xi64>) outs(%e, %e, %e, %e, %e, %e, %b, %f : tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi1>, tensor<8xf32>) {
  ^bb0(%a: i64, %c: i64, %o0: i64, %o1: i64, %o2: i64, %o3: i64, %o4: i64, %o5: i64, %o6: i1, %o7: f32):
    %0 = arith.shrsi %a, %two : i64
    %1 = arith.shli %a, %three : i64
    %2 = arith.andi %a, %c : i64
    %3 = arith.floordivsi %a, %three : i64
    %4 = arith.remsi %a, %three : i64
    %5 = arith.maxsi %a, %c : i64
    %6 = arith.cmpi ult, %a, %c : i64
    %7 = arith.sitofp %a : i64 to f32
    linalg.yield %0, %1, %2, %3, %4, %5, %6, %7 : i64, i64, i64, i64, i64, i64, i1, f32
  } -> (tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi1>, tensor<8xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7 : tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi1>, tensor<8xf32>
}

// Functions that ONNX lacks: as Log1p and Expm1 above, or in terms of an operator that is as exact.
// CHECK-LABEL: func.func @functions
// CHECK-DAG: onnx.node "Log2"({{.*}}) {} domain "zero" opset 1
// CHECK-DAG: onnx.node "Cbrt"({{.*}}) {} domain "zero" opset 1
// CHECK-DAG: onnx.node "Erfc"({{.*}}) {} domain "zero" opset 1
// CHECK-DAG: onnx.node "Atan2"({{.*}}) {} domain "zero" opset 1
// CHECK-DAG: onnx.node "Exp"
// CHECK-DAG: onnx.node "Log"
// CHECK-NOT: math.
func.func @functions(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e, %e : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o0: f32, %o1: f32):
    %abs = math.absf %a : f32
    %0 = math.log2 %abs : f32
    %1 = math.cbrt %0 : f32
    %2 = math.erfc %1 : f32
    %3 = math.atan2 %2, %b : f32
    %4 = math.exp2 %3 : f32
    %5 = math.log10 %abs : f32
    linalg.yield %4, %5 : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}
