import { Command, InvalidArgumentError } from 'commander';
import { type Connection, callOk, connectionOf, withConnection } from '../connection.js';
import { CommandFailed, EXIT } from '../output/exit.js';
import { printAnswer, printRows, withFormat } from '../output/listing.js';
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
    'id, client id or name of the app',
  );

const pathOf = async (connection: Connection, app: string, rest: string): Promise<string> =>
  `${APPS}/${encodeURIComponent(await appOf(connection, app))}${rest}`;

/** `plinth deliveries`. */
export function deliveriesCommand(): Command {
  return new Command('deliveries')
    .description('look at what was delivered, and deliver it again')
    .addHelpText('after', EXAMPLES)
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(redeliverCommand())
    .addCommand(redriveCommand());
}

function limitOf(text: string): string {
  if (/^(?:[1-9]\d?|100)$/.test(text)) return text;
  throw new InvalidArgumentError('a whole number from 1 to 100');
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
    .description('show deliveries, newest first')
    .option('--status <status>', 'success or failure')
    .option('--event <name>', 'of this event only')
    .option('--guid <guid>', 'all attempts of one event')
    .option('--since <time>', 'not older, ISO 8601')
    .option('--until <time>', 'not newer, ISO 8601')
    .option('--state <states>', 'what is not finished instead: pending, leased, dead')
    .option('--limit <count>', 'how many, 1 to 100', limitOf, '30');
  return command.action(async () => {
    const { limit, ...options } = command.opts<Record<string, string | undefined>>();
    const names = ['status', 'event', 'guid', 'since', 'until', 'state'];
    const given = names.flatMap((name) => {
      const value = options[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    const query = { per_page: limit ?? '30', ...Object.fromEntries(given) };
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
    .description('show one delivery: what was sent and what came back')
    .argument('<id>');
  return command.action(async (id: string) => {
    const { app } = command.opts<{ app: string }>();
    const connection = connectionOf(command.opts());
    const path = await pathOf(connection, app, `/deliveries/${encodeURIComponent(id)}`);
    await printAnswer(command, await callOk(connection, path));
  });
}

function redeliverCommand(): Command {
  const command = withApp('redeliver').description('send one delivery again').argument('<id>');
  return command.action(async (id: string) => {
    const { app } = command.opts<{ app: string }>();
    const connection = connectionOf(command.opts());
    const path = await pathOf(connection, app, `/deliveries/${encodeURIComponent(id)}/attempts`);
    await callOk(connection, path, { method: 'POST' });
    printNote(`delivery ${id} is sent again\n`);
  });
}

function redriveCommand(): Command {
  const command = withApp('redrive')
    .description('send again what failed and has not been delivered since')
    .option('--dead', 'what ran out of retries')
    .option('--event <name>', 'of this event only')
    .option('--since <time>', 'not older, ISO 8601')
    .option('--until <time>', 'not newer, ISO 8601')
    .option('--dry-run', 'only say how many');
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
      throw new CommandFailed('--dead takes all of them', EXIT.usage);
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
    print(`${matched} found, ${queued} sent again\n`);
  });
}
