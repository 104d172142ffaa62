#include "zero/Codegen/Passes.h"
namespace zero {
#define GEN_PASS_DEF_MATCHLIBRARY
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero
namespace { struct MatchLibrary : zero::impl::MatchLibraryBase<MatchLibrary> { void runOnOperation() override {} }; }
