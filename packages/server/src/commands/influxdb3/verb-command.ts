import { Command } from 'commander';
import { inherit } from '../inherit.js';
import { CommandFailed, EXIT } from '../output/exit.js';
import { SPELLINGS, type Spelling, WITHOUT } from './verbs.js';

type Loaders = () => Readonly<Record<string, { load(): Promise<Command> }>>;

/** A verb of `influxdb3`: `create`, with all that may follow it. */
export function verbCommand(verb: string, commands: Loaders): Command {
  const nouns = Object.entries(SPELLINGS[verb] ?? {});
  const whole = nouns.find(([noun]) => noun === '')?.[1];
  if (whole !== undefined) return spelled(new Command(verb), whole, commands);
  const command = new Command(verb).description(`${verb}, as influxdb3 spells it`);
  for (const [noun, spelling] of nouns)
    command.addCommand(spelled(new Command(noun), spelling, commands));
  return command;
}

/** Takes whatever stands behind it, `--help` as well, and hands it to the command that it stands for. */
function spelled(command: Command, spelling: Spelling, commands: Loaders): Command {
  const about = 'no' in spelling ? spelling.no : `the same as \`${nameOf(spelling)}\``;
  command.description(about).allowUnknownOption().helpOption(false).argument('[words...]');
  // The help that is asked for is that of the other command: it inherits none.
  command.copyInheritedSettings = () => command;
  return command.action(async (words: readonly string[]) => {
    const path = pathOf(command);
    if ('no' in spelling) {
      throw new CommandFailed(`${path} has no counterpart: ${spelling.no}`, EXIT.usage);
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

/** Words behind `influxdb3` verbs as the command of ours takes them. Throws for an option that it has nothing for. */
function translate(path: string, alias: Alias, words: readonly string[]): readonly string[] {
  const { options = {}, without = {}, values = {}, argument, needs } = alias;
  const refused = { ...WITHOUT, ...without };
  const out: string[] = [];
  let isValue = false; // of the option before; only rows with `argument` ask, whose options all have one
  const inOurs = (text: string): string =>
    Object.hasOwn(values, text) ? (values[text] ?? '') : text;
  for (const word of words) {
    const [, option = '', given] = /^(--?[a-z][\w-]*)(?:=(.*))?$/is.exec(word) ?? [];
    const value = given === undefined ? undefined : inOurs(given);
    const why = Object.hasOwn(refused, option) ? refused[option] : undefined;
    if (why !== undefined) {
      throw new CommandFailed(`${path} ${option} has no counterpart: ${why}`, EXIT.usage);
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
  const isAsking = out.some((word) => word === '--help' || word === '-h');
  const isNeeded = (name: string): boolean => out.some((word) => word.split('=')[0] === name);
  if (!isAsking && needs !== undefined && !needs.some(isNeeded)) {
    throw new CommandFailed(`${path} needs ${needs.join(' or ')}`, EXIT.usage);
  }
  return out;
}

const nameOf = ({ means }: Alias): string =>
  `plinth ${means.map((word) => (word.includes(' ') ? `'${word}'` : word)).join(' ')}`;

function pathOf(command: Command): string {
  const above = command.parent;
  return above === null ? command.name() : `${pathOf(above)} ${command.name()}`;
}

/** Where the help that is shown names options otherwise. */
function renamed(path: string, { options = {} }: Alias): string {
  const rows = Object.entries(options).map(
    ([theirs, ours]) => `  ${theirs} is ${ours || 'the argument'}`,
  );
  return rows.length === 0 ? '' : `\nOptions of ${path} with another name:\n${rows.join('\n')}`;
}

/** For the page of the commands: a row for each spelling. */
export function describeSpellings(): string {
  const rows = Object.entries(SPELLINGS).flatMap(([verb, nouns]) =>
    Object.entries(nouns).map(([noun, spelling]) => {
      const theirs = `\`${`${verb} ${noun}`.trim()}\``;
      if ('no' in spelling) return `| ${theirs} | none: ${escaped(spelling.no)} |  |`;
      const { options = {}, argument } = spelling;
      const names = [
        ...Object.entries(options).map(
          ([from, to]) => `\`${from}\` ${to ? `\`${to}\`` : 'the argument'}`,
        ),
        ...(argument === undefined ? [] : [`its argument \`${argument}\``]),
      ];
      return `| ${theirs} | \`${escaped(nameOf(spelling).replace('plinth ', ''))}\` | ${names.join(', ')} |`;
    }),
  );
  return `| influxdb3 | plinth | Options with another name |\n|---|---|---|\n${rows.join('\n')}\n`;
}

const escaped = (text: string): string => text.replaceAll('|', '\\|');
