import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command, InvalidArgumentError } from 'commander';
import { type Connection, callOk, connectionOf, withConnection } from '../connection.js';
import { printResponse, printRows, withFormat } from '../output/listing.js';
import { print, printNote } from '../output/terminal.js';
import { APPS, appOf } from './named.js';

const EXAMPLES = `
Examples:
  plinth deliveries list --app ci --status failure
  plinth deliveries show 244179063250944 --app ci
  plinth deliveries redeliver 244179063250944 --app ci
  plinth deliveries redrive --app ci --since 2026-01-01T00:00:00Z --dry-run`;

const withApp = (name: string): Command =>
  withConnection(new Command(name), { database: false }).requiredOption(
    '--app <id>',
    'app id, client id or name',
  );

const pathOf = async (connection: Connection, app: string, rest: string): Promise<string> =>
  `${APPS}/${encodeURIComponent(await appOf(connection, app))}${rest}`;

export function deliveriesCommand(): Command {
  return new Command('deliveries')
    .description('list, show and redeliver deliveries')
    .addHelpText('after', EXAMPLES)
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(redeliverCommand())
    .addCommand(redriveCommand());
}

function limitOf(text: string): string {
  if (/^(?:[1-9]\d?|100)$/.test(text)) return text;
  throw new InvalidArgumentError('Use an integer from 1 to 100.');
}

const listCommand = (): Command => listing(withApp('list'), (command) => command.opts()['app']);

/** `plinth webhook deliveries APP`. */
export const deliveriesOf = (): Command =>
  listing(
    withConnection(new Command('deliveries'), { database: false }).argument('<app>'),
    (command) => command.args[0] ?? '',
  );

function listing(connected: Command, appIn: (command: Command) => string): Command {
  const command = withFormat(connected)
    .description('list deliveries, newest first')
    .option('--status <status>', 'success or failure')
    .option('--event <name>', 'only deliveries of this event')
    .option('--guid <guid>', 'only this delivery GUID, with all attempts')
    .option('--since <time>', 'only deliveries since this time (ISO 8601)')
    .option('--until <time>', 'only deliveries until this time (ISO 8601)')
    .option('--state <states>', 'list unfinished deliveries by state: pending, leased, dead')
    .option('--limit <count>', 'number of deliveries, 1 to 100', limitOf, '30');
  return command.action(async () => {
    const { limit, ...options } = command.opts<Record<string, string | undefined>>();
    const names = ['status', 'event', 'guid', 'since', 'until', 'state'];
    const filters = names.flatMap((name) => {
      const value = options[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    const query = { per_page: limit ?? '30', ...Object.fromEntries(filters) };
    const connection = connectionOf(command.opts());
    const path = await pathOf(connection, appIn(command), '/deliveries');
    const response = await callOk(connection, path, { query });
    const items = (await response.json()) as Record<string, unknown>[];
    const columns =
      options['state'] === undefined
        ? ['id', 'delivered_at', 'event', 'action', 'status_code', 'status', 'redelivery', 'guid']
        : ['queue_id', 'due_at', 'event', 'action', 'state', 'attempt', 'guid'];
    printRows(command, items, columns);
  });
}

function showCommand(): Command {
  const command = withFormat(withApp('show'))
    .description('show the request and response of a delivery')
    .argument('<id>');
  return command.action(async (id: string) => {
    const { app } = command.opts<{ app: string }>();
    const connection = connectionOf(command.opts());
    const path = await pathOf(connection, app, `/deliveries/${encodeURIComponent(id)}`);
    await printResponse(command, await callOk(connection, path));
  });
}

function redeliverCommand(): Command {
  const command = withApp('redeliver').description('redeliver one delivery').argument('<id>');
  return command.action(async (id: string) => {
    const { app } = command.opts<{ app: string }>();
    const connection = connectionOf(command.opts());
    const path = await pathOf(connection, app, `/deliveries/${encodeURIComponent(id)}/attempts`);
    await callOk(connection, path, { method: 'POST' });
    printNote(`delivery ${id} queued for redelivery\n`);
  });
}

function redriveCommand(): Command {
  const command = withApp('redrive')
    .description('redeliver failed deliveries')
    .option('--dead', 'redeliver deliveries that have no retries left')
    .option('--event <name>', 'only deliveries of this event')
    .option('--since <time>', 'only deliveries since this time (ISO 8601)')
    .option('--until <time>', 'only deliveries until this time (ISO 8601)')
    .option('--dry-run', 'print only the number of deliveries');
  return command.action(async () => {
    const { app, dead, dryRun, event, since, until } = command.opts<{
      app: string;
      dead?: boolean;
      dryRun?: boolean;
      event?: string;
      since?: string;
      until?: string;
    }>();
    if (dead === true && (event ?? since ?? until) !== undefined) {
      throw new CommandFailed(
        '--dead cannot be combined with --event, --since or --until',
        EXIT.usage,
      );
    }
    const json = {
      ...(dead === true ? { state: 'dead' } : { status: 'failure' }),
      ...(event !== undefined && { event }),
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
      ...(dryRun === true && { dry_run: true }),
    };
    const connection = connectionOf(command.opts());
    const response = await callOk(connection, await pathOf(connection, app, '/redrive'), { json });
    const { matched, queued } = (await response.json()) as { matched: number; queued: number };
    print(`deliveries: ${matched} found, ${queued} queued for redelivery\n`);
  });
}
