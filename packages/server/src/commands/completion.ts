import { Argument, Command } from 'commander';

const COMMANDS = [
  'serve',
  'write',
  'query',
  'database',
  'table',
  'cache',
  'export',
  'import',
  'backup',
  'restore',
  'token',
  'app',
  'event',
  'deliveries',
  'webhook',
  'status',
  'version',
  'completion',
  'help',
];
const WORDS: Readonly<Record<string, readonly string[]>> = {
  serve: ['--data-dir', '--http-bind', '--services', '--without-auth', '--log-level', '--config'],
  write: [
    '--host',
    '--database',
    '--token',
    '--precision',
    '--csv',
    '--table',
    '--tag',
    '--field',
    '--time',
    '--time-format',
    '--concurrency',
    '--no-sync',
    '--no-accept-partial',
  ],
  query: [
    '--host',
    '--database',
    '--token',
    '--language',
    '--format',
    '--file',
    '--output',
    '--param',
  ],
  database: [
    ...['list', 'create', 'update', 'delete', 'undelete'],
    ...['--retention-period', '--hard-delete', '--show-deleted', '--host', '--token'],
  ],
  table: [
    ...['list', 'create', 'update', 'delete', 'undelete', '--tags', '--fields'],
    ...['--retention-period', '--hard-delete', '--host', '--database', '--token'],
  ],
  cache: [
    ...['list', 'create', 'delete', '--kind', '--table', '--name', '--columns', '--values'],
    ...['--count', '--ttl', '--max-cardinality', '--max-age', '--host', '--database', '--token'],
  ],
  export: [...['--table', '--query', '--format', '--output', '--host', '--database', '--token']],
  import: ['--table', '--tag', '--time', '--host', '--database', '--token'],
  backup: ['--to', '--host', '--token'],
  restore: ['--from', '--data-dir'],
  token: ['create', 'regenerate', 'list', 'delete', '--host', '--token'],
  app: [
    ...['create', 'list', 'show', 'update', 'delete', 'rotate-secret', 'add-key', 'remove-key'],
    ...['ping', 'suspend', 'unsuspend', '--name', '--webhook-url', '--secret', '--events'],
    ...['--generate-secret', '--content-type', '--key-out', '--host', '--token'],
  ],
  event: ['publish', '--event', '--action', '--payload', '--app', '--id', '--host', '--token'],
  deliveries: [
    ...['list', 'show', 'redeliver', 'redrive', '--app', '--status', '--state', '--event'],
    ...['--since', '--until', '--dry-run', '--host', '--token'],
  ],
  webhook: ['listen', '--port', '--bind', '--secret', '--status', '--json'],
  status: ['--host', '--token'],
  completion: ['bash', 'zsh', 'fish'],
};

const SCRIPTS: Readonly<Record<string, () => string>> = { bash, zsh, fish };

/** `plinth completion bash|zsh|fish`. */
export function completionCommand(): Command {
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
    .action((shell: string) => {
      process.stdout.write(SCRIPTS[shell]?.() ?? '');
    });
}

function cases(): string {
  return Object.entries(WORDS)
    .map(([name, words]) => `    ${name}) words="${words.join(' ')}" ;;`)
    .join('\n');
}

function bash(): string {
  return `_plinth() {
  local words="${COMMANDS.join(' ')}"
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "\${COMP_WORDS[1]}" in
${cases()}
    *) words="" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _plinth plinth
`;
}

function zsh(): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bash()}`;
}

function fish(): string {
  const top = `complete -c plinth -n __fish_use_subcommand -f -a "${COMMANDS.join(' ')}"`;
  const rest = Object.entries(WORDS).map(
    ([name, words]) =>
      `complete -c plinth -n "__fish_seen_subcommand_from ${name}" -a "${words.join(' ')}"`,
  );
  return `${[top, ...rest].join('\n')}\n`;
}
