//===- capi_data.cpp - zero_rt.h: batches ---------------------------------===//

#include "runtime/api/capi.h"
#include "zero_rt/evaluation.h"
#include "zero_rt/mixing.h"

using namespace zero::rt;

zero_rt_status zero_rt_data_create(const zero_rt_executable *executable, zero_rt_data **data) {
  return guard([&]() -> Status {
    *data = new zero_rt_data{makeDataSet(executable->program->tables())};
    return {};
  });
}

void zero_rt_data_free(zero_rt_data *data) { delete data; }

zero_rt_status zero_rt_data_bind_file(zero_rt_data *data, const char *input,
                                      const zero_rt_data_file *file) {
  return guard([&] {
    return data->set->bindFile(
        input, {file->path, file->member ? file->member : "", file->raw, file->skip, file->ahead});
  });
}

zero_rt_status zero_rt_data_bind_memory(zero_rt_data *data, const char *input, zero_rt_dtype dtype,
                                        const uint64_t *shape, size_t dimensions,
                                        const void *elements) {
  return guard([&]() -> Status {
    Array array;
    ZERO_RT_TRY(viewArray("input", {input, dtype, shape, dimensions, elements}, array));
    auto memory = std::make_shared<std::vector<uint8_t>>(array.bytes.begin(), array.bytes.end());
    array.bytes = *memory;
    array.memory = std::move(memory);
    return data->set->bind(input, std::move(array));
  });
}

zero_rt_status zero_rt_data_bind_view(zero_rt_data *data, const char *input, zero_rt_dtype dtype,
                                      const uint64_t *shape, size_t dimensions,
                                      const void *elements) {
  return guard([&]() -> Status {
    Array array;
    ZERO_RT_TRY(viewArray("input", {input, dtype, shape, dimensions, elements}, array));
    return data->set->bind(input, std::move(array));
  });
}

static Status packingOf(zero_rt_packing packing, Packing &found) {
  if (packing == ZERO_RT_PACK_OFF)
    found = Packing::Off;
  else if (packing == ZERO_RT_PACK_DOCUMENTS)
    found = Packing::Documents;
  else if (packing == ZERO_RT_PACK_STREAM)
    found = Packing::Stream;
  else
    return fail(ZERO_RT_INVALID_ARGUMENT, "no packing has the number %d", int(packing));
  return {};
}

zero_rt_status zero_rt_data_pack(zero_rt_data *data, zero_rt_packing packing) {
  return guard([&]() -> Status {
    Packing chosen = Packing::Off;
    ZERO_RT_TRY(packingOf(packing, chosen));
    data->set->pack(chosen);
    return {};
  });
}

zero_rt_status zero_rt_data_shuffle(zero_rt_data *data, uint64_t seed) {
  return guard([&]() -> Status {
    data->set->shuffle(seed);
    return {};
  });
}

zero_rt_status zero_rt_data_shuffle_within(zero_rt_data *data, uint64_t seed, uint64_t window) {
  return guard([&]() -> Status {
    data->set->shuffle(seed, window);
    return {};
  });
}

zero_rt_status zero_rt_data_add_part(zero_rt_data *data, const zero_rt_data *part, double weight) {
  return guard([&] { return data->set->addPart(part->set, weight); });
}

void zero_rt_data_for_evaluations(zero_rt_data *data) { data->set->serveEvaluations(); }

zero_rt_status zero_rt_data_describe(zero_rt_data *data, zero_rt_data_info *info) {
  return guard([&]() -> Status {
    ZERO_RT_TRY(data->set->prepare());
    const SampleOrder &order = data->set->order();
    *info = {order.samples(), order.perStep(), order.stepsPerEpoch(), order.lastSamples()};
    return {};
  });
}

static zero_rt_documents_info describe(const DocumentRows &rows) {
  return {rows.documents().size(), rows.size(), rows.width(), rows.tokens()};
}

zero_rt_status zero_rt_data_describe_documents(const zero_rt_data *data,
                                               zero_rt_documents_info *info) {
  return guard([&]() -> Status {
    *info = {};
    if (const DocumentRows *rows = data->set->documents())
      *info = describe(*rows);
    return {};
  });
}

zero_rt_status zero_rt_describe_documents(const char *folder, uint64_t row_tokens,
                                          zero_rt_packing packing, zero_rt_documents_info *info) {
  return guard([&]() -> Status {
    if (row_tokens == 0)
      return fail(ZERO_RT_INVALID_ARGUMENT, "expected rows of at least 1 token, got 0");
    Packing chosen = Packing::Off;
    ZERO_RT_TRY(packingOf(packing, chosen));
    std::shared_ptr<const DocumentRows> rows;
    ZERO_RT_TRY(DocumentRows::open(folder, row_tokens, chosen, rows));
    *info = describe(*rows);
    return {};
  });
}

const char *zero_rt_data_next_warning(zero_rt_data *data) { return data->set->nextWarning(); }
