// RUN: zero-opt %s --zero-unroll-loops | FileCheck %s

// A counter that folds decides how often a body is copied; it is a constant in each copy. An inner
// loop may depend on the counter of the outer one.

// CHECK-LABEL: func.func @nested
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
// CHECK-NOT: stablehlo.while
// CHECK: "stablehlo.constant"() <{value = dense<1> : tensor<i32>}>
// CHECK: %[[A:.+]] = "stablehlo.add"(%[[X]], %[[X]])
// CHECK-NEXT: "stablehlo.constant"() <{value = dense<2> : tensor<i32>}>
// CHECK-NEXT: "stablehlo.constant"() <{value = dense<1> : tensor<i32>}>
// CHECK-NEXT: %[[B:.+]] = "stablehlo.add"(%[[A]], %[[A]])
// CHECK-NEXT: "stablehlo.constant"() <{value = dense<0> : tensor<i32>}>
// CHECK-NEXT: %[[C:.+]] = "stablehlo.add"(%[[B]], %[[B]])
// CHECK-NOT: "stablehlo.add"
// CHECK: return %[[C]] : tensor<4xf32>
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %two = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  %0:3 = "stablehlo.while"(%zero, %x, %two) ({
  ^bb0(%i: tensor<i32>, %y: tensor<4xf32>, %n: tensor<i32>):
    %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %y: tensor<4xf32>, %n: tensor<i32>):
    %next = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %1:2 = "stablehlo.while"(%next, %y) ({
    ^bb0(%j: tensor<i32>, %z: tensor<4xf32>):
      %c = "stablehlo.compare"(%j, %zero) <{comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }, {
    ^bb0(%j: tensor<i32>, %z: tensor<4xf32>):
      %less = "stablehlo.subtract"(%j, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %w = "stablehlo.add"(%z, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      "stablehlo.return"(%less, %w) : (tensor<i32>, tensor<4xf32>) -> ()
    }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
    "stablehlo.return"(%next, %1#1, %n) : (tensor<i32>, tensor<4xf32>, tensor<i32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>, tensor<i32>) -> (tensor<i32>, tensor<4xf32>, tensor<i32>)
  return %0#1 : tensor<4xf32>
}

// A loop without iterations gives what it was given.

// CHECK-LABEL: func.func @never
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
// CHECK-NOT: "stablehlo.add"
// CHECK: return %[[X]]
func.func @never(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = "stablehlo.while"(%zero, %x) ({
  ^bb0(%i: tensor<i32>, %y: tensor<4xf32>):
    %c = "stablehlo.compare"(%i, %zero) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %y: tensor<4xf32>):
    %z = "stablehlo.add"(%y, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%i, %z) : (tensor<i32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// A constant selects a branch; an index out of range takes the last one.

// CHECK-LABEL: func.func @platform
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
// CHECK-NOT: stablehlo.case
// CHECK: %[[Y:.+]] = "stablehlo.multiply"(%[[X]], %[[X]])
// CHECK-NOT: "stablehlo.add"
// CHECK: return %[[Y]]
func.func @platform(%x: tensor<4xf32>) -> tensor<4xf32> {
  %index = "stablehlo.constant"() <{value = dense<7> : tensor<i32>}> : () -> tensor<i32>
  %0 = "stablehlo.case"(%index) ({
    %1 = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }, {
    %1 = "stablehlo.multiply"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
