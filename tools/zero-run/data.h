//===- data.h - bind the files of --data ------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_DATA_H
#define TOOLS_ZERO_RUN_DATA_H

#include "handles.h"
#include "options.h"

namespace zero::run {

/// The flag that gives data, whether steps read it or only evaluations, and how folders are packed.
struct DataUse {
  const char *flag;
  bool trains;
  zero_rt_packing packing;
};

/// Binds `files`, given by the flag of `use`, to the inputs of a program and checks that all fit
/// together. Nothing is read but headers. Says what tokens=FILE means unless `quiet`, and prints
/// warnings if it `warns`.
rt::Status openData(const Executable &executable, const DataUse &use,
                    const std::vector<DataFile> &files, bool quiet, bool warns, Data &data);

/// The word of --pack for a packing, and the packing of one of its words.
std::string packingName(zero_rt_packing packing);
zero_rt_packing packingNamed(const std::string &word);

/// Samples, batches and epochs of data that is open; else zeros.
zero_rt_data_info infoOf(const Data &data);

/// All inputs of a program.
std::vector<zero_rt_value_info> inputsOf(const Executable &executable);

/// Whether an input is made of token ids, one sequence a row.
bool takesTokens(const zero_rt_value_info &input);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_DATA_H
