// RUN: zero-opt %s | zero-opt | FileCheck %s

// Attributes of the generic form that JAX prints, also those that the conversion does not read, and
// ops that have no definition.

// CHECK: sdy.mesh
"sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["x"=2, "y"=4]>}> : () -> ()

// CHECK: sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>
func.func @attributes(%x: tensor<4x8x9x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                      %w: tensor<3x3x3x4xf32>, %i: tensor<4x1x1xi32>, %s: tensor<2xui64>,
                      %t: !stablehlo.token) {
  // CHECK: #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1, 2], rhs_contracting_dimensions = [1, 2]>
  // CHECK-SAME: precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]
  %0 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<rhs_batching_dimensions = [0], lhs_batching_dimensions = [0], lhs_contracting_dimensions = [1, 2], rhs_contracting_dimensions = [1, 2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]}> : (tensor<4x8x9x3xf32>, tensor<4x8x9x3xf32>) -> tensor<4x3x3xf32>
  // CHECK: #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>
  %1 = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_reversal = array<i1: false, true>}> : (tensor<4x8x9x3xf32>, tensor<3x3x3x4xf32>) -> tensor<4x6x7x4xf32>
  // CHECK: #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>
  %2 = "stablehlo.gather"(%0, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<4x3x3xf32>, tensor<4x1x1xi32>) -> tensor<4x1x3xf32>
  // CHECK: #stablehlo<comparison_type TOTALORDER>
  // CHECK-SAME: #stablehlo<comparison_direction NE>
  %3 = "stablehlo.compare"(%2, %2) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<4x1x3xf32>, tensor<4x1x3xf32>) -> tensor<4x1x3xi1>
  // CHECK: #stablehlo<rng_algorithm THREE_FRY>
  %4:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  // CHECK: #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>
  %5 = "stablehlo.exponential"(%2) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>}> : (tensor<4x1x3xf32>) -> tensor<4x1x3xf32>
  // CHECK: "stablehlo.all_gather"
  // CHECK-SAME: #stablehlo.channel_handle<handle = 1, type = 0>
  %6 = "stablehlo.all_gather"(%2) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}> : (tensor<4x1x3xf32>) -> tensor<8x1x3xf32>
  return
}
