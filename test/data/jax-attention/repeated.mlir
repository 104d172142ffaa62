"builtin.module"() <{sym_name = "jit_step"}> ({
  "func.func"() <{arg_attrs = [{tf.aliasing_output = 1 : i32}, {tf.aliasing_output = 2 : i32}, {tf.aliasing_output = 3 : i32}, {tf.aliasing_output = 4 : i32}, {}], function_type = (tensor<16x8xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x8xf32>, tensor<2x8x16xf32>) -> (tensor<f32>, tensor<16x8xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x8xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]['k']"}, {jax.result_info = "result[1]['o']"}, {jax.result_info = "result[1]['q']"}, {jax.result_info = "result[1]['v']"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<16x8xf32>, %arg4: tensor<16x16xf32>, %arg5: tensor<16x16xf32>, %arg6: tensor<16x8xf32>, %arg7: tensor<2x8x16xf32>):
    %3 = "stablehlo.constant"() <{value = dense<[[true, false, false, false, false, false, false, false], [true, true, false, false, false, false, false, false], [true, true, true, false, false, false, false, false], [true, true, true, true, false, false, false, false], [true, true, true, true, true, false, false, false], [true, true, true, true, true, true, false, false], [true, true, true, true, true, true, true, false], [true, true, true, true, true, true, true, true]]> : tensor<8x8xi1>}> : () -> tensor<8x8xi1>
    %4 = "stablehlo.dot_general"(%arg7, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %5 = "stablehlo.reshape"(%4) : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %6 = "stablehlo.dot_general"(%arg7, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x8xf32>) -> tensor<2x8x8xf32>
    %7 = "stablehlo.reshape"(%6) : (tensor<2x8x8xf32>) -> tensor<2x8x2x4xf32>
    %8 = "stablehlo.dot_general"(%arg7, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x8xf32>) -> tensor<2x8x8xf32>
    %9 = "stablehlo.reshape"(%8) : (tensor<2x8x8xf32>) -> tensor<2x8x2x4xf32>
    %10 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64: 0, 1, 2, 4>}> : (tensor<2x8x2x4xf32>) -> tensor<2x8x2x2x4xf32>
    %11 = "stablehlo.reshape"(%10) : (tensor<2x8x2x2x4xf32>) -> tensor<2x8x4x4xf32>
    %12 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64: 0, 1, 2, 4>}> : (tensor<2x8x2x4xf32>) -> tensor<2x8x2x2x4xf32>
    %13 = "stablehlo.reshape"(%12) : (tensor<2x8x2x2x4xf32>) -> tensor<2x8x4x4xf32>
    %14 = "stablehlo.transpose"(%5) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x8x4x4xf32>) -> tensor<2x4x8x4xf32>
    %15 = "stablehlo.transpose"(%11) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x8x4x4xf32>) -> tensor<2x4x8x4xf32>
    %16 = "stablehlo.transpose"(%13) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x8x4x4xf32>) -> tensor<2x4x8x4xf32>
    %17 = "stablehlo.transpose"(%15) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<2x4x8x4xf32>) -> tensor<2x4x4x8xf32>
    %18 = "stablehlo.dot_general"(%14, %17) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x8x4xf32>, tensor<2x4x4x8xf32>) -> tensor<2x4x8x8xf32>
    %19 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %20 = "stablehlo.sqrt"(%19) : (tensor<f32>) -> tensor<f32>
    %21 = "stablehlo.convert"(%20) : (tensor<f32>) -> tensor<f32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %23 = "stablehlo.divide"(%18, %22) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %24 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.constant"() <{value = dense<-1.000000e+09> : tensor<f32>}> : () -> tensor<f32>
    %26 = "func.call"(%3, %24, %25) <{callee = @_where}> : (tensor<8x8xi1>, tensor<f32>, tensor<f32>) -> tensor<8x8xf32>
    %27 = "stablehlo.convert"(%26) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<8x8xf32>) -> tensor<1x1x8x8xf32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x8x8xf32>) -> tensor<2x4x8x8xf32>
    %30 = "stablehlo.add"(%23, %29) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %31 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.reduce"(%30, %31) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg20: tensor<f32>, %arg21: tensor<f32>):
      %123 = "stablehlo.maximum"(%arg20, %arg21) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%123) : (tensor<f32>) -> ()
    }) : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %33 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %34 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8xf32>
    %35 = "stablehlo.maximum"(%34, %32) : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %38 = "stablehlo.subtract"(%30, %37) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %39 = "stablehlo.exponential"(%38) : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %40 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %41 = "stablehlo.reduce"(%39, %40) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %122 = "stablehlo.add"(%arg18, %arg19) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%122) : (tensor<f32>) -> ()
    }) : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %44 = "stablehlo.divide"(%39, %43) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %45 = "stablehlo.multiply"(%42, %42) : (tensor<2x4x8x1xf32>, tensor<2x4x8x1xf32>) -> tensor<2x4x8x1xf32>
    %46 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %47 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8x1xf32>
    %48 = "stablehlo.divide"(%47, %45) : (tensor<2x4x8x1xf32>, tensor<2x4x8x1xf32>) -> tensor<2x4x8x1xf32>
    %49 = "stablehlo.dot_general"(%44, %16) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x8x8xf32>, tensor<2x4x8x4xf32>) -> tensor<2x4x8x4xf32>
    %50 = "stablehlo.transpose"(%49) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x4x8x4xf32>) -> tensor<2x8x4x4xf32>
    %51 = "stablehlo.reshape"(%50) : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %52 = "stablehlo.dot_general"(%51, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %53 = "stablehlo.subtract"(%52, %arg7) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %54 = "stablehlo.multiply"(%53, %53) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %55 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %56 = "stablehlo.broadcast_in_dim"(%55) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x16xf32>
    %57 = "stablehlo.multiply"(%56, %53) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %58 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %59 = "stablehlo.reduce"(%54, %58) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %121 = "stablehlo.add"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%121) : (tensor<f32>) -> ()
    }) : (tensor<2x8x16xf32>, tensor<f32>) -> tensor<f32>
    %60 = "stablehlo.constant"() <{value = dense<2.560000e+02> : tensor<f32>}> : () -> tensor<f32>
    %61 = "stablehlo.divide"(%59, %60) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %62 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.constant"() <{value = dense<2.560000e+02> : tensor<f32>}> : () -> tensor<f32>
    %64 = "stablehlo.divide"(%62, %63) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x16xf32>
    %66 = "stablehlo.multiply"(%65, %57) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %67 = "stablehlo.dot_general"(%66, %51) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %68 = "stablehlo.transpose"(%67) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %69 = "stablehlo.dot_general"(%66, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %70 = "stablehlo.reshape"(%69) : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %71 = "stablehlo.transpose"(%70) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x8x4x4xf32>) -> tensor<2x4x8x4xf32>
    %72 = "stablehlo.dot_general"(%71, %44) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x8x4xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x4x8xf32>
    %73 = "stablehlo.transpose"(%72) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<2x4x4x8xf32>) -> tensor<2x4x8x4xf32>
    %74 = "stablehlo.dot_general"(%71, %16) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x8x4xf32>, tensor<2x4x8x4xf32>) -> tensor<2x4x8x8xf32>
    %75 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %76 = "stablehlo.multiply"(%74, %75) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %77 = "stablehlo.multiply"(%76, %39) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %78 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %79 = "stablehlo.reduce"(%77, %78) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %120 = "stablehlo.add"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%120) : (tensor<f32>) -> ()
    }) : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %80 = "stablehlo.reshape"(%79) : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %81 = "stablehlo.negate"(%80) : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x1xf32>
    %82 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %83 = "stablehlo.divide"(%74, %82) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %84 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %85 = "stablehlo.reduce"(%81, %84) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %119 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%119) : (tensor<f32>) -> ()
    }) : (tensor<2x4x8x1xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %86 = "stablehlo.broadcast_in_dim"(%85) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x8xf32>) -> tensor<2x4x8x8xf32>
    %87 = "stablehlo.add"(%83, %86) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %88 = "stablehlo.multiply"(%87, %39) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %89 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %90 = "stablehlo.divide"(%88, %89) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %91 = "stablehlo.dot_general"(%90, %14) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x8x8xf32>, tensor<2x4x8x4xf32>) -> tensor<2x4x8x4xf32>
    %92 = "stablehlo.transpose"(%91) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<2x4x8x4xf32>) -> tensor<2x4x4x8xf32>
    %93 = "stablehlo.dot_general"(%90, %17) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x8x8xf32>, tensor<2x4x4x8xf32>) -> tensor<2x4x8x4xf32>
    %94 = "stablehlo.transpose"(%92) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<2x4x4x8xf32>) -> tensor<2x4x8x4xf32>
    %95 = "stablehlo.transpose"(%73) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x4x8x4xf32>) -> tensor<2x8x4x4xf32>
    %96 = "stablehlo.transpose"(%94) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x4x8x4xf32>) -> tensor<2x8x4x4xf32>
    %97 = "stablehlo.transpose"(%93) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x4x8x4xf32>) -> tensor<2x8x4x4xf32>
    %98 = "stablehlo.reshape"(%95) : (tensor<2x8x4x4xf32>) -> tensor<2x8x2x2x4xf32>
    %99 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %100 = "stablehlo.reduce"(%98, %99) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %118 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%118) : (tensor<f32>) -> ()
    }) : (tensor<2x8x2x2x4xf32>, tensor<f32>) -> tensor<2x8x2x4xf32>
    %101 = "stablehlo.reshape"(%96) : (tensor<2x8x4x4xf32>) -> tensor<2x8x2x2x4xf32>
    %102 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %103 = "stablehlo.reduce"(%101, %102) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %117 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%117) : (tensor<f32>) -> ()
    }) : (tensor<2x8x2x2x4xf32>, tensor<f32>) -> tensor<2x8x2x4xf32>
    %104 = "stablehlo.reshape"(%100) : (tensor<2x8x2x4xf32>) -> tensor<2x8x8xf32>
    %105 = "stablehlo.dot_general"(%104, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x8xf32>, tensor<2x8x16xf32>) -> tensor<8x16xf32>
    %106 = "stablehlo.transpose"(%105) <{permutation = array<i64: 1, 0>}> : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %107 = "stablehlo.reshape"(%103) : (tensor<2x8x2x4xf32>) -> tensor<2x8x8xf32>
    %108 = "stablehlo.dot_general"(%107, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x8xf32>, tensor<2x8x16xf32>) -> tensor<8x16xf32>
    %109 = "stablehlo.transpose"(%108) <{permutation = array<i64: 1, 0>}> : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %110 = "stablehlo.reshape"(%97) : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %111 = "stablehlo.dot_general"(%110, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %112 = "stablehlo.transpose"(%111) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %113 = "stablehlo.subtract"(%arg3, %109) : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
    %114 = "stablehlo.subtract"(%arg4, %68) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %115 = "stablehlo.subtract"(%arg5, %112) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %116 = "stablehlo.subtract"(%arg6, %106) : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
    "func.return"(%61, %113, %114, %115, %116) : (tensor<f32>, tensor<16x8xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x8xi1>, tensor<f32>, tensor<f32>) -> tensor<8x8xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8x8xi1>, %arg1: tensor<f32>, %arg2: tensor<f32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x8xf32>
    %1 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x8xf32>
    %2 = "stablehlo.select"(%arg0, %0, %1) : (tensor<8x8xi1>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    "func.return"(%2) : (tensor<8x8xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

