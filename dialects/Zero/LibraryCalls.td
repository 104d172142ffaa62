//===- LibraryCalls.td - attributes of kernels that are library calls -------===//
//
// Each attribute has the fields of the message of its name in runtime/format/executable.proto,
// which documents them: what converts one to the other goes through the fields by their names.
// Strides are in elements.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ZERO_LIBRARYCALLS_TD
#define DIALECTS_ZERO_LIBRARYCALLS_TD

include "dialects/Zero/ZeroInterfaces.td"

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"

def Zero_ConvolutionDirection : I32EnumAttr<"ConvolutionDirection", "what a convolution computes", [
    I32EnumAttrCase<"Forward", 0, "forward">,
    I32EnumAttrCase<"BackwardData", 1, "backward_data">,
    I32EnumAttrCase<"BackwardWeights", 2, "backward_weights">]> {
  let cppNamespace = "::zero";
  let genSpecializedAttr = 0;
}

def Zero_AttentionDirection : I32EnumAttr<"AttentionDirection", "what an attention computes", [
    I32EnumAttrCase<"Forward", 0, "forward">,
    I32EnumAttrCase<"Backward", 1, "backward">]> {
  let cppNamespace = "::zero";
  let genSpecializedAttr = 0;
}

def Zero_MaskKind : I32EnumAttr<"MaskKind", "how an operand masks the scores of attention", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Shown", 1, "shown">,
    I32EnumAttrCase<"Bias", 2, "bias">]> {
  let cppNamespace = "::zero";
  let genSpecializedAttr = 0;
}

def Zero_Flag : DefaultValuedParameter<"bool", "false">;
def Zero_CountOrNone : DefaultValuedParameter<"int64_t", "0">;

class Zero_CallAttr<string name, string mnemonic, dag fields> :
    Zero_Attr<name, mnemonic, [DeclareAttrInterfaceMethods<Zero_CallAttrInterface, ["visitFields"]>]> {
  let parameters = fields;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDefinition = "void $cppClass::visitFields(::zero::FieldVisitor visit) const {\n"
      # !interleave(!foreach(i, !range(!size(fields)),
          "  visit(\"" # !getdagname(fields, i) # "\", ::zero::fieldOf(getImpl()->"
          # !getdagname(fields, i) # "));\n"), "") # "}\n";
}

def Zero_MatmulAttr : Zero_CallAttr<"Matmul", "matmul",
    (ins "int64_t":$m, "int64_t":$n, "int64_t":$k, "::mlir::DenseI64ArrayAttr":$batch,
         "::mlir::DenseI64ArrayAttr":$a_strides, "::mlir::DenseI64ArrayAttr":$b_strides,
         "::mlir::DenseI64ArrayAttr":$c_strides, "::mlir::FloatAttr":$alpha, Zero_Flag:$bias,
         Zero_Flag:$accumulate, Zero_Flag:$residual, Zero_Flag:$reorder_b)> {
  let summary = "A matrix product: C = alpha A B, plus a bias and a residual";
  let description = [{
    A is `m` x `k`, B `k` x `n` and C `m` x `n`, for each element of `batch`. The strides
    have one number for each batch dimension and two for the matrix. The operands are A, B,
    the row `bias` if there is one, then the `residual` if there is one. With `accumulate`
    the residual is C itself, in place. With `reorder_b` the library first copies B into a
    layout that it chooses.

    ```mlir
    #zero.matmul<m = 32, n = 24, k = 16, batch = [], a_strides = [16, 1],
                 b_strides = [1, 16], c_strides = [24, 1],
                 alpha = 1.000000e+00 : f32, bias = true>
    ```
  }];
}

def Zero_ConvolutionAttr : Zero_CallAttr<"Convolution", "convolution",
    (ins "::zero::ConvolutionDirection":$direction, "int64_t":$batch, "int64_t":$groups,
         "int64_t":$in_channels, "int64_t":$out_channels, "::mlir::DenseI64ArrayAttr":$input,
         "::mlir::DenseI64ArrayAttr":$output, "::mlir::DenseI64ArrayAttr":$kernel,
         "::mlir::DenseI64ArrayAttr":$strides, "::mlir::DenseI64ArrayAttr":$dilations,
         "::mlir::DenseI64ArrayAttr":$pads_begin, "::mlir::DenseI64ArrayAttr":$pads_end,
         Zero_Flag:$bias)> {
  let summary = "A convolution, or one of its gradients";
  let description = [{
    `input`, `output`, `kernel`, `strides`, `dilations`, `pads_begin` and `pads_end` have one
    number for each spatial dimension, of which there are 1 to 3. The operands of `forward`
    are the image, the weights and the optional `bias`. The operands of `backward_data` are the
    gradient of the result and the weights, those of `backward_weights` the gradient of the
    result and the image.
  }];
  let extraClassDeclaration = [{
    /// Floating-point operations: two for each product of a weight with an element of the batch.
    int64_t countFlops() const;
  }];
}

def Zero_AttentionAttr : Zero_CallAttr<"Attention", "attention",
    (ins "::zero::AttentionDirection":$direction, "int64_t":$batch, "int64_t":$heads,
         "int64_t":$groups, "int64_t":$queries, "int64_t":$keys, "int64_t":$width,
         "int64_t":$value_width, "::mlir::DenseI64ArrayAttr":$q_strides,
         "::mlir::DenseI64ArrayAttr":$k_strides, "::mlir::DenseI64ArrayAttr":$v_strides,
         "::mlir::DenseI64ArrayAttr":$o_strides, Zero_Flag:$packed,
         "::mlir::DenseI64ArrayAttr":$offsets, "::mlir::FloatAttr":$scale, Zero_Flag:$causal,
         "int64_t":$causal_offset, "::mlir::FloatAttr":$fill, Zero_Flag:$guard,
         "::zero::MaskKind":$padding, "::mlir::DenseI64ArrayAttr":$padding_strides,
         "::zero::MaskKind":$mask, "::mlir::DenseI64ArrayAttr":$mask_strides,
         Zero_CountOrNone:$window, Zero_CountOrNone:$prefix, Zero_Flag:$segments,
         Zero_CountOrNone:$query_segment_stride, Zero_CountOrNone:$key_segment_stride)> {
  let summary = "Scaled dot-product attention, or its gradients";
  let description = [{
    `heads` heads of `queries` queries share `groups` heads of `keys` keys. The strides of q, k,
    v and o are those of batch, head and row. If `packed`, the three operands are one tensor
    in which they begin at `offsets`. If `causal`, a query attends to the keys up to its
    own index plus `causal_offset`; masked scores become `fill`. With `guard`, rows that attend
    to no key are zero. `padding` masks or biases the keys of each batch element, `mask` the
    scores; both broadcast by their strides.

    A `window` hides the keys up to the query's index plus `causal_offset` minus `window`. A
    `prefix` of keys is not hidden by `causal`. With `segments` there are two more operands of i64
    after the masks, the segment of each query and of each key; a query attends to keys of its own
    segment only. Their strides are those of batch elements, 0 if all have the same segments.
  }];
  let extraClassDeclaration = [{
    /// Floating-point operations: two for each product of elements. Forward multiplies queries by
    /// keys and weights by values. Backward recomputes the first product and needs two products
    /// for the gradients of each of the two. Keys that `causal` and `window` hide are not multiplied.
    /// What `segments` hide depends on data and counts.
    int64_t countFlops() const;
  }];
}

def Zero_LibraryAttr : Zero_Attr<"Library", "library"> {
  let summary = "A kernel that is one library call";
  let description = [{
    `call` is `#zero.matmul`, `#zero.convolution` or `#zero.attention`. `stored` has the element
    type of each operand, then of each result that is not in place. Without it all floats are
    f32.

    `operands` is the type in which elements are multiplied. Sums are f32. Without it that type is
    f32 as well, and the library converts other types when it reads and writes. With bf16, and on
    GPUs f16, it multiplies elements as they are stored, and rounds a result once. Then both factors
    of a product, or all of an attention, must have that type.

    ```mlir
    #zero.library<#zero.convolution<...>, stored = [f32, bf16, bf16]>
    #zero.library<#zero.matmul<...>, stored = [bf16, bf16, f32], operands = bf16>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$call, OptionalParameter<"::mlir::ArrayAttr">:$stored,
                        OptionalParameter<"::mlir::Type">:$operands);
  let assemblyFormat = [{
    `<` $call (`,` `stored` `=` $stored^)? (`,` `operands` `=` $operands^)? `>`
  }];
  let genVerifyDecl = 1;
}

def Zero_CpuAttr : Zero_Attr<"Cpu", "cpu"> {
  let summary = "A processor that kernels are compiled for";
  let description = [{
    `level` is a level of the x86-64 psABI, or aarch64. `features` are further features of kernels,
    as names of LLVM separated by spaces. All processors that have both run the same code.

    ```mlir
    #zero.cpu<level = "x86-64-v4", features = "avx512bf16">
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$level,
                        OptionalParameter<"::mlir::StringAttr">:$features);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Whether the processor multiplies bf16.
    bool multipliesBFloats() const;
  }];
}

#endif // DIALECTS_ZERO_LIBRARYCALLS_TD
