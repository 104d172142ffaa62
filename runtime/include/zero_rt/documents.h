/*===- documents.h - folders of tokenized documents ------------------*- C -*-===*\
|*                                                                            *|
|* How the folders that `python -m zero tokenize` writes become rows. The     *|
|* rules are those of zero_rt.h.                                              *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ZERO_RT_DOCUMENTS_H
#define ZERO_RT_DOCUMENTS_H

#include "zero_rt/zero_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which documents share a row. */
typedef enum zero_rt_packing {
  ZERO_RT_PACK_OFF = 0,       /* none */
  ZERO_RT_PACK_DOCUMENTS = 1, /* several whole ones, chosen so that rows are full */
  ZERO_RT_PACK_STREAM = 2     /* all, one after the other, cut where a row ends */
} zero_rt_packing;

/* Packs the folders that are bound after it; the default is off. Rows do not depend on ranks. */
zero_rt_status zero_rt_data_pack(zero_rt_data *data, zero_rt_packing packing);

typedef struct zero_rt_documents_info {
  uint64_t documents; /* 0: the data has none */
  uint64_t rows;
  uint64_t row_tokens; /* of each row */
  uint64_t tokens;     /* of documents, in all rows: the others are padding */
} zero_rt_documents_info;

/* Describes the folder that is bound, or the first one of several. */
zero_rt_status zero_rt_data_describe_documents(const zero_rt_data *data,
                                               zero_rt_documents_info *info);

/* Describes what becomes of a folder in rows of `row_tokens` tokens. */
zero_rt_status zero_rt_describe_documents(const char *folder, uint64_t row_tokens,
                                          zero_rt_packing packing, zero_rt_documents_info *info);

#ifdef __cplusplus
}
#endif

#endif /* ZERO_RT_DOCUMENTS_H */
