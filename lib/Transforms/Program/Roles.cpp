//===- Roles.cpp - what the arguments and results of a program are --------===//
//
// Sources of names and roles, from the most explicit one: the file of --roles, attributes of
// Zero (zero.role, zero.gradient_of), attributes of JAX (tf.aliasing_output, jax.buffer_donor,
// jax.result_info), pairs of --carry, locations, and the order of a joint graph's results.
//
//===----------------------------------------------------------------------===//

#include "Roles.h"
#include "RolesFile.h"

#include "dialects/Zero/Findings.h"
#include "zero/Options/Carry.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace zero {

/// JAX: the result whose buffer an argument shares, and an argument whose buffer may be shared.
static constexpr StringLiteral kAliasAttr = "tf.aliasing_output", kDonorAttr = "jax.buffer_donor";
/// JAX: the path of a result in the tree that the function returns.
static constexpr StringLiteral kResultInfoAttr = "jax.result_info";

/// The name in `loc`, if it has one.
static StringRef nameIn(Location loc) {
  if (auto named = dyn_cast<NameLoc>(loc))
    return named.getName();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef name = nameIn(part); !name.empty())
        return name;
  return "";
}

Location locationOfFile(func::FuncOp program) {
  MLIRContext *context = program.getContext();
  if (auto line = program.getLoc()->findInstanceOf<FileLineColLoc>())
    return FileLineColLoc::get(context, line.getFilename().getValue(), 0, 0);
  return UnknownLoc::get(context);
}

namespace {
class RoleFinder {
public:
  RoleFinder(func::FuncOp program, const BindArgumentsOptions &options)
      : program(program), options(options) {}

  FailureOr<ProgramRoles> run();

private:
  LogicalResult readFile();
  LogicalResult checkIsUtf8(StringRef what, unsigned index, StringRef name);
  LogicalResult nameAll();
  std::string nameOf(unsigned argument);
  LogicalResult tieArguments();
  LogicalResult readRoleAttributes();
  LogicalResult pair(unsigned argument, unsigned result, ArgumentRole role, const Twine &source);
  LogicalResult pairAliases();
  LogicalResult pairDonors();
  LogicalResult pairCarried();
  LogicalResult pairListedGradients();
  LogicalResult chooseLoss();
  LogicalResult pairGradientsByOrder();
  LogicalResult checkSomethingTrains();
  void completeRoles();

  std::optional<unsigned> findArgument(StringRef name, unsigned from = 0) const;
  std::optional<unsigned> findResult(StringRef name) const;
  Type argumentType(unsigned index) { return program.getArgumentTypes()[index]; }
  Type resultType(unsigned index) { return program.getResultTypes()[index]; }
  bool isScalarFloat(unsigned result);
  /// Errors about flags and signatures are about no line of the program, whose first may be long.
  InFlightDiagnostic fail() { return emitError(locationOfFile(program)); }

  func::FuncOp program;
  const BindArgumentsOptions &options;
  RolesFile file;
  ProgramRoles roles;
};
} // namespace

LogicalResult RoleFinder::readFile() {
  if (options.roles.empty())
    return success();
  llvm::Expected<RolesFile> read = RolesFile::read(options.roles);
  if (!read)
    return fail() << "--roles: " << llvm::toString(read.takeError());
  file = std::move(*read);
  if (file.arguments.size() != program.getNumArguments())
    return fail() << "--roles: expected an entry for each of the program's "
                  << program.getNumArguments() << " arguments, got " << file.arguments.size();
  if (!file.results.empty() && file.results.size() != program.getNumResults())
    return fail() << "--roles: expected an output for each of the program's "
                  << program.getNumResults() << " results, got " << file.results.size();
  for (auto [index, listed] : llvm::enumerate(file.arguments)) {
    auto type = dyn_cast<RankedTensorType>(argumentType(index));
    if (listed.shape && type && type.getShape() != ArrayRef<int64_t>(*listed.shape))
      return fail() << "--roles: argument " << index << " ('" << listed.name
                    << "'): expected the shape of the program's " << type << ", got ["
                    << llvm::join(llvm::map_range(*listed.shape,
                                                  [](int64_t dim) { return std::to_string(dim); }),
                                  ", ")
                    << "]";
  }
  return success();
}

/// The name of argument `index` by the most explicit source that has one.
std::string RoleFinder::nameOf(unsigned index) {
  if (!file.arguments.empty()) {
    const ListedArgument &listed = file.arguments[index];
    return listed.target.empty() ? listed.name : listed.target;
  }
  if (auto attr = program.getArgAttrOfType<StringAttr>(index, kNameAttr))
    return attr.str();
  StringRef found = nameIn(program.getArgument(index).getLoc());
  return found.empty() ? "arg" + std::to_string(index) : found.str();
}

/// Names go on into messages, reports and the executable, which is a Protobuf message.
LogicalResult RoleFinder::checkIsUtf8(StringRef what, unsigned index, StringRef name) {
  if (llvm::json::isUTF8(name))
    return success();
  return fail() << what << " " << index << ": expected a name of UTF-8, got '"
                << llvm::json::fixUTF8(name) << "'";
}

/// Gives each argument a name that no other has, unless both have one target in the file: they are
/// one tensor then. Results get names that need not be distinct.
LogicalResult RoleFinder::nameAll() {
  llvm::StringMap<unsigned> taken;
  for (unsigned index = 0; index < program.getNumArguments(); ++index) {
    std::string name = nameOf(index);
    auto [first, isNew] = taken.try_emplace(name, index);
    bool isTied = !isNew && !file.arguments.empty() && !file.arguments[index].target.empty();
    if (name.empty() || (!isNew && !isTied))
      return fail() << "argument " << index << ": expected a name of its own, got '" << name << "'";
    if (failed(checkIsUtf8("argument", index, name)))
      return failure();
    roles.arguments.push_back({name, std::nullopt, std::nullopt, std::nullopt});
    if (isTied)
      roles.arguments.back().tiedTo = first->second;
  }
  for (unsigned index = 0; index < program.getNumResults(); ++index) {
    std::string name = "result" + std::to_string(index);
    if (!file.results.empty())
      name = file.results[index];
    else if (auto attr = program.getResultAttrOfType<StringAttr>(index, kNameAttr))
      name = attr.str();
    else if (auto info = program.getResultAttrOfType<StringAttr>(index, kResultInfoAttr);
             info && !info.empty())
      name = info.str();
    if (failed(checkIsUtf8("result", index, name)))
      return failure();
    roles.results.push_back({name, std::nullopt});
  }
  return success();
}

/// Ties the arguments that --tie pairs, and checks all that are tied.
LogicalResult RoleFinder::tieArguments() {
  for (StringRef pair : options.tie) {
    auto [later, earlier] = pair.split('=');
    std::optional<unsigned> a = findArgument(later.trim()), b = findArgument(earlier.trim());
    if (!a || !b || a == b)
      return fail() << "--tie: expected two arguments A=B of the program, got '" << pair << "'";
    roles.arguments[std::max(*a, *b)].tiedTo = std::min(*a, *b);
  }
  for (auto [index, argument] : llvm::enumerate(roles.arguments)) {
    if (!argument.tiedTo)
      continue;
    while (auto before = roles.arguments[*argument.tiedTo].tiedTo)
      argument.tiedTo = before;
    ProgramArgument &first = roles.arguments[*argument.tiedTo];
    if (argumentType(index) != argumentType(*argument.tiedTo))
      return fail() << "'" << argument.name << "' and '" << first.name
                    << "' are one tensor: expected one type, got " << argumentType(index) << " and "
                    << argumentType(*argument.tiedTo);
    if (first.role == ArgumentRole::Carried || argument.role == ArgumentRole::Carried)
      return fail() << "'" << argument.name << "' and '" << first.name
                    << "' are one tensor: expected no next value of either; a whole step has one "
                       "argument for it";
    if (argument.role == ArgumentRole::Parameter)
      first.role = ArgumentRole::Parameter;
    argument.role = first.role;
  }
  return success();
}

/// The first argument `name` that is not before argument `from`.
std::optional<unsigned> RoleFinder::findArgument(StringRef name, unsigned from) const {
  for (unsigned index = from; index < roles.arguments.size(); ++index)
    if (roles.arguments[index].name == name)
      return index;
  return std::nullopt;
}

std::optional<unsigned> RoleFinder::findResult(StringRef name) const {
  auto found = llvm::find_if(roles.results, [&](auto &entry) { return entry.name == name; });
  if (found == roles.results.end())
    return std::nullopt;
  return found - roles.results.begin();
}

bool RoleFinder::isScalarFloat(unsigned result) {
  auto type = dyn_cast<RankedTensorType>(resultType(result));
  return type && type.getNumElements() == 1 && isa<FloatType>(type.getElementType());
}

/// Makes `result` the next value or the gradient of `argument`.
LogicalResult RoleFinder::pair(unsigned argument, unsigned result, ArgumentRole role,
                               const Twine &source) {
  ProgramArgument &state = roles.arguments[argument];
  ProgramResult &value = roles.results[result];
  if (state.result == result && state.role == role)
    return success();
  if (argumentType(argument) != resultType(result))
    return fail() << source << ": expected '" << state.name << "' and '" << value.name
                  << "' to have one type, got " << argumentType(argument) << " and "
                  << resultType(result);
  if (state.result || value.argument)
    return fail() << source << ": '" << (state.result ? state.name : value.name)
                  << "' has a partner already: '"
                  << (state.result ? roles.results[*state.result].name
                                   : roles.arguments[*value.argument].name)
                  << "'";
  state.role = role;
  state.result = result;
  value.argument = argument;
  return success();
}

/// `zero.role` of arguments and results, `zero.gradient_of` of results.
LogicalResult RoleFinder::readRoleAttributes() {
  for (unsigned index = 0; index < program.getNumArguments(); ++index) {
    auto attr = program.getArgAttrOfType<StringAttr>(index, kRoleAttr);
    StringRef role = attr ? attr.getValue() : "";
    if (!file.arguments.empty() && !file.arguments[index].role.empty())
      role = file.arguments[index].role;
    if (role.empty())
      continue;
    auto known = llvm::StringSwitch<std::optional<ArgumentRole>>(role)
                     .Case("parameter", ArgumentRole::Parameter)
                     .Case("buffer", ArgumentRole::Buffer)
                     .Case("data", ArgumentRole::Data)
                     .Default(std::nullopt);
    if (!known)
      return fail() << "argument " << index << ": expected " << kRoleAttr
                    << " = \"parameter\", \"buffer\" or \"data\", got \"" << role << "\"";
    roles.arguments[index].role = known;
  }
  for (unsigned index = 0; index < program.getNumResults(); ++index) {
    if (auto role = program.getResultAttrOfType<StringAttr>(index, kRoleAttr)) {
      if (role != "loss")
        return fail() << "result " << index << ": expected " << kRoleAttr << " = \"loss\", got "
                      << role;
      roles.loss = index;
    }
    auto of = program.getResultAttrOfType<StringAttr>(index, kGradientOfAttr);
    if (!of)
      continue;
    std::optional<unsigned> argument = findArgument(of);
    if (!argument)
      return fail() << "result " << index << ": the program has no argument " << of;
    if (failed(pair(*argument, index, ArgumentRole::Parameter, kGradientOfAttr)))
      return failure();
  }
  return success();
}

LogicalResult RoleFinder::pairAliases() {
  for (unsigned index = 0; index < program.getNumArguments(); ++index) {
    auto alias = program.getArgAttrOfType<IntegerAttr>(index, kAliasAttr);
    if (!alias)
      continue;
    if (alias.getInt() < 0 || alias.getInt() >= program.getNumResults())
      return fail() << "argument " << index << ": expected " << kAliasAttr
                    << " to be the number of a result, got " << alias.getInt();
    if (failed(pair(index, alias.getInt(), ArgumentRole::Carried, kAliasAttr)))
      return failure();
  }
  return success();
}

/// A donor is paired with the first result of its type that no other argument has.
LogicalResult RoleFinder::pairDonors() {
  for (unsigned index = 0; index < program.getNumArguments(); ++index) {
    auto donor = program.getArgAttrOfType<BoolAttr>(index, kDonorAttr);
    if (!donor || !donor.getValue() || roles.arguments[index].result)
      continue;
    auto results = llvm::seq<unsigned>(program.getNumResults());
    auto found = llvm::find_if(results, [&](unsigned result) {
      return !roles.results[result].argument && resultType(result) == argumentType(index);
    });
    if (found == results.end())
      continue; // JAX donates what it does not need, too.
    remark::passed(program.getLoc(), remark::RemarkOpts::name("donor").category("import"))
        << "'" + roles.arguments[index].name + "' is donated: its next value is '" +
               roles.results[*found].name + "', the first result of its type";
    if (failed(pair(index, *found, ArgumentRole::Carried, kDonorAttr)))
      return failure();
  }
  return success();
}

LogicalResult RoleFinder::pairCarried() {
  if (options.carry.empty())
    return success();
  std::vector<CarriedPair> pairs;
  if (std::string error = parseCarry(llvm::join(options.carry, ","), pairs); !error.empty())
    return fail() << "--carry: " << error;
  auto nameOf = [](const auto &entry) { return StringRef(entry.name); };
  SmallVector<StringRef> inputs(llvm::map_range(roles.arguments, nameOf));
  SmallVector<StringRef> outputs(llvm::map_range(roles.results, nameOf));
  CarriedNames names = matchCarried(pairs, inputs, outputs);
  if (!names.problems.empty()) {
    InFlightDiagnostic error =
        fail() << "--carry: expected pairs of an argument and a result of the program";
    std::vector<Finding> findings;
    for (std::string &problem : names.problems)
      findings.push_back({std::move(problem)});
    attachFindings(error, {}, findings, options.verbose);
    return error;
  }
  for (auto [input, output] : names.outputOf)
    if (failed(pair(*findArgument(input), *findResult(output), ArgumentRole::Carried, "--carry")))
      return failure();
  return success();
}

LogicalResult RoleFinder::pairListedGradients() {
  for (auto &[name, target] : file.gradientOf) {
    std::optional<unsigned> result = findResult(name), argument = findArgument(target);
    // Of tensors with one target, the first whose gradient is not known yet.
    while (argument && roles.arguments[*argument].result &&
           roles.arguments[*argument].result != result)
      argument = findArgument(target, *argument + 1);
    if (!result || !argument)
      return fail() << "--roles: grad_of: the program has no "
                    << (result ? "argument '" + target : "result '" + name.str()) << "'";
    if (failed(pair(*argument, *result, ArgumentRole::Parameter, "--roles")))
      return failure();
  }
  return success();
}

LogicalResult RoleFinder::chooseLoss() {
  std::string wanted = options.loss.empty() ? file.loss : options.loss;
  if (!wanted.empty()) {
    roles.loss = findResult(wanted);
    if (!roles.loss || !isScalarFloat(*roles.loss))
      return fail() << "loss '" << wanted << "': expected a result of one float, got "
                    << (roles.loss ? "another type" : "none of this name");
    return success();
  }
  if (roles.loss)
    return success();
  SmallVector<StringRef> candidates;
  for (auto [index, result] : llvm::enumerate(roles.results))
    if (!result.argument && isScalarFloat(index)) {
      candidates.push_back(result.name);
      roles.loss = index;
    }
  if (candidates.size() == 1)
    return success();
  InFlightDiagnostic error =
      fail() << (candidates.empty() ? "the program has no loss: expected a result of one "
                                      "float that is not state"
                                    : "the program has several results of one float: " +
                                          listNames(candidates, options.verbose));
  if (!candidates.empty())
    error.attachNote() << "choose one with --loss NAME";
  return error;
}

/// A joint graph returns the loss and the gradients of its first arguments, in their order.
LogicalResult RoleFinder::pairGradientsByOrder() {
  if (roles.has(ArgumentRole::Carried) || !file.gradientOf.empty() ||
      llvm::any_of(roles.arguments, [](auto &entry) { return entry.role.has_value(); }))
    return success();
  SmallVector<unsigned> rest;
  for (unsigned result = 0; result < program.getNumResults(); ++result)
    if (result != roles.loss)
      rest.push_back(result);
  for (auto [argument, result] : llvm::enumerate(rest))
    if (argument >= program.getNumArguments() || argumentType(argument) != resultType(result))
      return success();
  for (auto [argument, result] : llvm::enumerate(rest))
    if (failed(pair(argument, result, ArgumentRole::Parameter, "joint graph")))
      return failure();
  if (!rest.empty())
    remark::passed(program.getLoc(), remark::RemarkOpts::name("joint").category("import"))
        << "the results beside the loss are taken as the gradients of the first " +
               std::to_string(rest.size()) + " arguments, whose types they have in order";
  return success();
}

/// What is not state is data; a tensor of the module that is not trained is a buffer.
void RoleFinder::completeRoles() {
  for (auto [index, argument] : llvm::enumerate(roles.arguments)) {
    if (argument.role)
      continue;
    bool isModules = !file.arguments.empty() && !file.arguments[index].target.empty();
    argument.role = isModules ? ArgumentRole::Buffer : ArgumentRole::Data;
  }
}

LogicalResult RoleFinder::checkSomethingTrains() {
  bool trains = roles.has(ArgumentRole::Carried) || roles.has(ArgumentRole::Parameter);
  if (trains || options.forwardOnly)
    return success();
  InFlightDiagnostic error =
      fail() << "nothing to train: the program does not say which arguments are state";
  attachFindings(error,
                 {"a whole step: donate its state (jax.jit with donate_argnums), or pair arguments "
                  "and results with --carry=IN=OUT,...",
                  "a joint graph: name the gradients with --roles=FILE, or with zero.gradient_of "
                  "on results",
                  "forward and loss: mark parameters with zero.role = \"parameter\", or in "
                  "--roles=FILE"},
                 {}, options.verbose);
  return error;
}

FailureOr<ProgramRoles> RoleFinder::run() {
  if (failed(readFile()) || failed(nameAll()) || failed(readRoleAttributes()) ||
      failed(pairAliases()) || failed(pairDonors()) || failed(pairCarried()) ||
      failed(pairListedGradients()))
    return failure();
  if (!options.forwardOnly && (failed(chooseLoss()) || failed(pairGradientsByOrder())))
    return failure();
  completeRoles();
  if (failed(tieArguments()) || failed(checkSomethingTrains()))
    return failure();
  return std::move(roles);
}

FailureOr<ProgramRoles> findRoles(func::FuncOp program, const BindArgumentsOptions &options) {
  return RoleFinder(program, options).run();
}

} // namespace zero
