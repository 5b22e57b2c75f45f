import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command } from 'commander';
import { inherit } from '../inherit.js';
import { SPELLINGS, type Spelling, WITHOUT } from './verbs.js';

type Loaders = () => Readonly<Record<string, { load(): Promise<Command> }>>;

/** Creates the command for a verb of `influxdb3`, such as `create`, with its nouns. */
export function verbCommand(verb: string, commands: Loaders): Command {
  const nouns = Object.entries(SPELLINGS[verb] ?? {});
  const direct = nouns.find(([noun]) => noun === '')?.[1];
  if (direct !== undefined) return spelled(new Command(verb), direct, commands);
  const command = new Command(verb).description(`influxdb3-compatible form of ${verb} commands`);
  for (const [noun, spelling] of nouns)
    command.addCommand(spelled(new Command(noun), spelling, commands));
  return command;
}

/** Accepts all arguments, including `--help`, and passes them to the equivalent plinth command. */
function spelled(command: Command, spelling: Spelling, commands: Loaders): Command {
  const about = 'no' in spelling ? spelling.no : `the same as \`${nameOf(spelling)}\``;
  command.description(about).allowUnknownOption().helpOption(false).argument('[words...]');
  // `--help` must show the help of the target command, so none is inherited.
  command.copyInheritedSettings = () => command;
  return command.action(async (words: readonly string[]) => {
    const path = pathOf(command);
    if ('no' in spelling) {
      throw new CommandFailed(`${path} has no equivalent: ${spelling.no}`, EXIT.usage);
    }
    const root = new Command('plinth');
    const [name = ''] = spelling.means;
    const target = (await commands()[name]?.load()) ?? root;
    target.addHelpText('after', () => renamed(path, spelling));
    for (const below of target.commands) {
      below.addHelpText('after', () => renamed(path, spelling));
    }
    root.addCommand(inherit(target, root.exitOverride()));
    await root.parseAsync([...spelling.means, ...translate(path, spelling, words)], {
      from: 'user',
    });
  });
}

type Alias = Exclude<Spelling, { readonly no: string }>;

/** Translates `influxdb3` arguments to arguments of the plinth command. Throws for an option without an equivalent. */
function translate(path: string, alias: Alias, words: readonly string[]): readonly string[] {
  const { options = {}, without = {}, values = {}, argument, needs } = alias;
  const refused = { ...WITHOUT, ...without };
  const out: string[] = [];
  let isValue = false; // The word is the value of an option. Only used for rows with `argument`, whose options all require a value.
  const inOurs = (text: string): string =>
    Object.hasOwn(values, text) ? (values[text] ?? '') : text;
  for (const word of words) {
    const [, option = '', given] = /^(--?[a-z][\w-]*)(?:=(.*))?$/is.exec(word) ?? [];
    const value = given === undefined ? undefined : inOurs(given);
    const why = Object.hasOwn(refused, option) ? refused[option] : undefined;
    if (why !== undefined) {
      throw new CommandFailed(`${path} ${option} has no equivalent: ${why}`, EXIT.usage);
    }
    if (option === '') {
      if (argument !== undefined && !isValue) out.push(argument);
      out.push(inOurs(word));
      isValue = false;
      continue;
    }
    const ours = option === '--help-all' ? '--help' : (options[option] ?? option);
    if (value !== undefined) out.push(...(ours === '' ? [value] : [`${ours}=${value}`]));
    else if (ours !== '') out.push(ours);
    isValue = value === undefined;
  }
  const isHelp = out.some((word) => word === '--help' || word === '-h');
  const isNeeded = (name: string): boolean => out.some((word) => word.split('=')[0] === name);
  if (!isHelp && needs !== undefined && !needs.some(isNeeded)) {
    throw new CommandFailed(`${path} requires ${needs.join(' or ')}`, EXIT.usage);
  }
  return out;
}

const nameOf = ({ means }: Alias): string =>
  `plinth ${means.map((word) => (word.includes(' ') ? `'${word}'` : word)).join(' ')}`;

function pathOf(command: Command): string {
  const above = command.parent;
  return above === null ? command.name() : `${pathOf(above)} ${command.name()}`;
}

/** Lists the options whose names differ from the help above. */
function renamed(path: string, { options = {} }: Alias): string {
  const rows = Object.entries(options).map(
    ([theirs, ours]) => `  ${theirs} is ${ours || 'the positional argument'}`,
  );
  return rows.length === 0 ? '' : `\nOptions with a different name in ${path}:\n${rows.join('\n')}`;
}

/** Returns the table of `influxdb3` commands for `docs/COMMANDS.md`. */
export function describeSpellings(): string {
  const rows = Object.entries(SPELLINGS).flatMap(([verb, nouns]) =>
    Object.entries(nouns).map(([noun, spelling]) => {
      const theirs = `\`${`${verb} ${noun}`.trim()}\``;
      if ('no' in spelling) return `| ${theirs} | none: ${escaped(spelling.no)} |  |`;
      const { options = {}, argument } = spelling;
      const names = [
        ...Object.entries(options).map(
          ([from, to]) => `\`${from}\` → ${to ? `\`${to}\`` : 'positional argument'}`,
        ),
        ...(argument === undefined ? [] : [`positional argument → \`${argument}\``]),
      ];
      return `| ${theirs} | \`${escaped(nameOf(spelling).replace('plinth ', ''))}\` | ${names.join(', ')} |`;
    }),
  );
  return `| influxdb3 | plinth | Options with a different name |\n|---|---|---|\n${rows.join('\n')}\n`;
}

const escaped = (text: string): string => text.replaceAll('|', '\\|');
