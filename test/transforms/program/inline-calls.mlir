// RUN: zero-opt %s --zero-inline-calls --split-input-file | FileCheck %s

// Calls of the program are replaced by the bodies of their callees, also in regions, and the other
// functions are erased.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32> {jax.result_info = "x"})
// CHECK-NEXT: %[[C:.+]] = "stablehlo.constant"
// CHECK-NEXT: %[[A:.+]] = "stablehlo.add"(%[[X]], %[[X]])
// CHECK-NEXT: %[[L:.+]]:2 = "stablehlo.while"(%[[C]], %[[A]])
// CHECK: }, {
// CHECK-NEXT: ^bb0(%[[I:.+]]: tensor<i32>, %[[Y:.+]]: tensor<4xf32>):
// CHECK-NEXT: %[[N:.+]] = "stablehlo.add"(%[[I]], %[[I]])
// CHECK-NEXT: %[[D:.+]] = "stablehlo.add"(%[[Y]], %[[Y]])
// CHECK-NEXT: %[[M:.+]] = "stablehlo.multiply"(%[[D]], %[[Y]])
// CHECK-NEXT: "stablehlo.return"(%[[N]], %[[M]])
// CHECK: return %[[L]]#1
func.func @main(%x: tensor<4xf32> {jax.result_info = "x"}) -> tensor<4xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0 = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1:2 = "stablehlo.while"(%zero, %0) ({
  ^bb0(%i: tensor<i32>, %y: tensor<4xf32>):
    %c = "stablehlo.compare"(%i, %i) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %y: tensor<4xf32>):
    %n = "stablehlo.add"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %m = func.call @square_of_twice(%y) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%n, %m) : (tensor<i32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return %1#1 : tensor<4xf32>
}
func.func private @square_of_twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.multiply"(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A composite is a call of its decomposition.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
// CHECK-NEXT: %[[Y:.+]] = "stablehlo.multiply"(%[[X]], %[[X]])
// CHECK-NEXT: return %[[Y]]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.composite"(%x) <{name = "library.square", composite_attributes = {}, decomposition = @square, version = 1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.multiply"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
