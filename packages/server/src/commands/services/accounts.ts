import { Command } from 'commander';
import {
  type CallOptions,
  type Connection,
  call,
  connectionOf,
  failureOf,
  withConnection,
} from '../connection.js';
import { CommandFailed, EXIT } from '../output/exit.js';
import { print, tell } from '../output/terminal.js';

const EXAMPLES = `
Examples:
  plinth accounts platforms
  plinth accounts platforms create --name "My platform" --country DE
  plinth accounts keys create --kind secret --live
  plinth accounts list --live
  plinth accounts show acct_1Nv0FGQ9RKHgCVdK
  plinth accounts tick --now 2027-01-01T00:00:00.000Z
  plinth accounts rotate-key

All of them ask the operator's interface of a running server; --platform names another platform than plat_default.`;

const BASE = 'ops/v1/accounts';

/** What the operator's interface answers, as far as it is printed. */
interface Row {
  readonly data?: unknown;
  readonly id?: unknown;
  readonly value?: unknown;
  readonly evaluated?: unknown;
  readonly key?: unknown;
  readonly rewritten?: unknown;
  readonly [name: string]: unknown;
}

/** `plinth accounts`. */
export function accountsCommand(): Command {
  return new Command('accounts')
    .description('platforms, keys and accounts of the accounts service')
    .addHelpText('after', EXAMPLES)
    .addCommand(platformsCommand())
    .addCommand(keysCommand())
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(closeCommand())
    .addCommand(tickCommand())
    .addCommand(rotateCommand());
}

function platformsCommand(): Command {
  const list = withServer(new Command('list'), false)
    .description('show all platforms')
    .action(async () => {
      const { data } = await ask(connectionOf(list.opts()), 'platforms');
      printTable(data, ['id', 'name', 'country', 'state', 'created']);
    });
  const create = withServer(new Command('create'), false)
    .description('make a platform')
    .requiredOption('--name <name>', 'name of the platform')
    .option('--country <code>', 'country of the platform', 'US')
    .action(async () => {
      const { name, country } = create.opts<{ name: string; country: string }>();
      const json = { name, country };
      const made = await ask(connectionOf(create.opts()), 'platforms', { json });
      print(`${String(made.id)}\n`);
    });
  const show = withServer(new Command('show'), false)
    .description('show the settings of a platform')
    .argument('[platform]', 'id of the platform', 'plat_default')
    .action(async (id: string) =>
      printJson(await ask(connectionOf(show.opts()), `platforms/${id}`)),
    );
  const set = withServer(new Command('set'), false)
    .description('change settings of a platform by a JSON merge patch')
    .argument('<patch>', 'for example \'{"storer_preview":true}\'')
    .option('--platform <id>', 'id of the platform', 'plat_default')
    .action(async (patch: string) => {
      const { platform } = set.opts<{ platform: string }>();
      const options = { method: 'PATCH', json: readPatch(patch) };
      printJson(await ask(connectionOf(set.opts()), `platforms/${platform}`, options));
    });
  const platforms = new Command('platforms').description('list, make, show and change platforms');
  platforms.addCommand(list, { isDefault: true });
  return platforms.addCommand(create).addCommand(show).addCommand(set);
}

function keysCommand(): Command {
  const list = withServer(new Command('list'))
    .description('show the keys of a platform, without their secrets')
    .action(async () => {
      const { data } = await ask(connectionOf(list.opts()), `${platformOf(list)}/keys`);
      printTable(data, ['id', 'kind', 'livemode', 'last4', 'created', 'expires_at', 'revoked_at']);
    });
  const create = withServer(new Command('create'))
    .description('make a key; it is shown this once')
    .option('--kind <kind>', 'secret or publishable', 'secret')
    .option('--live', 'for live data instead of test data', false)
    .option('--expires-at <time>', 'for example 2027-01-01T00:00:00Z')
    .action(async () => {
      const { kind, live, expiresAt } = create.opts<{
        kind: string;
        live: boolean;
        expiresAt?: string;
      }>();
      const json = {
        kind,
        livemode: live,
        ...(expiresAt !== undefined && { expires_at: expiresAt }),
      };
      const made = await ask(connectionOf(create.opts()), `${platformOf(create)}/keys`, { json });
      print(`${String(made.value)}\n`);
      tell(`key ${String(made.id)} made; it is not shown again\n`);
    });
  const revoke = withServer(new Command('revoke'))
    .description('end a key at once')
    .argument('<key>', 'id of the key: key_...')
    .action(async (id: string) => {
      const path = `${platformOf(revoke)}/keys/${id}`;
      await ask(connectionOf(revoke.opts()), path, { method: 'DELETE' });
      tell(`key ${id} revoked\n`);
    });
  return new Command('keys')
    .description('list, make and revoke keys')
    .addCommand(list, { isDefault: true })
    .addCommand(create)
    .addCommand(revoke);
}

function listCommand(): Command {
  const command = withServer(new Command('list'))
    .description('show accounts, newest first')
    .option('--live', 'live accounts instead of test accounts', false)
    .option('--closed', 'closed accounts instead of open ones', false)
    .option('--limit <count>', '1 to 100', '20');
  return command.action(async () => {
    const { live, closed, limit } = command.opts<{
      live: boolean;
      closed: boolean;
      limit: string;
    }>();
    const query = { livemode: String(live), closed: String(closed), limit };
    const path = `${platformOf(command)}/accounts`;
    const { data } = await ask(connectionOf(command.opts()), path, { query });
    printTable(data, ['id', 'display_name', 'contact_email', 'applied_configurations', 'created']);
  });
}

function showCommand(): Command {
  const command = withServer(new Command('show'))
    .description('show an account with every section and what only the operator sees')
    .argument('<account>');
  return command.action(async (id: string) => {
    printJson(await ask(connectionOf(command.opts()), `${platformOf(command)}/accounts/${id}`));
  });
}

function closeCommand(): Command {
  const command = withServer(new Command('close'))
    .description('close an account without the conditions that its platform has to meet')
    .argument('<account>');
  return command.action(async (id: string) => {
    const path = `${platformOf(command)}/accounts/${id}/close`;
    await ask(connectionOf(command.opts()), path, { json: {} });
    tell(`account ${id} closed\n`);
  });
}

function tickCommand(): Command {
  const command = withServer(new Command('tick'))
    .description('run transitions that are due')
    .option('--now <time>', 'as if it were this time');
  return command.action(async () => {
    const { now } = command.opts<{ now?: string }>();
    const json = now === undefined ? {} : { now };
    const done = await ask(connectionOf(command.opts()), `${platformOf(command)}/tick`, { json });
    tell(`${String(done.evaluated)} accounts evaluated\n`);
  });
}

function rotateCommand(): Command {
  const command = withServer(new Command('rotate-key'), false).description(
    'seal stored secrets with a new key and drop old ones',
  );
  return command.action(async () => {
    const done = await ask(connectionOf(command.opts()), 'rotate_key', { json: {} });
    tell(`key ${String(done.key)} in use, ${String(done.rewritten)} rows resealed\n`);
  });
}

function withServer(command: Command, hasPlatform = true): Command {
  withConnection(command, { database: false });
  if (hasPlatform) command.option('--platform <id>', 'id of the platform', 'plat_default');
  return command;
}

const platformOf = (command: Command): string =>
  `platforms/${command.opts<{ platform: string }>().platform}`;

async function ask(connection: Connection, path: string, options: CallOptions = {}): Promise<Row> {
  const response = await call(connection, `${BASE}/${path}`, options);
  const text = await response.text();
  if (!response.ok) throw failureOf(response.status, messageIn(text), connection);
  return JSON.parse(text) as Row; // the server's own answer
}

/** The words of an error body of the service. */
function messageIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    if (typeof error?.message === 'string') return error.message;
  } catch {
    // Not JSON: another server; its own words are the best there is.
  }
  return text.trim().slice(0, 500);
}

function readPatch(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandFailed('the patch is not valid JSON', EXIT.usage);
  }
}

function printJson(value: unknown): void {
  print(`${JSON.stringify(value, null, 2)}\n`);
}

/** Columns as wide as their widest cell; nothing else, so that other programs can read it. */
function printTable(rows: unknown, columns: readonly string[]): void {
  const cells = (rows as readonly Row[]).map((row) => columns.map((column) => cellOf(row[column])));
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...cells.map((row) => row[index]?.length ?? 0)),
  );
  for (const row of [columns, ...cells]) {
    const line = row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ');
    print(`${line.trimEnd()}\n`);
  }
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return Array.isArray(value) ? value.join(',') || '-' : String(value);
}
