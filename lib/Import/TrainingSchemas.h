//===- TrainingSchemas.h - signatures of training operators -----*- C++ -*-===//

#ifndef LIB_IMPORT_TRAININGSCHEMAS_H
#define LIB_IMPORT_TRAININGSCHEMAS_H

namespace zero::importer {

/// Adds the definitions of the operators of ONNX Runtime's training graphs (Schemas.h), so that
/// nodes of them are checked and typed as those of ai.onnx. Further calls have no effect.
void registerTrainingSchemas();

} // namespace zero::importer

#endif // LIB_IMPORT_TRAININGSCHEMAS_H
