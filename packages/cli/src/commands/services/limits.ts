import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command } from 'commander';
import { type Connection, callOk, connectionOf, withConnection } from '../connection.js';
import { secondsOf } from '../input/duration.js';
import { formatTable, printOne, printRows, withFormat } from '../output/listing.js';
import { printNote } from '../output/terminal.js';

const EXAMPLES = `
Examples:
  plinth limits show user:583231
  plinth limits check --identity user:583231 --method POST --endpoint /things
  plinth limits ban ip:192.0.2.1 --for 1h
  plinth limits top --resource core

An identity is user:<id>, installation:<id>, oauth-app:<client id>, repo:<id>, app:<id> or ip:<address>.`;

const API = 'ops/v1/rate-limits';

export function limitsCommand(name = 'limits'): Command {
  const limits = new Command(name)
    .description('inspect, test, reset and ban rate-limited identities')
    .addHelpText('after', EXAMPLES);
  const add = (
    text: string,
    description: string,
    run: (connection: Connection, command: Command, argument: string) => Promise<void>,
    prepare: (command: Command) => Command = (command) => command,
  ): void => {
    const command = prepare(withConnection(new Command(text), { database: false }));
    command.description(description).action(async (first: unknown) => {
      const argument = typeof first === 'string' ? first : '';
      await run(connectionOf(command.opts()), command, argument);
    });
    limits.addCommand(command);
  };
  const withIdentity = (command: Command): Command => command.argument('<identity>');
  add('show', 'show the rate limit counters and points of an identity', show, (command) =>
    withFormat(withIdentity(command)),
  );
  add('check', 'test whether a request is allowed, or charge it', check, (command) =>
    withFormat(command)
      .option('--identity <key>', 'identity that sends the request')
      .option('--ip <address>', 'address of the client that sends the request')
      .option('--resource <name>', 'resource to charge', 'core')
      .option('--endpoint <name>', 'endpoint whose points are charged')
      .option('--method <method>', 'HTTP method', 'GET')
      .option('--cost <number>', 'request cost')
      .option('--charge', 'also charge the request'),
  );
  add('reset', 'reset the counters of an identity', reset, withIdentity);
  add('ban', 'ban an identity', ban, (command) =>
    withIdentity(command).option('--for <duration>', 'ban duration, such as 10m, 1h or 1d', '10m'),
  );
  add('unban', 'lift the ban on an identity', unban, withIdentity);
  add('bans', 'list banned identities', listBans, withFormat);
  add('top', 'list the identities that use a resource most', top, (command) =>
    withFormat(command)
      .option('--resource <name>', 'resource', 'core')
      .option('--limit <number>', 'number of identities', '20'),
  );
  add('routes', 'list the costs of rate-limited routes', routes, withFormat);
  return limits;
}

type Fields = Readonly<Record<string, unknown>>;

async function show(connection: Connection, command: Command, identity: string): Promise<void> {
  const shown = await read(connection, `${API}/${encodeURIComponent(identity)}`);
  printOne(command, shown, () => {
    const buckets = Object.entries(fieldsOf(shown['buckets'])).map(([resource, bucket]) => {
      const { used, remaining, limit, reset } = fieldsOf(bucket);
      return [resource, String(used), String(remaining), String(limit), timeText(reset)];
    });
    const { points, ...sums } = fieldsOf(shown['secondary']);
    const lines = Object.entries(sums).map(([sum, value]) => [sum, String(value)]);
    const ofEndpoints = (Array.isArray(points) ? points.map(fieldsOf) : []).map(
      ({ endpoint, points: count }) => [`points ${endpoint}`, String(count)],
    );
    const { ban } = shown;
    return [
      formatTable([['resource', 'used', 'left', 'limit', 'reset'], ...buckets]),
      formatTable([...lines, ...ofEndpoints]),
      ban === null ? '' : `banned until ${timeText(fieldsOf(ban)['until'])}\n`,
    ].join('');
  });
}

async function check(connection: Connection, command: Command): Promise<void> {
  const { identity, ip, resource, endpoint, method, cost, charge } = command.opts<Fields>();
  if (identity === undefined && ip === undefined) {
    throw new CommandFailed(
      'no identity given; use --identity <key> or --ip <address>',
      EXIT.usage,
    );
  }
  const json = {
    ...(identity === undefined ? { ip } : { identity }),
    resource,
    method,
    dry_run: charge !== true,
    ...(endpoint !== undefined && { endpoint }),
    ...(cost !== undefined && { cost: Number(cost) }),
  };
  const response = fieldsOf(await (await callOk(connection, `${API}/check`, { json })).json());
  const headers = Object.entries(fieldsOf(response['headers']));
  const why =
    response['allowed'] === true
      ? 'allowed'
      : `rejected by limit "${String(response['limit_kind'])}"`;
  printOne(command, response, () => {
    const table = formatTable(headers.map(([name, value]) => [name, String(value)]));
    return `${why} (${String(response['status'])})\n${table}`;
  });
  if (response['allowed'] !== true) process.exitCode = EXIT.failed;
}

async function reset(connection: Connection, _command: Command, identity: string): Promise<void> {
  const path = `${API}/${encodeURIComponent(identity)}/reset`;
  await callOk(connection, path, { method: 'POST' });
  printNote(`counters of ${identity} reset\n`);
}

async function ban(connection: Connection, command: Command, identity: string): Promise<void> {
  const duration = String(command.opts()['for']);
  const duration_seconds = secondsOf(duration);
  if (duration_seconds === undefined) {
    throw new CommandFailed(
      `--for "${duration}" is not a valid duration; use a value such as 10m, 1h or 1d`,
      EXIT.usage,
    );
  }
  const json = { identity, duration_seconds };
  const made = fieldsOf(await (await callOk(connection, `${API}/bans`, { json })).json());
  printNote(`${identity} is banned until ${timeText(made['until'])}\n`);
}

async function unban(connection: Connection, _command: Command, identity: string): Promise<void> {
  const path = `${API}/bans/${encodeURIComponent(identity)}`;
  await callOk(connection, path, { method: 'DELETE' });
  printNote(`ban on ${identity} lifted\n`);
}

async function listBans(connection: Connection, command: Command): Promise<void> {
  const { bans } = await read(connection, `${API}/bans`);
  printRows(command, rowsOf(bans), {
    identity: ({ identity }) => identity,
    until: ({ until }) => timeText(until),
    level: ({ level }) => level,
  });
}

async function top(connection: Connection, command: Command): Promise<void> {
  const { resource, limit } = command.opts<Fields>();
  const query = { resource: String(resource), limit: String(limit) };
  const response = fieldsOf(await (await callOk(connection, `${API}/top`, { query })).json());
  printRows(command, rowsOf(response['top']), ['identity', 'used']);
}

async function routes(connection: Connection, command: Command): Promise<void> {
  const response = await read(connection, `${API}/routes`);
  const columns = ['service', 'method', 'path', 'resource', 'cost', 'points', 'content', 'exempt'];
  printRows(command, rowsOf(response['routes']), columns);
}

const rowsOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);

async function read(connection: Connection, path: string): Promise<Fields> {
  return fieldsOf(await (await callOk(connection, path)).json());
}

const fieldsOf = (value: unknown): Fields => Object(value) as Fields; // Parsed JSON.

/** Formats seconds since 1970 as a date. */
const timeText = (seconds: unknown): string =>
  new Date(Number(seconds) * 1000).toISOString().replace('.000', '');
