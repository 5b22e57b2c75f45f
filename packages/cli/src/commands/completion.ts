import { Argument, Command } from 'commander';

const SCRIPTS: Readonly<Record<string, (words: Words) => string>> = { bash, zsh, fish };

/** `plinth completion bash|zsh|fish`, generated from the commands. */
export function completionCommand(
  allCommands: () => Promise<ReadonlyMap<string, Command>>,
): Command {
  return new Command('completion')
    .description('print a completion script')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      `
Examples:
  bash   source <(plinth completion bash)
  zsh    source <(plinth completion zsh)
  fish   plinth completion fish | source`,
    )
    .action(async (shell: string) => {
      process.stdout.write(SCRIPTS[shell]?.(wordsOf(await allCommands())) ?? '');
    });
}

/** Words that can follow a command path (`token create`); the empty path is the program itself. */
type Words = ReadonlyMap<string, readonly string[]>;
/** Words that can follow a command path (`token create`); the empty path is the program itself. */
function wordsOf(commands: ReadonlyMap<string, Command>): Words {
  const words = new Map<string, readonly string[]>([['', [...commands.keys(), 'help']]]);
  const add = (command: Command, path: string): void => {
    const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
    const options = command.options.flatMap(({ hidden, long }) => (hidden || !long ? [] : [long]));
    const below = command.commands.map((child) => child.name());
    words.set(path, [...below, ...choices, ...options]);
    for (const child of command.commands) add(child, `${path} ${child.name()}`);
  };
  for (const [name, command] of commands) add(command, name);
  return words;
}

/** Databases and tables come from the server set in the environment, if it responds. */
const LISTS = {
  '--database': 'plinth database list --format csv',
  '--table': 'plinth table list --format csv',
};

function bash(words: Words): string {
  const cases = [...words].map(([path, next]) => `    "${path}") words="${next.join(' ')}" ;;`);
  const lists = Object.entries(LISTS).map(
    ([option, list]) =>
      `    ${option}) words="$(${list} 2>/dev/null | tail -n +2 | cut -d, -f1)" ;;`,
  );
  return `_plinth() {
  local path="" words="" next i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="$path\${path:+ }\${COMP_WORDS[i]}"
    case "|${[...words.keys()].join('|')}|" in *"|$next|"*) path="$next" ;; esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
${lists.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _plinth plinth
`;
}

function zsh(words: Words): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bash(words)}`;
}

function fish(words: Words): string {
  const paths = [...words.keys()].filter((path) => path !== '').map((path) => `"${path}"`);
  const after = [...words].map(
    ([path, next]) => `complete -c plinth -n '__plinth_at "${path}"' -a "${next.join(' ')}"`,
  );
  const lists = Object.entries(LISTS).map(
    ([option, list]) =>
      `complete -c plinth -l ${option.slice(2)} -x -a "(${list} 2>/dev/null | tail -n +2 | cut -d, -f1)"`,
  );
  return `function __plinth_at
  set -l path ""
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$path $word")
    if contains -- "$next" ${paths.join(' ')}
      set path "$next"
    end
  end
  test "$path" = "$argv[1]"
end
${[...after, ...lists].join('\n')}
`;
}
