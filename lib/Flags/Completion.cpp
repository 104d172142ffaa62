//===- Completion.cpp - flags for the completion of shells ----------------===//

#include "zero/Flags/Flag.h"

#include <algorithm>

using namespace zero::rt;

namespace zero {

static std::string dashed(const Flag &flag) {
  return (flag.name.size() == 1 ? "-" : "--") + flag.name;
}

/// The values of a flag that has a fixed set: "fp32 bf16 fp16"; empty: files.
static std::string wordsOf(const Flag &flag) {
  std::string text;
  for (const std::string &word : flag.words())
    text += (text.empty() ? "" : " ") + word;
  return text;
}

/// The name of the function that completes a tool.
static std::string functionOf(std::string tool) {
  std::ranges::replace(tool, '-', '_');
  return "_" + tool;
}

/// Flags with values end in '='. What is no flag and no word is a file, which is bash's default.
static std::string bashOf(const std::string &tool, const Flags &flags) {
  std::string names, cases;
  for (const Flag &flag : flags) {
    names += " " + dashed(flag) + (flag.isSwitch() || flag.name.size() == 1 ? "" : "=");
    if (const std::string words = wordsOf(flag); !words.empty())
      cases += "    " + dashed(flag) + ") COMPREPLY=($(compgen -W '" + words +
               "' -- \"$word\")); return ;;\n";
  }
  return "# bash completes the options of " + tool + ": source <(" + tool +
         " --completion=bash)\n" + functionOf(tool) +
         "() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  if [[ $word == = ]]; then\n"
         "    word=\n"
         "  elif [[ $flag == = ]]; then\n"
         "    flag=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  fi\n"
         "  COMPREPLY=()\n"
         "  case $flag in\n" +
         cases +
         "  esac\n"
         "  [[ $word == -* ]] || return 0\n"
         "  COMPREPLY=($(compgen -W '" +
         names.substr(1) +
         "' -- \"$word\"))\n"
         "  [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null\n"
         "}\n"
         "complete -o default -F " +
         functionOf(tool) + " " + tool + "\n";
}

/// The first part of a help text, without what has a meaning in a specification of zsh.
static std::string summaryOf(const Flag &flag) {
  std::string text = flag.meaning();
  text.resize(std::min(text.size(), text.find_first_of(";:\n")));
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == '\'' || c == '\\'; });
  return text.empty() ? "" : "[" + text + "]";
}

static std::string zshOf(const std::string &tool, const Flags &flags) {
  const std::string name = functionOf(tool);
  std::string text = "#compdef " + tool + "\n# zsh completes the options of " + tool +
                     ": source <(" + tool + " --completion=zsh)\n" + name + "() {\n  _arguments";
  for (const Flag &flag : flags) {
    const std::string words = wordsOf(flag);
    text += " \\\n    '";
    text += flag.repeats ? "*" : "";
    text += dashed(flag) + (flag.isSwitch() || flag.name.size() == 1 ? "" : "=") + summaryOf(flag);
    if (!flag.isSwitch())
      text += ":" + flag.name + (words.empty() ? ":_files" : ":(" + words + ")");
    text += "'";
  }
  return text + " \\\n    ':model:_files'\n}\n" + "if [[ $funcstack[1] == " + name + " ]]; then " +
         name + " \"$@\"; else compdef " + name + " " + tool + "; fi\n";
}

Setter toCompletion(const std::string &tool, const Flags &flags) {
  return [tool, &flags](const std::string &shell) {
    // Of two flags with one name the first: the tool's own.
    Flags once;
    for (const Flag &flag : flags)
      if (!findFlag(once, flag.name))
        once.push_back(flag);
    std::ranges::sort(once, {}, &Flag::name);
    return toOutput([&] { return (shell == "bash" ? bashOf : zshOf)(tool, once); })("");
  };
}

} // namespace zero
