import type { Command, Option } from 'commander';
import { COMMANDS } from './all-commands.js';
import { describeSpellings } from './influxdb3/verb-command.js';

/** Of most commands, and said once. */
const COMMON = new Set(['--host', '--token', '--tls-ca', '--database', '--help']);
const HEAD = '| Option | Meaning | Default |\n|---|---|---|';

/** `docs/COMMANDS.md`: every command with its options, made from the commands themselves. */
export async function describeCommands(): Promise<string> {
  const loaded = await Promise.all(Object.values(COMMANDS).map(({ load }) => load()));
  const sections = loaded.map((command) => {
    const leaves = leavesOf(command, `plinth ${command.name()}`);
    const about = `## ${command.name()}\n\n${sentence(command.description())}\n`;
    if (command.name() === 'serve') return `${about}\n${SERVE}\n`;
    const told = leaves.map(({ path, leaf }) => describeLeaf(path, leaf));
    const title = command.commands.length === 0 ? `## ${command.name()}\n` : about;
    return [title, ...told].join('\n');
  });
  return `${INTRODUCTION}\n${sections.join('\n')}\n${VERBS_OF_INFLUXDB3}\n${describeSpellings()}`;
}

const INTRODUCTION = `# Commands

Made from the commands themselves by \`node scripts/commands.mjs\`; do not edit.

Each says more with \`--help\`, with examples. All but \`serve\`, \`completion\` and those that need no server take \`--host\`
(\`PLINTH_HOST_URL\`, \`http://127.0.0.1:8181\` without it) \`--token\` (\`PLINTH_AUTH_TOKEN\` or \`PLINTH_TOKEN\`) and \`--tls-ca\`
(\`PLINTH_TLS_CA\`: a file with the certificate to believe); those of a database take \`--database\` (\`PLINTH_DATABASE_NAME\`). The
same variables with \`INFLUXDB3_\` are understood.

What shows something prints JSON with \`--format json\`: all that the server tells, a list as an array. Apps, platforms and accounts
are said by their ids, or by a name that no other has.

Exit codes: 0 done, 1 failed or done in part, 2 wrong usage, 3 server not reachable, 4 not authenticated.
`;

const VERBS_OF_INFLUXDB3 = `## Verbs of influxdb3

What \`influxdb3\` is told is understood, with its options; \`serve\`, \`query\` and \`write\` have the same name. \`-f\` of \`query\` is
\`--format\`; say \`--file\`. \`--tls-no-verify\` has no counterpart: say whom to believe with \`--tls-ca\`.
`;

const SERVE =
  'Every setting is a flag: [SETTINGS.md](SETTINGS.md). SIGTERM and Ctrl-C let running requests end; a second one does not wait. `--config FILE` reads settings from a JSON file; `--check` checks all settings, prints them and exits.';

interface Leaf {
  readonly path: string;
  readonly leaf: Command;
}

/** Commands that do something, below one. */
function leavesOf(command: Command, path: string): readonly Leaf[] {
  const below = command.commands.flatMap((child) => leavesOf(child, `${path} ${child.name()}`));
  return below.length > 0 ? below : [{ path, leaf: command }];
}

function describeLeaf(path: string, leaf: Command): string {
  const inputs = leaf.registeredArguments.map((one) => {
    const name = one.variadic ? `${one.name()}...` : one.name();
    return one.required ? ` <${name}>` : ` [${name}]`;
  });
  const options = leaf.options.filter(({ long, hidden }) => !hidden && !COMMON.has(long ?? ''));
  const table = options.length === 0 ? [] : [`${HEAD}\n${options.map(row).join('\n')}\n`];
  return [
    `### ${path}${inputs.join('')}\n`.replaceAll('<', '\\<'),
    `${sentence(leaf.description())}\n`,
    ...table,
  ].join('\n');
}

function row({ flags, description, argChoices, defaultValue }: Option): string {
  const choices = argChoices === undefined ? '' : argChoices.map((one) => `\`${one}\``).join(', ');
  const meaning = [description, choices].filter(Boolean).join(': ').replaceAll('<', '\\<');
  const isSaid = /^(?:string|number)$/.test(typeof defaultValue);
  const cells = [`\`${flags}\``, meaning, isSaid ? `\`${defaultValue}\`` : ''];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
