"builtin.module"() <{sym_name = "jit_step"}> ({
  "func.func"() <{arg_attrs = [{tf.aliasing_output = 1 : i32}, {tf.aliasing_output = 2 : i32}, {tf.aliasing_output = 3 : i32}, {tf.aliasing_output = 4 : i32}, {}], function_type = (tensor<16x8xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x8xf32>, tensor<2x8x16xf32>) -> (tensor<f32>, tensor<16x8xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x8xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]['k']"}, {jax.result_info = "result[1]['o']"}, {jax.result_info = "result[1]['q']"}, {jax.result_info = "result[1]['v']"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg6: tensor<16x8xf32>, %arg7: tensor<16x16xf32>, %arg8: tensor<16x16xf32>, %arg9: tensor<16x8xf32>, %arg10: tensor<2x8x16xf32>):
    %18 = "stablehlo.dot_general"(%arg10, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %19 = "stablehlo.reshape"(%18) : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %20 = "stablehlo.dot_general"(%arg10, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x8xf32>) -> tensor<2x8x8xf32>
    %21 = "stablehlo.reshape"(%20) : (tensor<2x8x8xf32>) -> tensor<2x8x2x4xf32>
    %22 = "stablehlo.dot_general"(%arg10, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x8xf32>) -> tensor<2x8x8xf32>
    %23 = "stablehlo.reshape"(%22) : (tensor<2x8x8xf32>) -> tensor<2x8x2x4xf32>
    %24 = "stablehlo.reshape"(%19) : (tensor<2x8x4x4xf32>) -> tensor<2x8x2x2x4xf32>
    %25 = "stablehlo.dot_general"(%24, %21) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [4], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x2x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x2x8x2x8xf32>
    %26 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x8x2x8xf32>
    %28 = "stablehlo.multiply"(%25, %27) : (tensor<2x2x8x2x8xf32>, tensor<2x2x8x2x8xf32>) -> tensor<2x2x8x2x8xf32>
    %29 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<2x2x8x8xi1>
    %31 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<8x8xi1>
    %33 = "func.call"(%32) <{callee = @tril}> : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %34 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<8x8xi1>) -> tensor<1x1x8x8xi1>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x8x8xi1>) -> tensor<2x2x8x8xi1>
    %36 = "stablehlo.and"(%30, %35) : (tensor<2x2x8x8xi1>, tensor<2x2x8x8xi1>) -> tensor<2x2x8x8xi1>
    %37 = "stablehlo.constant"() <{value = dense<-2.38197633E+38> : tensor<f32>}> : () -> tensor<f32>
    %38:2 = "func.call"(%36, %28, %37) <{callee = @_where}> : (tensor<2x2x8x8xi1>, tensor<2x2x8x2x8xf32>, tensor<f32>) -> (tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xi1>)
    %39 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.reduce"(%38#0, %39) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
      %128 = "stablehlo.maximum"(%arg19, %arg20) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%128) : (tensor<f32>) -> ()
    }) : (tensor<2x2x2x8x8xf32>, tensor<f32>) -> tensor<2x2x2x8xf32>
    %41 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x2x8xf32>
    %43 = "stablehlo.maximum"(%42, %40) : (tensor<2x2x2x8xf32>, tensor<2x2x2x8xf32>) -> tensor<2x2x2x8xf32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8x1xf32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x8xf32>
    %46 = "stablehlo.subtract"(%38#0, %45) : (tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x2x8x8xf32>
    %47 = "stablehlo.exponential"(%46) : (tensor<2x2x2x8x8xf32>) -> tensor<2x2x2x8x8xf32>
    %48 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.reduce"(%47, %48) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %127 = "stablehlo.add"(%arg17, %arg18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%127) : (tensor<f32>) -> ()
    }) : (tensor<2x2x2x8x8xf32>, tensor<f32>) -> tensor<2x2x2x8xf32>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8x1xf32>
    %51 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x8xf32>
    %52 = "stablehlo.divide"(%47, %51) : (tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x2x8x8xf32>
    %53 = "stablehlo.multiply"(%50, %50) : (tensor<2x2x2x8x1xf32>, tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x1xf32>
    %54 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x2x8x1xf32>
    %56 = "stablehlo.divide"(%55, %53) : (tensor<2x2x2x8x1xf32>, tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x1xf32>
    %57 = "stablehlo.dot_general"(%23, %52) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [1, 2], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [4]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x2x4xf32>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x4x2x8xf32>
    %58 = "stablehlo.transpose"(%57) <{permutation = array<i64: 3, 0, 4, 1, 2>}> : (tensor<2x2x4x2x8xf32>) -> tensor<2x2x8x2x4xf32>
    %59 = "stablehlo.transpose"(%58) <{permutation = array<i64: 1, 2, 3, 0, 4>}> : (tensor<2x2x8x2x4xf32>) -> tensor<2x8x2x2x4xf32>
    %60 = "stablehlo.reshape"(%59) : (tensor<2x8x2x2x4xf32>) -> tensor<2x8x4x4xf32>
    %61 = "stablehlo.reshape"(%60) : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %62 = "stablehlo.dot_general"(%61, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %63 = "stablehlo.subtract"(%62, %arg10) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %64 = "stablehlo.multiply"(%63, %63) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %65 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x16xf32>
    %67 = "stablehlo.multiply"(%66, %63) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %68 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %69 = "stablehlo.reduce"(%64, %68) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<f32>):
      %126 = "stablehlo.add"(%arg15, %arg16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%126) : (tensor<f32>) -> ()
    }) : (tensor<2x8x16xf32>, tensor<f32>) -> tensor<f32>
    %70 = "stablehlo.constant"() <{value = dense<2.560000e+02> : tensor<f32>}> : () -> tensor<f32>
    %71 = "stablehlo.divide"(%69, %70) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %72 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %73 = "stablehlo.constant"() <{value = dense<2.560000e+02> : tensor<f32>}> : () -> tensor<f32>
    %74 = "stablehlo.divide"(%72, %73) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %75 = "stablehlo.broadcast_in_dim"(%74) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x16xf32>
    %76 = "stablehlo.multiply"(%75, %67) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %77 = "stablehlo.dot_general"(%76, %61) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %78 = "stablehlo.transpose"(%77) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %79 = "stablehlo.dot_general"(%76, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %80 = "stablehlo.reshape"(%79) : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %81 = "stablehlo.reshape"(%80) : (tensor<2x8x4x4xf32>) -> tensor<2x8x2x2x4xf32>
    %82 = "stablehlo.transpose"(%81) <{permutation = array<i64: 3, 0, 1, 2, 4>}> : (tensor<2x8x2x2x4xf32>) -> tensor<2x2x8x2x4xf32>
    %83 = "stablehlo.transpose"(%82) <{permutation = array<i64: 1, 3, 4, 0, 2>}> : (tensor<2x2x8x2x4xf32>) -> tensor<2x2x4x2x8xf32>
    %84 = "stablehlo.dot_general"(%83, %23) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x4x2x8xf32>, tensor<2x8x2x4xf32>) -> tensor<2x2x2x8x8xf32>
    %85 = "stablehlo.transpose"(%84) <{permutation = array<i64: 2, 0, 1, 3, 4>}> : (tensor<2x2x2x8x8xf32>) -> tensor<2x2x2x8x8xf32>
    %86 = "stablehlo.dot_general"(%83, %52) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [1, 2], lhs_contracting_dimensions = [3, 4], rhs_contracting_dimensions = [0, 3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x4x2x8xf32>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x4x8xf32>
    %87 = "stablehlo.transpose"(%86) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x2x4x8xf32>) -> tensor<2x8x2x4xf32>
    %88 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x8xf32>
    %89 = "stablehlo.multiply"(%85, %88) : (tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x2x8x8xf32>
    %90 = "stablehlo.multiply"(%89, %47) : (tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x2x8x8xf32>
    %91 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %92 = "stablehlo.reduce"(%90, %91) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg13: tensor<f32>, %arg14: tensor<f32>):
      %125 = "stablehlo.add"(%arg13, %arg14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%125) : (tensor<f32>) -> ()
    }) : (tensor<2x2x2x8x8xf32>, tensor<f32>) -> tensor<2x2x2x8xf32>
    %93 = "stablehlo.reshape"(%92) : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8x1xf32>
    %94 = "stablehlo.negate"(%93) : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x1xf32>
    %95 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>}> : (tensor<2x2x2x8x1xf32>) -> tensor<2x2x2x8x8xf32>
    %96 = "stablehlo.divide"(%85, %95) : (tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x2x8x8xf32>
    %97 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %98 = "stablehlo.reduce"(%94, %97) <{dimensions = array<i64: 4>}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %124 = "stablehlo.add"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%124) : (tensor<f32>) -> ()
    }) : (tensor<2x2x2x8x1xf32>, tensor<f32>) -> tensor<2x2x2x8xf32>
    %99 = "stablehlo.broadcast_in_dim"(%98) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x2x2x8xf32>) -> tensor<2x2x2x8x8xf32>
    %100 = "stablehlo.add"(%96, %99) : (tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x2x8x8xf32>
    %101 = "stablehlo.multiply"(%100, %47) : (tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x2x8x8xf32>
    %102 = "func.call"(%38#1, %101) <{callee = @_where_0}> : (tensor<2x2x2x8x8xi1>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x8x2x8xf32>
    %103 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %104 = "stablehlo.broadcast_in_dim"(%103) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x8x2x8xf32>
    %105 = "stablehlo.multiply"(%102, %104) : (tensor<2x2x8x2x8xf32>, tensor<2x2x8x2x8xf32>) -> tensor<2x2x8x2x8xf32>
    %106 = "stablehlo.dot_general"(%105, %24) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2, 3], rhs_contracting_dimensions = [1, 3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x8x2x8xf32>, tensor<2x8x2x2x4xf32>) -> tensor<2x2x8x4xf32>
    %107 = "stablehlo.transpose"(%106) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x2x8x4xf32>) -> tensor<2x8x2x4xf32>
    %108 = "stablehlo.dot_general"(%105, %21) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [4], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2x8x2x8xf32>, tensor<2x8x2x4xf32>) -> tensor<2x2x8x2x4xf32>
    %109 = "stablehlo.transpose"(%108) <{permutation = array<i64: 0, 2, 1, 3, 4>}> : (tensor<2x2x8x2x4xf32>) -> tensor<2x8x2x2x4xf32>
    %110 = "stablehlo.reshape"(%109) : (tensor<2x8x2x2x4xf32>) -> tensor<2x8x4x4xf32>
    %111 = "stablehlo.reshape"(%87) : (tensor<2x8x2x4xf32>) -> tensor<2x8x8xf32>
    %112 = "stablehlo.dot_general"(%111, %arg10) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x8xf32>, tensor<2x8x16xf32>) -> tensor<8x16xf32>
    %113 = "stablehlo.transpose"(%112) <{permutation = array<i64: 1, 0>}> : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %114 = "stablehlo.reshape"(%107) : (tensor<2x8x2x4xf32>) -> tensor<2x8x8xf32>
    %115 = "stablehlo.dot_general"(%114, %arg10) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x8xf32>, tensor<2x8x16xf32>) -> tensor<8x16xf32>
    %116 = "stablehlo.transpose"(%115) <{permutation = array<i64: 1, 0>}> : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %117 = "stablehlo.reshape"(%110) : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %118 = "stablehlo.dot_general"(%117, %arg10) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %119 = "stablehlo.transpose"(%118) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %120 = "stablehlo.subtract"(%arg6, %116) : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
    %121 = "stablehlo.subtract"(%arg7, %78) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %122 = "stablehlo.subtract"(%arg8, %119) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %123 = "stablehlo.subtract"(%arg9, %113) : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
    "func.return"(%71, %120, %121, %122, %123) : (tensor<f32>, tensor<16x8xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x8xi1>) -> tensor<8x8xi1>, res_attrs = [{}], sym_name = "tril", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<8x8xi1>):
    %9 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8x8xi32>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<8x8xi32>
    %12 = "stablehlo.add"(%9, %11) : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
    %13 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<8x8xi32>
    %14 = "stablehlo.compare"(%12, %13) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %15 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<8x8xi1>
    %17 = "stablehlo.select"(%14, %arg5, %16) : (tensor<8x8xi1>, tensor<8x8xi1>, tensor<8x8xi1>) -> tensor<8x8xi1>
    "func.return"(%17) : (tensor<8x8xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2x2x8x8xi1>, tensor<2x2x8x2x8xf32>, tensor<f32>) -> (tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xi1>), res_attrs = [{}, {}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<2x2x8x8xi1>, %arg3: tensor<2x2x8x2x8xf32>, %arg4: tensor<f32>):
    %4 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x8x8xf32>
    %5 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 1, 2, 3, 4>}> : (tensor<2x2x8x8xi1>) -> tensor<2x2x2x8x8xi1>
    %6 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 1, 2, 3, 4>}> : (tensor<2x2x8x8xf32>) -> tensor<2x2x2x8x8xf32>
    %7 = "stablehlo.transpose"(%arg3) <{permutation = array<i64: 3, 0, 1, 2, 4>}> : (tensor<2x2x8x2x8xf32>) -> tensor<2x2x2x8x8xf32>
    %8 = "stablehlo.select"(%5, %7, %6) : (tensor<2x2x2x8x8xi1>, tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x2x8x8xf32>
    "func.return"(%8, %5) : (tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2x2x2x8x8xi1>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x8x2x8xf32>, res_attrs = [{}], sym_name = "_where_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x2x2x8x8xi1>, %arg1: tensor<2x2x2x8x8xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x2x8x8xf32>
    %2 = "stablehlo.select"(%arg0, %arg1, %1) : (tensor<2x2x2x8x8xi1>, tensor<2x2x2x8x8xf32>, tensor<2x2x2x8x8xf32>) -> tensor<2x2x2x8x8xf32>
    %3 = "stablehlo.transpose"(%2) <{permutation = array<i64: 1, 2, 3, 0, 4>}> : (tensor<2x2x2x8x8xf32>) -> tensor<2x2x8x2x8xf32>
    "func.return"(%3) : (tensor<2x2x8x2x8xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

