import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command } from 'commander';
import {
  type CallOptions,
  type Connection,
  callOk,
  connectionOf,
  withConnection,
} from '../connection.js';
import { printOne, printRows, withFormat } from '../output/listing.js';
import { print, printNote } from '../output/terminal.js';
import { idOfName } from './named.js';
import type { Item } from './pages.js';

const EXAMPLES = `
Examples:
  plinth accounts platforms
  plinth accounts platforms create --name "My platform" --country DE
  plinth accounts keys create --kind secret --live
  plinth accounts list --live
  plinth accounts show acct_1Nv0FGQ9RKHgCVdK
  plinth accounts tick --now 2027-01-01T00:00:00.000Z
  plinth accounts rotate-key

All commands use the operator API of a running server. --platform selects a platform other than plat_default.
Platforms and accounts are given by id, or by a unique name.`;

const BASE = 'ops/v1/accounts';
const DEFAULT = 'plat_default';

/** Fields of operator API responses that are printed. */
interface Row {
  readonly data?: unknown;
  readonly id?: unknown;
  readonly value?: unknown;
  readonly evaluated?: unknown;
  readonly key?: unknown;
  readonly rewritten?: unknown;
  readonly [name: string]: unknown;
}

export function accountsCommand(): Command {
  return new Command('accounts')
    .description('manage platforms, keys and accounts')
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
  const list = withFormat(withServer(new Command('list'), false))
    .description('list platforms')
    .action(async () => {
      const { data } = await request(connectionOf(list.opts()), 'platforms');
      printRows(list, data as Row[], ['id', 'name', 'country', 'state', 'created']);
    });
  const create = withServer(new Command('create'), false)
    .description('create a platform')
    .requiredOption('--name <name>', 'name of the platform')
    .option('--country <code>', 'country of the platform', 'US')
    .action(async () => {
      const { name, country } = create.opts<{ name: string; country: string }>();
      const json = { name, country };
      const made = await request(connectionOf(create.opts()), 'platforms', { json });
      print(`${String(made.id)}\n`);
    });
  const show = withFormat(withServer(new Command('show'), false))
    .description('show the settings of a platform')
    .argument('[platform]', 'id or name of the platform', DEFAULT)
    .action(async (said: string) => {
      const connection = connectionOf(show.opts());
      printOne(show, await request(connection, await platformPath(connection, said)));
    });
  const set = withServer(new Command('set'))
    .description('update the settings of a platform with a JSON merge patch')
    .argument('<patch>', 'JSON merge patch, for example \'{"storer_preview":true}\'')
    .action(async (patch: string) => {
      const options = { method: 'PATCH', json: readPatch(patch) };
      printOne(set, await requestPlatform(set, '', options));
    });
  const platforms = new Command('platforms').description('list, create, show and update platforms');
  platforms.addCommand(list, { isDefault: true });
  return platforms.addCommand(create).addCommand(show).addCommand(set);
}

function keysCommand(): Command {
  const list = withFormat(withServer(new Command('list')))
    .description('list the keys of a platform, without their secrets')
    .action(async () => {
      const { data } = await requestPlatform(list, '/keys');
      const columns = [
        'id',
        'kind',
        'livemode',
        'last4',
        'created',
        'expires_at',
        'revoked_at',
        'last_used_at',
      ];
      printRows(list, data as Row[], columns);
    });
  const create = withServer(new Command('create'))
    .description('create a key, which is shown only once')
    .option('--kind <kind>', 'secret or publishable', 'secret')
    .option('--live', 'create a live key instead of a test key', false)
    .option('--expires-at <time>', 'expiry time, such as 2027-01-01T00:00:00Z')
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
      const made = await requestPlatform(create, '/keys', { json });
      print(`${String(made.value)}\n`);
      printNote(`key ${String(made.id)} created; its value is not shown again\n`);
    });
  const revoke = withServer(new Command('revoke'))
    .description('revoke a key immediately')
    .argument('<key>', 'key id (key_...)')
    .action(async (id: string) => {
      await requestPlatform(revoke, `/keys/${encodeURIComponent(id)}`, { method: 'DELETE' });
      printNote(`key ${id} revoked\n`);
    });
  return new Command('keys')
    .description('list, create and revoke keys')
    .addCommand(list, { isDefault: true })
    .addCommand(create)
    .addCommand(revoke);
}

function listCommand(): Command {
  const command = withFormat(withServer(new Command('list')))
    .description('list accounts, newest first')
    .option('--live', 'list live accounts instead of test accounts', false)
    .option('--closed', 'list closed accounts instead of open ones', false)
    .option('--limit <count>', 'number of accounts, 1 to 100', '20');
  return command.action(async () => {
    const { live, closed, limit } = command.opts<{
      live: boolean;
      closed: boolean;
      limit: string;
    }>();
    const query = { livemode: String(live), closed: String(closed), limit };
    const { data } = await requestPlatform(command, '/accounts', { query });
    const columns = ['id', 'display_name', 'contact_email', 'applied_configurations', 'created'];
    printRows(command, data as Row[], columns);
  });
}

function showCommand(): Command {
  const command = withFormat(withServer(new Command('show')))
    .description('show an account with all sections, including operator fields')
    .argument('<account>', SAID);
  return command.action(async (said: string) => {
    const { platform, account } = await accountOf(command, said);
    const path = `${platform}/accounts/${account}`;
    printOne(command, await request(connectionOf(command.opts()), path));
  });
}

function closeCommand(): Command {
  const command = withServer(new Command('close'))
    .description('close an account without the checks that apply to platforms')
    .argument('<account>', SAID);
  return command.action(async (said: string) => {
    const { platform, account } = await accountOf(command, said);
    const path = `${platform}/accounts/${account}/close`;
    await request(connectionOf(command.opts()), path, { json: {} });
    printNote(`account ${account} closed\n`);
  });
}

function tickCommand(): Command {
  const command = withServer(new Command('tick'))
    .description('run due account transitions')
    .option('--now <time>', 'time to use instead of the current time');
  return command.action(async () => {
    const { now } = command.opts<{ now?: string }>();
    const json = now === undefined ? {} : { now };
    const done = await requestPlatform(command, '/tick', { json });
    printNote(`accounts evaluated: ${String(done.evaluated)}\n`);
  });
}

function rotateCommand(): Command {
  const command = withServer(new Command('rotate-key'), false).description(
    'encrypt stored secrets with a new key and remove old keys',
  );
  return command.action(async () => {
    const done = await request(connectionOf(command.opts()), 'rotate_key', { json: {} });
    printNote(`key ${String(done.key)} in use; rows re-encrypted: ${String(done.rewritten)}\n`);
  });
}

function withServer(command: Command, hasPlatform = true): Command {
  withConnection(command, { database: false });
  if (hasPlatform) command.option('--platform <id>', 'id or name of the platform', DEFAULT);
  return command;
}

/** Sends a request for the platform in the command's options. */
async function requestPlatform(
  command: Command,
  rest: string,
  options?: CallOptions,
): Promise<Row> {
  const connection = connectionOf(command.opts());
  const { platform } = command.opts<{ platform: string }>();
  return await request(connection, `${await platformPath(connection, platform)}${rest}`, options);
}

async function platformPath(connection: Connection, said: string): Promise<string> {
  if (said.startsWith('plat_')) return `platforms/${encodeURIComponent(said)}`;
  const platforms = async function* () {
    yield* (await request(connection, 'platforms')).data as Row[];
  };
  const list = 'plinth accounts platforms list';
  const names = ({ name }: Item) => [name];
  const id = await idOfName(platforms(), { what: 'platform', name: said, list, names });
  return `platforms/${encodeURIComponent(id)}`;
}

const SAID = 'account id, or a unique display name or e-mail address';

/** Resolves an id or name. Names are searched among the open accounts of the platform, live and test. */
async function accountOf(
  command: Command,
  said: string,
): Promise<{ readonly platform: string; readonly account: string }> {
  const connection = connectionOf(command.opts());
  const platform = await platformPath(connection, command.opts<{ platform: string }>().platform);
  if (said.startsWith('acct_')) return { platform, account: encodeURIComponent(said) };
  const accounts = async function* () {
    for (const livemode of ['true', 'false']) {
      for (let page: string | undefined = ''; page !== undefined; ) {
        const query = { livemode, limit: '100', ...(page !== '' && { page }) };
        const response: Row = await request(connection, `${platform}/accounts`, { query });
        yield* response.data as Row[];
        const next = response['next_page_url'];
        page =
          typeof next === 'string'
            ? (new URL(next, connection.host).searchParams.get('page') ?? undefined)
            : undefined;
      }
    }
  };
  const names = ({ display_name, contact_email }: Item) => [display_name, contact_email];
  const list = 'plinth accounts list';
  const account = await idOfName(accounts(), { what: 'account', name: said, list, names });
  return { platform, account };
}

async function request(
  connection: Connection,
  path: string,
  options: CallOptions = {},
): Promise<Row> {
  const response = await callOk(connection, `${BASE}/${path}`, options);
  return (await response.json()) as Row; // The server's response is trusted.
}

function readPatch(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandFailed(
      'the patch is not valid JSON; use an object such as \'{"storer_preview":true}\'',
      EXIT.usage,
    );
  }
}
