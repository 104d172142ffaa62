//===- data.cpp - zero._native: batches -----------------------------------===//

#include "native.h"
#include "zero_rt/documents.h"
#include "zero_rt/evaluation.h"
#include "zero_rt/mixing.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace zero::python {

/// The type of elements that DLPack describes; ZERO_RT_NO_DTYPE if the runtime has none.
static zero_rt_dtype dtypeOf(nb::dlpack::dtype dtype) {
  using Code = nb::dlpack::dtype_code;
  static const std::map<std::pair<int, int>, zero_rt_dtype> known = {
      {{int(Code::Float), 32}, ZERO_RT_F32}, {{int(Code::Float), 64}, ZERO_RT_F64},
      {{int(Code::Float), 16}, ZERO_RT_F16}, {{int(Code::Bfloat), 16}, ZERO_RT_BF16},
      {{int(Code::Bool), 8}, ZERO_RT_BOOL},  {{int(Code::Int), 8}, ZERO_RT_I8},
      {{int(Code::Int), 16}, ZERO_RT_I16},   {{int(Code::Int), 32}, ZERO_RT_I32},
      {{int(Code::Int), 64}, ZERO_RT_I64},   {{int(Code::UInt), 8}, ZERO_RT_U8},
      {{int(Code::UInt), 16}, ZERO_RT_U16},  {{int(Code::UInt), 32}, ZERO_RT_U32},
      {{int(Code::UInt), 64}, ZERO_RT_U64}};
  auto found = known.find({int(dtype.code), int(dtype.bits)});
  return found == known.end() || dtype.lanes != 1 ? ZERO_RT_NO_DTYPE : found->second;
}

TypedArray::TypedArray(Array given, int type)
    : array(std::move(given)),
      dtype(type == ZERO_RT_NO_DTYPE ? dtypeOf(array.dtype()) : zero_rt_dtype(type)) {
  if (dtype == ZERO_RT_NO_DTYPE || zero_rt_dtype_size(dtype) != array.itemsize())
    throw StatusError(ZERO_RT_BAD_DATA, "the runtime has no elements of this type");
  for (size_t i = 0; i < array.ndim(); ++i)
    shape.push_back(array.shape(i));
}

Data::Data(std::shared_ptr<Executable> of) : executable(std::move(of)) {
  check(zero_rt_data_create(executable->handle, &handle));
}

void Data::bind(const std::string &input, Array array, int dtype) {
  const TypedArray typed(std::move(array), dtype);
  withoutGil(mutex, [&] {
    check(zero_rt_data_bind_view(handle, textOf(input), typed.dtype, typed.shape.data(),
                                 typed.shape.size(), typed.array.data()));
  });
  arrays[input] = typed.array;
}

void Data::bindFile(const std::string &input, const std::string &path, const std::string &member,
                    int raw, uint64_t skip, uint64_t ahead) {
  const zero_rt_data_file file{textOf(path), member.empty() ? nullptr : textOf(member),
                               zero_rt_dtype(raw), skip, ahead};
  withoutGil(mutex, [&] { check(zero_rt_data_bind_file(handle, textOf(input), &file)); });
  arrays.erase(input);
}

nb::tuple Data::describe() {
  zero_rt_data_info info;
  withoutGil(mutex, [&] { check(zero_rt_data_describe(handle, &info)); });
  return nb::make_tuple(info.samples, info.samples_per_step, info.steps_per_epoch);
}

nb::list Data::warnings() {
  nb::list result;
  while (true) {
    const char *warning = nullptr;
    withoutGil(mutex, [&] { warning = zero_rt_data_next_warning(handle); });
    if (!warning)
      return result;
    result.append(warning);
  }
}

static nb::tuple describeDocuments(const std::string &folder, uint64_t rowTokens, int packing) {
  zero_rt_documents_info info;
  {
    Call call;
    nb::gil_scoped_release release;
    check(zero_rt_describe_documents(textOf(folder), rowTokens,
                                     static_cast<zero_rt_packing>(packing), &info));
  }
  return nb::make_tuple(info.documents, info.rows, info.tokens);
}

void bindData(nb::module_ &module) {
  module.def("describe_documents", &describeDocuments, nb::arg("folder"), nb::arg("row_tokens"),
             nb::arg("packing"), "Documents, rows, and tokens of documents in these rows.");
  nb::class_<Data>(module, "Data", "Data of all inputs of a program: Data(executable).")
      .def(nb::init<std::shared_ptr<Executable>>(), nb::arg("executable"))
      .def("bind", &Data::bind, nb::arg("input"), nb::arg("array"), nb::arg("dtype") = 0,
           "Binds an array, whose first dimension are samples. Row-major arrays are not copied.")
      .def("bind_file", &Data::bindFile, nb::arg("input"), nb::arg("path"), nb::arg("member") = "",
           nb::arg("raw") = 0, nb::arg("skip") = 0, nb::arg("ahead") = 0,
           "Maps a .npy, a member of a .npz, or a file of elements of type `raw`.")
      .def(
          "shuffle",
          [](Data &data, uint64_t seed) {
            withoutGil(data.mutex, [&] { check(zero_rt_data_shuffle(data.handle, seed)); });
          },
          nb::arg("seed"), "Gives each epoch its own order.")
      .def(
          "shuffle_within",
          [](Data &data, uint64_t seed, uint64_t window) {
            withoutGil(data.mutex,
                       [&] { check(zero_rt_data_shuffle_within(data.handle, seed, window)); });
          },
          nb::arg("seed"), nb::arg("window"), "The same within windows of samples.")
      .def(
          "add_part",
          [](Data &data, const Data &part, double weight) {
            withoutGil(data.mutex,
                       [&] { check(zero_rt_data_add_part(data.handle, part.handle, weight)); });
          },
          nb::arg("part"), nb::arg("weight"), nb::keep_alive<1, 2>(),
          "Adds samples behind those of earlier parts, or with a weight mixed with them.")
      .def(
          "pack",
          [](Data &data, int packing) {
            const auto chosen = static_cast<zero_rt_packing>(packing);
            withoutGil(data.mutex, [&] { check(zero_rt_data_pack(data.handle, chosen)); });
          },
          nb::arg("packing"), "Packs the folders that are bound after it: a number of PACKINGS.")
      .def(
          "for_evaluations", [](Data &data) { zero_rt_data_for_evaluations(data.handle); },
          "Only evaluations read the data.")
      .def("describe", &Data::describe, "Samples, samples of a step, steps of an epoch.")
      .def("warnings", &Data::warnings, "Warnings about the data that were not returned before.");
}

} // namespace zero::python
