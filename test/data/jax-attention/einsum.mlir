"builtin.module"() <{sym_name = "jit_step"}> ({
  "func.func"() <{arg_attrs = [{tf.aliasing_output = 1 : i32}, {tf.aliasing_output = 2 : i32}, {tf.aliasing_output = 3 : i32}, {tf.aliasing_output = 4 : i32}, {}], function_type = (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<2x8x16xf32>) -> (tensor<f32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]['k']"}, {jax.result_info = "result[1]['o']"}, {jax.result_info = "result[1]['q']"}, {jax.result_info = "result[1]['v']"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg5: tensor<16x16xf32>, %arg6: tensor<16x16xf32>, %arg7: tensor<16x16xf32>, %arg8: tensor<16x16xf32>, %arg9: tensor<2x8x16xf32>):
    %6 = "stablehlo.constant"() <{value = dense<[[true, false, false, false, false, false, false, false], [true, true, false, false, false, false, false, false], [true, true, true, false, false, false, false, false], [true, true, true, true, false, false, false, false], [true, true, true, true, true, false, false, false], [true, true, true, true, true, true, false, false], [true, true, true, true, true, true, true, false], [true, true, true, true, true, true, true, true]]> : tensor<8x8xi1>}> : () -> tensor<8x8xi1>
    %7 = "stablehlo.dot_general"(%arg9, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %8 = "stablehlo.reshape"(%7) : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %9 = "stablehlo.dot_general"(%arg9, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %10 = "stablehlo.reshape"(%9) : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %11 = "stablehlo.dot_general"(%arg9, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %12 = "stablehlo.reshape"(%11) : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %13 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.sqrt"(%13) : (tensor<f32>) -> tensor<f32>
    %15 = "stablehlo.convert"(%14) : (tensor<f32>) -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x4x4xf32>
    %17 = "stablehlo.divide"(%8, %16) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %18 = "stablehlo.dot_general"(%17, %10) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8x8xf32>
    %19 = "stablehlo.constant"() <{value = dense<-3.40282347E+38> : tensor<f32>}> : () -> tensor<f32>
    %20:2 = "func.call"(%6, %18, %19) <{callee = @_where}> : (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> (tensor<2x4x8x8xf32>, tensor<2x4x8x8xi1>)
    %21 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.reduce"(%20#0, %21) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %103 = "stablehlo.maximum"(%arg18, %arg19) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%103) : (tensor<f32>) -> ()
    }) : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %23 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8xf32>
    %25 = "stablehlo.maximum"(%24, %22) : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %28 = "stablehlo.subtract"(%20#0, %27) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %29 = "stablehlo.exponential"(%28) : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %30 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %31 = "stablehlo.reduce"(%29, %30) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %102 = "stablehlo.add"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%102) : (tensor<f32>) -> ()
    }) : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %34 = "stablehlo.divide"(%29, %33) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %35 = "stablehlo.multiply"(%32, %32) : (tensor<2x4x8x1xf32>, tensor<2x4x8x1xf32>) -> tensor<2x4x8x1xf32>
    %36 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8x1xf32>
    %38 = "stablehlo.divide"(%37, %35) : (tensor<2x4x8x1xf32>, tensor<2x4x8x1xf32>) -> tensor<2x4x8x1xf32>
    %39 = "stablehlo.dot_general"(%12, %34) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x4x4xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x4x8xf32>
    %40 = "stablehlo.transpose"(%39) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x4x8xf32>) -> tensor<2x8x4x4xf32>
    %41 = "stablehlo.reshape"(%40) : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %42 = "stablehlo.dot_general"(%41, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %43 = "stablehlo.subtract"(%42, %arg9) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %44 = "stablehlo.multiply"(%43, %43) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %45 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %46 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x16xf32>
    %47 = "stablehlo.multiply"(%46, %43) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %48 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.reduce"(%44, %48) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %101 = "stablehlo.add"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%101) : (tensor<f32>) -> ()
    }) : (tensor<2x8x16xf32>, tensor<f32>) -> tensor<f32>
    %50 = "stablehlo.constant"() <{value = dense<2.560000e+02> : tensor<f32>}> : () -> tensor<f32>
    %51 = "stablehlo.divide"(%49, %50) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %52 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.constant"() <{value = dense<2.560000e+02> : tensor<f32>}> : () -> tensor<f32>
    %54 = "stablehlo.divide"(%52, %53) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x16xf32>
    %56 = "stablehlo.multiply"(%55, %47) : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %57 = "stablehlo.dot_general"(%56, %41) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %58 = "stablehlo.transpose"(%57) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %59 = "stablehlo.dot_general"(%56, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %60 = "stablehlo.reshape"(%59) : (tensor<2x8x16xf32>) -> tensor<2x8x4x4xf32>
    %61 = "stablehlo.transpose"(%60) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x8x4x4xf32>) -> tensor<2x4x4x8xf32>
    %62 = "stablehlo.dot_general"(%61, %12) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x4x8xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8x8xf32>
    %63 = "stablehlo.dot_general"(%61, %34) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x4x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x4x8xf32>
    %64 = "stablehlo.transpose"(%63) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x4x8xf32>) -> tensor<2x8x4x4xf32>
    %65 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %66 = "stablehlo.multiply"(%62, %65) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %67 = "stablehlo.multiply"(%66, %29) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %68 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %69 = "stablehlo.reduce"(%67, %68) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %100 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%100) : (tensor<f32>) -> ()
    }) : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %70 = "stablehlo.reshape"(%69) : (tensor<2x4x8xf32>) -> tensor<2x4x8x1xf32>
    %71 = "stablehlo.negate"(%70) : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x1xf32>
    %72 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x4x8x1xf32>) -> tensor<2x4x8x8xf32>
    %73 = "stablehlo.divide"(%62, %72) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %74 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %75 = "stablehlo.reduce"(%71, %74) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %99 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%99) : (tensor<f32>) -> ()
    }) : (tensor<2x4x8x1xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %76 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x4x8xf32>) -> tensor<2x4x8x8xf32>
    %77 = "stablehlo.add"(%73, %76) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %78 = "stablehlo.multiply"(%77, %29) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %79 = "func.call"(%20#1, %78) <{callee = @_where_0}> : (tensor<2x4x8x8xi1>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %80 = "stablehlo.dot_general"(%79, %17) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x8x8xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8x4xf32>
    %81 = "stablehlo.transpose"(%80) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x4x8x4xf32>) -> tensor<2x8x4x4xf32>
    %82 = "stablehlo.dot_general"(%79, %10) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x8x8xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8x4xf32>
    %83 = "stablehlo.transpose"(%82) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x4x8x4xf32>) -> tensor<2x8x4x4xf32>
    %84 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x4x4xf32>
    %85 = "stablehlo.divide"(%83, %84) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %86 = "stablehlo.reshape"(%64) : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %87 = "stablehlo.dot_general"(%86, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %88 = "stablehlo.transpose"(%87) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %89 = "stablehlo.reshape"(%81) : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %90 = "stablehlo.dot_general"(%89, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %91 = "stablehlo.transpose"(%90) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %92 = "stablehlo.reshape"(%85) : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
    %93 = "stablehlo.dot_general"(%92, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<16x16xf32>
    %94 = "stablehlo.transpose"(%93) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %95 = "stablehlo.subtract"(%arg5, %91) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %96 = "stablehlo.subtract"(%arg6, %58) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %97 = "stablehlo.subtract"(%arg7, %94) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %98 = "stablehlo.subtract"(%arg8, %88) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    "func.return"(%51, %95, %96, %97, %98) : (tensor<f32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> (tensor<2x4x8x8xf32>, tensor<2x4x8x8xi1>), res_attrs = [{}, {}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<8x8xi1>, %arg3: tensor<2x4x8x8xf32>, %arg4: tensor<f32>):
    %3 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<8x8xi1>) -> tensor<2x4x8x8xi1>
    %4 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %5 = "stablehlo.select"(%3, %arg3, %4) : (tensor<2x4x8x8xi1>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    "func.return"(%5, %3) : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2x4x8x8xi1>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>, res_attrs = [{}], sym_name = "_where_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x4x8x8xi1>, %arg1: tensor<2x4x8x8xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x4x8x8xf32>
    %2 = "stablehlo.select"(%arg0, %arg1, %1) : (tensor<2x4x8x8xi1>, tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    "func.return"(%2) : (tensor<2x4x8x8xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

