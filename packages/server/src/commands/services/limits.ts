import { Command } from 'commander';
import { type Connection, callOk, connectionOf, withConnection } from '../connection.js';
import { secondsOf } from '../input/time-text.js';
import { CommandFailed, EXIT } from '../output/exit.js';
import { print, tell } from '../output/terminal.js';

const EXAMPLES = `
Examples:
  plinth limits show user:583231
  plinth limits check --identity user:583231 --method POST --endpoint /things
  plinth limits ban ip:192.0.2.1 --for 1h
  plinth limits top --resource core

An identity is user:<id>, installation:<id>, oauth-app:<client id>, repo:<id>, app:<id> or ip:<address>.`;

const API = 'ops/v1/rate-limits';

/** `plinth limits`. */
export function limitsCommand(name = 'limits'): Command {
  const limits = new Command(name)
    .description('see, ask, reset and ban what is limited')
    .addHelpText('after', EXAMPLES);
  const add = (
    text: string,
    description: string,
    run: (connection: Connection, options: Options, argument: string) => Promise<void>,
    prepare: (command: Command) => Command = (command) => command,
  ): void => {
    const command = prepare(withConnection(new Command(text), { database: false }));
    command.description(description).action(async (first: unknown) => {
      const argument = typeof first === 'string' ? first : '';
      await run(connectionOf(command.opts()), command.opts(), argument);
    });
    limits.addCommand(command);
  };
  const withIdentity = (command: Command): Command => command.argument('<identity>');
  add('show', 'buckets and sums of an identity', show, withIdentity);
  add('check', 'ask whether a request would pass, or charge one', check, (command) =>
    command
      .option('--identity <key>', 'who asks')
      .option('--ip <address>', 'who asks, by address')
      .option('--resource <name>', 'bucket', 'core')
      .option('--endpoint <name>', 'endpoint whose points are counted')
      .option('--method <method>', 'method of the request', 'GET')
      .option('--cost <number>', 'cost of the request')
      .option('--charge', 'charge it as well'),
  );
  add('reset', 'forget what an identity has used', reset, withIdentity);
  add('ban', 'shut an identity out', ban, (command) =>
    withIdentity(command).option('--for <duration>', 'how long: 10m, 1h, 1d', '10m'),
  );
  add('unban', 'let an identity in again', unban, withIdentity);
  add('bans', 'list who is shut out', listBans);
  add('top', 'who has used most of a resource', top, (command) =>
    command
      .option('--resource <name>', 'bucket', 'core')
      .option('--limit <number>', 'how many', '20'),
  );
  add('routes', 'what the routes of services with limits cost', routes);
  return limits;
}

type Options = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, unknown>>;

async function show(connection: Connection, _options: Options, identity: string): Promise<void> {
  const shown = await read(connection, `${API}/${encodeURIComponent(identity)}`);
  const buckets = Object.entries(fieldsOf(shown['buckets'])).map(([resource, bucket]) => {
    const { used, remaining, limit, reset } = fieldsOf(bucket);
    return [resource, String(used), String(remaining), String(limit), timeText(reset)];
  });
  printRows([['resource', 'used', 'left', 'limit', 'reset'], ...buckets]);
  const { points, ...sums } = fieldsOf(shown['secondary']);
  const lines = Object.entries(sums).map(([sum, value]) => [sum, String(value)]);
  const ofEndpoints = Array.isArray(points) ? points.map(fieldsOf) : [];
  printRows([
    ...lines,
    ...ofEndpoints.map(({ endpoint, points: count }) => [`points ${endpoint}`, String(count)]),
  ]);
  if (shown['ban'] !== null) {
    print(`banned until ${timeText(fieldsOf(shown['ban'])['until'])}\n`);
  }
}

async function check(connection: Connection, options: Options): Promise<void> {
  const { identity, ip, resource, endpoint, method, cost, charge } = options;
  if (identity === undefined && ip === undefined) {
    throw new CommandFailed('who asks? Say --identity <key> or --ip <address>', EXIT.usage);
  }
  const json = {
    ...(identity === undefined ? { ip } : { identity }),
    resource,
    method,
    dry_run: charge !== true,
    ...(endpoint !== undefined && { endpoint }),
    ...(cost !== undefined && { cost: Number(cost) }),
  };
  const answer = fieldsOf(await (await callOk(connection, `${API}/check`, { json })).json());
  const headers = fieldsOf(answer['headers']);
  const why = answer['allowed'] === true ? 'passes' : `refused by ${String(answer['limit_kind'])}`;
  print(`${why} (${String(answer['status'])})\n`);
  printRows(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  if (answer['allowed'] !== true) process.exitCode = EXIT.failed;
}

async function reset(connection: Connection, _options: Options, identity: string): Promise<void> {
  const path = `${API}/${encodeURIComponent(identity)}/reset`;
  await callOk(connection, path, { method: 'POST' });
  tell(`${identity} starts anew\n`);
}

async function ban(connection: Connection, options: Options, identity: string): Promise<void> {
  const duration = String(options['for']);
  const duration_seconds = secondsOf(duration);
  if (duration_seconds === undefined) {
    throw new CommandFailed(`--for ${duration}: written like 10m, 1h or 1d`, EXIT.usage);
  }
  const json = { identity, duration_seconds };
  const made = fieldsOf(await (await callOk(connection, `${API}/bans`, { json })).json());
  tell(`${identity} is banned until ${timeText(made['until'])}\n`);
}

async function unban(connection: Connection, _options: Options, identity: string): Promise<void> {
  const path = `${API}/bans/${encodeURIComponent(identity)}`;
  await callOk(connection, path, { method: 'DELETE' });
  tell(`${identity} is not banned any more\n`);
}

async function listBans(connection: Connection): Promise<void> {
  const { bans } = await read(connection, `${API}/bans`);
  const rows = (Array.isArray(bans) ? bans : []).map(fieldsOf);
  printRows([
    ['identity', 'until', 'level'],
    ...rows.map(({ identity, until, level }) => [String(identity), timeText(until), String(level)]),
  ]);
}

async function top(connection: Connection, options: Options): Promise<void> {
  const query = { resource: String(options['resource']), limit: String(options['limit']) };
  const answer = fieldsOf(await (await callOk(connection, `${API}/top`, { query })).json());
  const rows = (Array.isArray(answer['top']) ? answer['top'] : []).map(fieldsOf);
  printRows([
    ['identity', 'used'],
    ...rows.map(({ identity, used }) => [String(identity), String(used)]),
  ]);
}

async function routes(connection: Connection): Promise<void> {
  const answer = await read(connection, `${API}/routes`);
  const rows = (Array.isArray(answer['routes']) ? answer['routes'] : []).map(fieldsOf);
  const columns = ['service', 'method', 'path', 'resource', 'cost', 'points', 'content', 'exempt'];
  printRows([columns, ...rows.map((row) => columns.map((column) => String(row[column])))]);
}

async function read(connection: Connection, path: string): Promise<Fields> {
  return fieldsOf(await (await callOk(connection, path)).json());
}

const fieldsOf = (value: unknown): Fields => Object(value) as Fields; // of a parsed answer

/** Seconds since 1970 as a date. */
const timeText = (seconds: unknown): string =>
  new Date(Number(seconds) * 1000).toISOString().replace('.000', '');

/** Columns as wide as their widest cell. */
function printRows(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    print(`${cells.join('  ').trimEnd()}\n`);
  }
}
