import { appendFile, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline/promises';
import { text as readText } from 'node:stream/consumers';
import { messageOf } from '@plinth/kernel';
import { CommandFailed } from '@plinth/server/process/command-failed.js';
import { Command, Option } from 'commander';
import { type Connection, call, connectionOf, withConnection } from './connection.js';
import { print } from './output/terminal.js';
import { complete } from './shell/completions.js';
import { pages } from './shell/pager.js';
import { StatementReader } from './shell/statement-reader.js';

const HISTORY_FILE = '.plinth_history';
const MAX_HISTORY_LINES = 1000;

const HELP = `use <database>         switch to this database
language sql|influxql  set the query language
format <format>        set the output format: pretty, csv, json, json_rows, jsonl
tables                 list the tables of the database
exit                   leave the shell (or press Ctrl+D)
Everything else is a query and ends with a semicolon; Ctrl+C cancels it. Tab completes table and column names.`;

type Language = 'sql' | 'influxql';

interface State {
  connection: Connection;
  language: Language;
  format: string;
  /** Cancels the running query. */
  signal?: AbortSignal;
  /** Names for completion. */
  names: readonly string[];
}

export function shellCommand(): Command {
  const command = new Command('shell').description('open an interactive SQL or InfluxQL shell');
  return withConnection(command, { database: true })
    .addOption(new Option('-l, --language <name>').choices(['sql', 'influxql']).default('sql'))
    .option('-f, --format <format>', 'output format', 'pretty')
    .action(async () => {
      const { language, format } = command.opts<{ language: Language; format: string }>();
      await shell({ connection: connectionOf(command.opts()), language, format, names: [] });
    });
}

async function shell(state: State): Promise<void> {
  if (process.stdin.isTTY === true) await converse(state);
  else await runAll(await readText(process.stdin), state);
}

/** Runs the statements of a file or pipe. The last one needs no semicolon. */
async function runAll(text: string, state: State): Promise<void> {
  const reader = new StatementReader();
  for (const line of text.split('\n')) {
    if (!reader.isOpen && isExit(line)) return;
    if (!reader.isOpen && (await runOrder(line, state))) continue;
    for (const statement of reader.add(line)) await run(statement, state, undefined);
  }
  if (reader.rest() !== '') await run(reader.rest(), state, undefined);
}

async function converse(state: State): Promise<void> {
  const input = createInterface({
    input: process.stdin,
    output: process.stdout,
    history: await readHistory(),
    historySize: MAX_HISTORY_LINES,
    completer: (line: string) => complete(line, state.names) as [string[], string],
  });
  // Created before anything is awaited, so that no input line is lost.
  const lines = input[Symbol.asyncIterator]();
  print(`${state.connection.host}; type "help" for commands\n`);
  await learnNames(state);
  const reader = new StatementReader();
  const prompt = (): void => {
    const place = `${state.connection.database ?? ''}(${state.language})> `;
    input.setPrompt(reader.isOpen ? '     -> ' : place);
    input.prompt();
  };
  let running: AbortController | undefined;
  input.on('SIGINT', () => {
    if (running !== undefined) {
      running.abort();
      return;
    }
    reader.clear();
    process.stdout.write('\n');
    // The text before and after the cursor.
    input.write(null, { ctrl: true, name: 'e' });
    input.write(null, { ctrl: true, name: 'u' });
    prompt();
  });
  prompt();
  for (let next = await lines.next(); !next.done; next = await lines.next()) {
    const line = next.value;
    if (line.trim() !== '') await keepHistory(line);
    if (!reader.isOpen && isExit(line)) break;
    running = new AbortController();
    state.signal = running.signal;
    if (reader.isOpen || !(await tryOrder(line, state))) {
      for (const statement of reader.add(line)) await run(statement, state, input);
    }
    running = undefined;
    prompt();
  }
  input.close();
}

function isExit(line: string): boolean {
  return /^\s*(exit|quit)\s*;?\s*$/i.test(line);
}

/** Like `runOrder`, for a terminal: prints failures and continues. */
async function tryOrder(line: string, state: State): Promise<boolean> {
  try {
    return await runOrder(line, state);
  } catch (error) {
    print(`${failureText(error, state)}\n`);
    return true;
  }
}

/** Runs a command of the shell itself. @returns whether the line was such a command */
async function runOrder(line: string, state: State): Promise<boolean> {
  const [word = '', argument = '', ...more] = line.trim().replace(/;$/, '').split(/\s+/);
  if (more.length > 0) return false;
  switch (word.toLowerCase()) {
    case 'help':
      print(`${HELP}\n`);
      return true;
    case 'use':
      await use(argument.replaceAll('"', ''), state);
      return true;
    case 'language':
      if (argument === 'sql' || argument === 'influxql') state.language = argument;
      else print('unknown language; use sql or influxql\n');
      return true;
    case 'format':
      state.format = argument;
      return true;
    case 'tables':
      print(
        `${await textOf("SELECT table_name FROM information_schema.tables WHERE table_schema = 'iox' ORDER BY table_name", { ...state, language: 'sql' })}\n`,
      );
      return true;
    default:
      return false;
  }
}

/** Switches the database. Throws if it does not exist, so that later statements do not run on the previous one. */
async function use(database: string, state: State): Promise<void> {
  const connection = { ...state.connection, database };
  await textOf('SELECT 1', { ...state, connection, language: 'sql', format: 'json' });
  state.connection = connection;
  await learnNames(state);
}

async function run(statement: string, state: State, input: Interface | undefined): Promise<void> {
  try {
    await show(await textOf(statement, state), input, state.signal);
  } catch (error) {
    print(`${failureText(error, state)}\n`);
    if (input === undefined) process.exitCode = 1;
  }
}

const failureText = (error: unknown, { signal }: State): string =>
  signal?.aborted ? 'canceled' : messageOf(error);

/** Returns the result as text, or the server's error message as a failure. */
async function textOf(
  statement: string,
  { connection, language, format, signal }: State,
): Promise<string> {
  const response = await call(connection, `api/v3/query_${language}`, {
    json: {
      ...(connection.database !== undefined && { db: connection.database }),
      q: statement,
      format,
    },
    ...(signal && { signal }),
  });
  const text = await response.text();
  if (response.ok) return text.replace(/\n$/, '');
  if (!text.startsWith('{')) throw new CommandFailed(text);
  throw new CommandFailed(String(Reflect.get(Object(JSON.parse(text)), 'error')));
}

async function show(
  text: string,
  input: Interface | undefined,
  signal?: AbortSignal,
): Promise<void> {
  if (input === undefined) {
    print(`${text}\n`);
    return;
  }
  const screens = pages(text, process.stdout.rows ?? 24);
  for (const [index, screen] of screens.entries()) {
    print(`${screen}\n`);
    if (index === screens.length - 1) return;
    const response = await input.question('-- Enter: next page, q: quit -- ', {
      ...(signal && { signal }),
    });
    if (response.trim().toLowerCase() === 'q') return;
  }
}

/** Loads the names of the database's tables and columns; none if the server cannot list them. */
async function learnNames(state: State): Promise<void> {
  if (state.connection.database === undefined) return;
  try {
    const text = await textOf(
      "SELECT DISTINCT table_name AS name FROM information_schema.columns WHERE table_schema = 'iox' UNION SELECT DISTINCT column_name FROM information_schema.columns WHERE table_schema = 'iox'",
      { ...state, language: 'sql', format: 'json_rows' },
    );
    const rows = JSON.parse(text) as { name: string }[];
    state.names = rows.map(({ name }) => name);
  } catch {
    // Completion is optional; the first query reports the error.
    state.names = [];
  }
}

async function readHistory(): Promise<string[]> {
  try {
    const lines = (await readFile(join(homedir(), HISTORY_FILE), 'utf8')).trim().split('\n');
    return lines.slice(-MAX_HISTORY_LINES).reverse();
  } catch {
    // No history file exists yet.
    return [];
  }
}

async function keepHistory(line: string): Promise<void> {
  try {
    await appendFile(join(homedir(), HISTORY_FILE), `${line}\n`, { mode: 0o600 });
  } catch {
    // If the home folder is not writable, only the history is lost.
  }
}
