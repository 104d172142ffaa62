//===- CommandLine.cpp - read a command line by a table of flags ----------===//

#include "zero/Flags/Flag.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

using namespace zero::rt;

namespace zero {

ValueKind kindOf(const std::string &value) {
  return value.empty()  ? ValueKind::Switch
         : value == "N" ? ValueKind::Integer
         : value == "X" ? ValueKind::Number
                        : ValueKind::Text;
}

Status expected(const std::string &what, const std::string &got) {
  return fail(ZERO_RT_INVALID_ARGUMENT, "expected %s, got '%s'", what.c_str(), escape(got).c_str());
}

const Flag *findFlag(const Flags &flags, const std::string &name) {
  auto found = std::ranges::find(flags, name, &Flag::name);
  return found == flags.end() ? nullptr : &*found;
}

Setter toSwitch(bool &field) {
  return [&field](const std::string &) {
    field = true;
    return Status();
  };
}

Setter toSwitch(int &field) {
  return [&field](const std::string &) {
    field = 1;
    return Status();
  };
}

Setter toText(std::string &field, const char *what) {
  return [&field, what](const std::string &text) {
    field = text;
    return what && text.empty() ? expected(what, text) : Status();
  };
}

Setter toOutput(std::function<std::string()> text) {
  return [text = std::move(text)](const std::string &) {
    std::fputs(text().c_str(), stdout);
    if (std::fflush(stdout) != 0 && errno != EPIPE)
      return fail(ZERO_RT_IO, "cannot write to standard output: %s", std::strerror(errno));
    return Status();
  };
}

//===----------------------------------------------------------------------===//
// The nearest flag
//===----------------------------------------------------------------------===//

/// The characters to insert, remove or replace.
static size_t distance(const std::string &from, const std::string &to) {
  std::vector<size_t> row(to.size() + 1);
  for (size_t i = 0; i <= to.size(); ++i)
    row[i] = i;
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t replaced = diagonal + (from[i - 1] != to[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// ": did you mean '--optimizer'?" for the flag whose name is nearest to `name`, if it is near. A
/// name that ends like `name` is nearest: '--stage' is '--zero-stage'.
static std::string suggest(const std::string &name, const Flags &flags) {
  size_t least = 3;
  std::string nearest;
  for (const Flag &flag : flags) {
    const size_t away = flag.name.ends_with("-" + name) ? 0 : distance(flag.name, name);
    if (away < least || (away == least && !nearest.empty() && flag.name < nearest)) {
      least = away;
      nearest = flag.name;
    }
  }
  return nearest.empty() ? "" : ": did you mean '--" + nearest + "'?";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The flag of this name; of two, the one that takes a value if there is one.
static const Flag *find(const Flags &flags, const std::string &name, bool hasValue) {
  const Flag *found = nullptr;
  for (const Flag &flag : flags)
    if (flag.name == name &&
        (!found || (flag.isSwitch() != found->isSwitch() && flag.isSwitch() != hasValue)))
      found = &flag;
  return found;
}

static Status wrong(const std::string &message) { return {ZERO_RT_INVALID_ARGUMENT, message}; }

namespace {
class Reader {
public:
  Reader(const std::vector<std::string> &arguments, const Flags &flags, CommandLine &line,
         const char *hint)
      : arguments(arguments), flags(flags), line(line), hint(hint) {}

  Status run() {
    for (; at < arguments.size() && !line.isDone; ++at)
      if (arguments[at].starts_with("-") && arguments[at] != "-")
        ZERO_RT_TRY(readFlag());
      else if (line.model.empty())
        line.model = arguments[at];
      else
        return wrong("expected one model, got also '" + escape(arguments[at]) + "'");
    return line.isDone ? Status() : checkNeeds();
  }

private:
  Status checkNeeds() const {
    for (const Flag *flag : seen)
      if (!flag->with.empty() && !line.given.count(flag->with))
        return wrong("--" + flag->name + " has no effect without --" + flag->with);
    return {};
  }

  Status readFlag() {
    const std::string &word = arguments[at];
    const size_t begin = word.find_first_not_of('-'), equals = word.find('=');
    const bool hasValue = equals != std::string::npos;
    const std::string name = begin < equals ? word.substr(begin, equals - begin) : "";
    const Flag *flag = find(flags, name, hasValue);
    if (!flag)
      return wrong("unknown option '" + escape(word) + "'" + suggest(name, flags) + hint);
    std::string value = hasValue ? word.substr(equals + 1) : "true";
    const std::string option = (name.size() == 1 ? "option '-" : "option '--") + name + "'";
    if (hasValue && flag->isSwitch())
      return wrong(option + " takes no value, got '" + escape(value) + "'");
    if (!hasValue && !flag->isSwitch()) {
      if (at + 1 == arguments.size())
        return wrong(option + " needs a value" + (flag->value.empty() ? "" : ": ") + flag->value);
      value = arguments[++at];
    }
    if (!seen.insert(flag).second && !flag->repeats)
      return wrong(option + " is given twice");
    line.given.try_emplace(name, value);
    line.all.emplace_back(name, value);
    line.isDone = flag->isLast;
    Status set = flag->set(value);
    if (set.ok() || set.getMessage().starts_with("--"))
      return set;
    return {set.getCode(), option + ": " + set.getMessage()};
  }

  const std::vector<std::string> &arguments;
  const Flags &flags;
  CommandLine &line;
  const char *hint;
  std::set<const Flag *> seen;
  size_t at = 0;
};
} // namespace

Status readCommandLine(const std::vector<std::string> &arguments, const Flags &flags,
                       CommandLine &line, const char *hint) {
  return Reader(arguments, flags, line, hint).run();
}

} // namespace zero
