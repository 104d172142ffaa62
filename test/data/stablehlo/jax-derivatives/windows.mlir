"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}, {}, {}, {}], function_type = (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<f32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg7: tensor<4x6xf32>, %arg8: tensor<4x6xf32>, %arg9: tensor<4x6xf32>, %arg10: tensor<4x6xf32>, %arg11: tensor<4x6xf32>, %arg12: tensor<4x6xf32>, %arg13: tensor<4x6xf32>, %arg14: tensor<4x6xf32>):
    %8 = "stablehlo.multiply"(%arg8, %arg14) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %9 = "stablehlo.reshape"(%8) : (tensor<4x6xf32>) -> tensor<1x1x4x6xf32>
    %10 = "stablehlo.slice"(%8) <{limit_indices = array<i64: 2, 3>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<4x6xf32>) -> tensor<2x3xf32>
    %11 = "stablehlo.reshape"(%10) : (tensor<2x3xf32>) -> tensor<1x1x2x3xf32>
    %12 = "stablehlo.convolution"(%9, %11) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 3>, padding = dense<[[1, 0], [2, 1]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 2, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 2, 1>}> : (tensor<1x1x4x6xf32>, tensor<1x1x2x3xf32>) -> tensor<1x1x2x17xf32>
    %13 = "stablehlo.sine"(%12) : (tensor<1x1x2x17xf32>) -> tensor<1x1x2x17xf32>
    %14 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.reduce"(%13, %14) <{dimensions = array<i64: 0, 1, 2, 3>}> ({
    ^bb0(%arg31: tensor<f32>, %arg32: tensor<f32>):
      %102 = "stablehlo.add"(%arg31, %arg32) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%102) : (tensor<f32>) -> ()
    }) : (tensor<1x1x2x17xf32>, tensor<f32>) -> tensor<f32>
    %16 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.add"(%16, %15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %18 = "stablehlo.multiply"(%arg9, %arg14) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %19 = "stablehlo.reshape"(%18) : (tensor<4x6xf32>) -> tensor<1x4x6x1xf32>
    %20 = "stablehlo.slice"(%18) <{limit_indices = array<i64: 3, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<4x6xf32>) -> tensor<3x2xf32>
    %21 = "stablehlo.reshape"(%20) : (tensor<3x2xf32>) -> tensor<3x2x1x1xf32>
    %22 = "stablehlo.convolution"(%19, %21) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 2, 3>, padding = dense<[[2, 1], [1, 2]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x4x6x1xf32>, tensor<3x2x1x1xf32>) -> tensor<1x8x18x1xf32>
    %23 = "stablehlo.sine"(%22) : (tensor<1x8x18x1xf32>) -> tensor<1x8x18x1xf32>
    %24 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.reduce"(%23, %24) <{dimensions = array<i64: 0, 1, 2, 3>}> ({
    ^bb0(%arg29: tensor<f32>, %arg30: tensor<f32>):
      %101 = "stablehlo.add"(%arg29, %arg30) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%101) : (tensor<f32>) -> ()
    }) : (tensor<1x8x18x1xf32>, tensor<f32>) -> tensor<f32>
    %26 = "stablehlo.add"(%17, %25) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %27 = "stablehlo.multiply"(%arg13, %arg14) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %28 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %30 = "stablehlo.reduce_window"(%27, %29) <{base_dilations = array<i64: 1, 2>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%arg27: tensor<f32>, %arg28: tensor<f32>):
      %100 = "stablehlo.add"(%arg27, %arg28) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%100) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
    %31 = "stablehlo.sine"(%30) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %32 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %33 = "stablehlo.reduce"(%31, %32) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg25: tensor<f32>, %arg26: tensor<f32>):
      %99 = "stablehlo.add"(%arg25, %arg26) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%99) : (tensor<f32>) -> ()
    }) : (tensor<3x5xf32>, tensor<f32>) -> tensor<f32>
    %34 = "stablehlo.add"(%26, %33) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %35 = "stablehlo.multiply"(%arg12, %arg14) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %36 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %38 = "stablehlo.reduce_window"(%35, %37) <{base_dilations = array<i64: 1, 2>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%arg23: tensor<f32>, %arg24: tensor<f32>):
      %98 = "stablehlo.maximum"(%arg23, %arg24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%98) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf32>
    %39 = "stablehlo.sine"(%38) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %40 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %41 = "stablehlo.reduce"(%39, %40) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg21: tensor<f32>, %arg22: tensor<f32>):
      %97 = "stablehlo.add"(%arg21, %arg22) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%97) : (tensor<f32>) -> ()
    }) : (tensor<3x5xf32>, tensor<f32>) -> tensor<f32>
    %42 = "stablehlo.add"(%34, %41) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %43 = "stablehlo.multiply"(%arg11, %arg14) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %44 = "func.call"(%43) <{callee = @cumprod}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %45 = "stablehlo.sine"(%44) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %46 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %47 = "stablehlo.reduce"(%45, %46) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
      %96 = "stablehlo.add"(%arg19, %arg20) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%96) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %48 = "stablehlo.add"(%42, %47) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %49 = "stablehlo.multiply"(%arg10, %arg14) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %50 = "func.call"(%49) <{callee = @cummax}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %51 = "stablehlo.sine"(%50) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %52 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.reduce"(%51, %52) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %95 = "stablehlo.add"(%arg17, %arg18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%95) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %54 = "stablehlo.add"(%48, %53) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %55 = "stablehlo.multiply"(%arg7, %arg14) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %56 = "stablehlo.slice"(%55) <{limit_indices = array<i64: 3, 6>, start_indices = array<i64: 0, 0>, strides = array<i64: 2, 1>}> : (tensor<4x6xf32>) -> tensor<2x6xf32>
    %57 = "stablehlo.slice"(%55) <{limit_indices = array<i64: 4, 6>, start_indices = array<i64: 1, 0>, strides = array<i64: 2, 1>}> : (tensor<4x6xf32>) -> tensor<2x6xf32>
    %58 = "stablehlo.cosine"(%57) : (tensor<2x6xf32>) -> tensor<2x6xf32>
    %59 = "stablehlo.multiply"(%56, %58) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
    %60 = "stablehlo.add"(%59, %57) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
    %61 = "stablehlo.slice"(%60) <{limit_indices = array<i64: 1, 6>, start_indices = array<i64: 0, 0>, strides = array<i64: 2, 1>}> : (tensor<2x6xf32>) -> tensor<1x6xf32>
    %62 = "stablehlo.slice"(%60) <{limit_indices = array<i64: 2, 6>, start_indices = array<i64: 1, 0>, strides = array<i64: 2, 1>}> : (tensor<2x6xf32>) -> tensor<1x6xf32>
    %63 = "stablehlo.cosine"(%62) : (tensor<1x6xf32>) -> tensor<1x6xf32>
    %64 = "stablehlo.multiply"(%61, %63) : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xf32>
    %65 = "stablehlo.add"(%64, %62) : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xf32>
    %66 = "stablehlo.slice"(%65) <{limit_indices = array<i64: 0, 6>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<1x6xf32>) -> tensor<0x6xf32>
    %67 = "stablehlo.slice"(%60) <{limit_indices = array<i64: 2, 6>, start_indices = array<i64: 2, 0>, strides = array<i64: 2, 1>}> : (tensor<2x6xf32>) -> tensor<0x6xf32>
    %68 = "stablehlo.cosine"(%67) : (tensor<0x6xf32>) -> tensor<0x6xf32>
    %69 = "stablehlo.multiply"(%66, %68) : (tensor<0x6xf32>, tensor<0x6xf32>) -> tensor<0x6xf32>
    %70 = "stablehlo.add"(%69, %67) : (tensor<0x6xf32>, tensor<0x6xf32>) -> tensor<0x6xf32>
    %71 = "stablehlo.slice"(%60) <{limit_indices = array<i64: 1, 6>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x6xf32>) -> tensor<1x6xf32>
    %72 = "stablehlo.concatenate"(%71, %70) <{dimension = 0 : i64}> : (tensor<1x6xf32>, tensor<0x6xf32>) -> tensor<1x6xf32>
    %73 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %74 = "stablehlo.pad"(%72, %73) <{edge_padding_high = array<i64: 1, 0>, edge_padding_low = array<i64: 0, 0>, interior_padding = array<i64: 1, 0>}> : (tensor<1x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %75 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %76 = "stablehlo.pad"(%65, %75) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 1, 0>, interior_padding = array<i64: 1, 0>}> : (tensor<1x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %77 = "stablehlo.add"(%74, %76) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
    %78 = "stablehlo.slice"(%77) <{limit_indices = array<i64: 1, 6>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x6xf32>) -> tensor<1x6xf32>
    %79 = "stablehlo.slice"(%55) <{limit_indices = array<i64: 4, 6>, start_indices = array<i64: 2, 0>, strides = array<i64: 2, 1>}> : (tensor<4x6xf32>) -> tensor<1x6xf32>
    %80 = "stablehlo.cosine"(%79) : (tensor<1x6xf32>) -> tensor<1x6xf32>
    %81 = "stablehlo.multiply"(%78, %80) : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xf32>
    %82 = "stablehlo.add"(%81, %79) : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xf32>
    %83 = "stablehlo.slice"(%55) <{limit_indices = array<i64: 1, 6>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<4x6xf32>) -> tensor<1x6xf32>
    %84 = "stablehlo.concatenate"(%83, %82) <{dimension = 0 : i64}> : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<2x6xf32>
    %85 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %86 = "stablehlo.pad"(%84, %85) <{edge_padding_high = array<i64: 1, 0>, edge_padding_low = array<i64: 0, 0>, interior_padding = array<i64: 1, 0>}> : (tensor<2x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    %87 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %88 = "stablehlo.pad"(%77, %87) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 1, 0>, interior_padding = array<i64: 1, 0>}> : (tensor<2x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    %89 = "stablehlo.add"(%86, %88) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %90 = "stablehlo.sine"(%89) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %91 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %92 = "stablehlo.reduce"(%90, %91) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<f32>):
      %94 = "stablehlo.add"(%arg15, %arg16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%94) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %93 = "stablehlo.add"(%54, %92) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%93) : (tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x6xf32>) -> tensor<4x6xf32>, res_attrs = [{}], sym_name = "cumprod", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<4x6xf32>):
    %7 = "func.call"(%arg6) <{callee = @cumprod_0}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"(%7) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> tensor<4x6xf32>, sym_name = "cumprod_0", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<4x6xf32>):
    %4 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.reduce_window"(%arg3, %4) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [5, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 6>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %6 = "stablehlo.multiply"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%6) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    "func.return"(%5) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>) -> tensor<4x6xf32>, sym_name = "cummax", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x6xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %2 = "stablehlo.reduce_window"(%arg0, %1) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [5, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 6>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %3 = "stablehlo.maximum"(%arg1, %arg2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    "func.return"(%2) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

