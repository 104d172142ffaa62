"builtin.module"() <{sym_name = "jit_step"}> ({
  "func.func"() <{arg_attrs = [{tf.aliasing_output = 1 : i32}, {tf.aliasing_output = 2 : i32}, {tf.aliasing_output = 3 : i32}, {tf.aliasing_output = 4 : i32}, {}], function_type = (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<2x8x16xf32>) -> (tensor<f32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]['k']"}, {jax.result_info = "result[1]['o']"}, {jax.result_info = "result[1]['q']"}, {jax.result_info = "result[1]['v']"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<16x16xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<2x8x16xf32>):
    %0 = "stablehlo.dot_general"(%arg4, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %1 = "stablehlo.reshape"(%0) : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %2 = "stablehlo.dot_general"(%arg4, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %3 = "stablehlo.reshape"(%2) : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %4 = "stablehlo.dot_general"(%arg4, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %5 = "stablehlo.reshape"(%4) : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %6 = "stablehlo.reshape"(%1) : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %7 = "stablehlo.dot_general"(%6, %3) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [4], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x4x1x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8x1x8xf32>
    %8 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8x1x8xf32>
    %10 = "stablehlo.multiply"(%7, %9) : (tensor<2x4x8x1x8xf32>, tensor<2x4x8x1x8xf32>) -> tensor<2x4x8x1x8xf32>
    %11 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.reduce"(%10, %11) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg13: tensor<f32>, %arg14: tensor<f32>):
      %103 = "stablehlo.maximum"(%arg13, %arg14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%103) : (tensor<f32>) -> ()
    }) : (tensor<2x4x8x1x8xf32>, tensor<f32>) -> tensor<2x4x8x1xf32>
    %13 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8x1xf32>
    %15 = "stablehlo.maximum"(%14, %12) : (tensor<2x4x8x1xf32>, tensor<2x4x8x1xf32>) -> tensor<2x4x8x1xf32>
    %16 = "stablehlo.transpose"(%15) <{permutation = array<i64: 3, 0, 1, 2>}> : (tensor<2x4x8x1xf32>) -> tensor<1x2x4x8xf32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %18 = "stablehlo.transpose"(%10) <{permutation = array<i64: 3, 0, 1, 2, 4>}> : (tensor<2x4x8x1x8xf32>) -> tensor<1x2x4x8x8xf32>
    %19 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %20 = "stablehlo.subtract"(%18, %19) : (tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %21 = "stablehlo.exponential"(%20) : (tensor<1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %22 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %23 = "stablehlo.reduce"(%21, %22) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %102 = "stablehlo.add"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%102) : (tensor<f32>) -> ()
    }) : (tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8xf32>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %26 = "stablehlo.divide"(%21, %25) : (tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %27 = "stablehlo.multiply"(%24, %24) : (tensor<1x2x4x8x1xf32>, tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x1xf32>
    %28 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x4x8x1xf32>
    %30 = "stablehlo.divide"(%29, %27) : (tensor<1x2x4x8x1xf32>, tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x1xf32>
    %31 = "stablehlo.dot_general"(%5, %26) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [1, 2], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [4]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x4x4xf32>, tensor<1x2x4x8x8xf32>) -> tensor<2x4x4x1x8xf32>
    %32 = "stablehlo.transpose"(%31) <{permutation = array<i64: 3, 0, 4, 1, 2>}> : (tensor<2x4x4x1x8xf32>) -> tensor<1x2x8x4x4xf32>
    %33 = "stablehlo.transpose"(%32) <{permutation = array<i64: 1, 2, 3, 0, 4>}> : (tensor<1x2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %34 = "stablehlo.reshape"(%33) : (tensor<2x8x4x1x4xf32>) -> tensor<2x8x4x4xf32>
    %35 = "stablehlo.reshape"(%34) : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %36 = "stablehlo.dot_general"(%35, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %37 = "stablehlo.subtract"(%36, %arg4) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %38 = "stablehlo.multiply"(%37, %37) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %39 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x16xf32>
    %41 = "stablehlo.multiply"(%40, %37) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %42 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %43 = "stablehlo.reduce"(%38, %42) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %101 = "stablehlo.add"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%101) : (tensor<f32>) -> ()
    }) : (tensor<2x8x16xf32>, tensor<f32>) -> tensor<f32>
    %44 = "stablehlo.constant"() <{value = dense<2.560000e+02> : tensor<f32>}> : () -> tensor<f32>
    %45 = "stablehlo.divide"(%43, %44) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %46 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %47 = "stablehlo.constant"() <{value = dense<2.560000e+02> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.divide"(%46, %47) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x16xf32>
    %50 = "stablehlo.multiply"(%49, %41) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %51 = "stablehlo.dot_general"(%50, %35) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %52 = "stablehlo.transpose"(%51) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %53 = "stablehlo.dot_general"(%50, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %54 = "stablehlo.reshape"(%53) : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %55 = "stablehlo.reshape"(%54) : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x1x4xf32>
    %56 = "stablehlo.transpose"(%55) <{permutation = array<i64: 3, 0, 1, 2, 4>}> : (tensor<2x8x4x1x4xf32>) -> tensor<1x2x8x4x4xf32>
    %57 = "stablehlo.transpose"(%56) <{permutation = array<i64: 1, 3, 4, 0, 2>}> : (tensor<1x2x8x4x4xf32>) -> tensor<2x4x4x1x8xf32>
    %58 = "stablehlo.dot_general"(%57, %5) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x4x1x8xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x1x8x8xf32>
    %59 = "stablehlo.transpose"(%58) <{permutation = array<i64: 2, 0, 1, 3, 4>}> : (tensor<2x4x1x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %60 = "stablehlo.dot_general"(%57, %26) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [1, 2], lhs_contracting_dimensions = [3, 4], rhs_contracting_dimensions = [0, 3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x4x1x8xf32>, tensor<1x2x4x8x8xf32>) -> tensor<2x4x4x8xf32>
    %61 = "stablehlo.transpose"(%60) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x4x8xf32>) -> tensor<2x8x4x4xf32>
    %62 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %63 = "stablehlo.multiply"(%59, %62) : (tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %64 = "stablehlo.multiply"(%63, %21) : (tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %65 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %66 = "stablehlo.reduce"(%64, %65) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %100 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%100) : (tensor<f32>) -> ()
    }) : (tensor<1x2x4x8x8xf32>, tensor<f32>) -> tensor<1x2x4x8xf32>
    %67 = "stablehlo.reshape"(%66) : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x1xf32>
    %68 = "stablehlo.negate"(%67) : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x1xf32>
    %69 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<1x2x4x8x1xf32>) -> tensor<1x2x4x8x8xf32>
    %70 = "stablehlo.divide"(%59, %69) : (tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %71 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %72 = "stablehlo.reduce"(%68, %71) <{dimensions = array<i64: 0, 4>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %99 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%99) : (tensor<f32>) -> ()
    }) : (tensor<1x2x4x8x1xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %73 = "stablehlo.broadcast_in_dim"(%72) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<2x4x8xf32>) -> tensor<1x2x4x8xf32>
    %74 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8x8xf32>
    %75 = "stablehlo.add"(%70, %74) : (tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %76 = "stablehlo.multiply"(%75, %21) : (tensor<1x2x4x8x8xf32>, tensor<1x2x4x8x8xf32>) -> tensor<1x2x4x8x8xf32>
    %77 = "stablehlo.transpose"(%76) <{permutation = array<i64: 1, 2, 3, 0, 4>}> : (tensor<1x2x4x8x8xf32>) -> tensor<2x4x8x1x8xf32>
    %78 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %79 = "stablehlo.broadcast_in_dim"(%78) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8x1x8xf32>
    %80 = "stablehlo.multiply"(%77, %79) : (tensor<2x4x8x1x8xf32>, tensor<2x4x8x1x8xf32>) -> tensor<2x4x8x1x8xf32>
    %81 = "stablehlo.dot_general"(%80, %6) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2, 3], rhs_contracting_dimensions = [1, 3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x8x1x8xf32>, tensor<2x8x4x1x4xf32>) -> tensor<2x4x8x4xf32>
    %82 = "stablehlo.transpose"(%81) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x4x8x4xf32>) -> tensor<2x8x4x4xf32>
    %83 = "stablehlo.dot_general"(%80, %3) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [4], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x8x1x8xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8x1x4xf32>
    %84 = "stablehlo.transpose"(%83) <{permutation = array<i64: 0, 2, 1, 3, 4>}> : (tensor<2x4x8x1x4xf32>) -> tensor<2x8x4x1x4xf32>
    %85 = "stablehlo.reshape"(%84) : (tensor<2x8x4x1x4xf32>) -> tensor<2x8x4x4xf32>
    %86 = "stablehlo.reshape"(%61) : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %87 = "stablehlo.dot_general"(%86, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %88 = "stablehlo.transpose"(%87) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %89 = "stablehlo.reshape"(%82) : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %90 = "stablehlo.dot_general"(%89, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %91 = "stablehlo.transpose"(%90) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %92 = "stablehlo.reshape"(%85) : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %93 = "stablehlo.dot_general"(%92, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %94 = "stablehlo.transpose"(%93) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %95 = "stablehlo.subtract"(%arg0, %91) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %96 = "stablehlo.subtract"(%arg1, %52) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %97 = "stablehlo.subtract"(%arg2, %94) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %98 = "stablehlo.subtract"(%arg3, %88) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    "func.return"(%45, %95, %96, %97, %98) : (tensor<f32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

