import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command } from 'commander';
import { callOk, connectionOf, withConnection } from '../connection.js';
import { printResponse, printRows, withFormat } from '../output/listing.js';
import { print, printNote } from '../output/terminal.js';
import { allItems, collected } from './pages.js';

const EXAMPLES = `
Examples:
  plinth identity create user --id 583231 --set plan=free
  plinth identity create installation --id 7 --set account='{"type":"Organization","id":3}' --set repositories_count=75
  plinth identity token --kind personal --identity user:583231
  plinth identity show installation:7`;

const API = 'ops/v1/identities';

export function identityCommand(): Command {
  const identity = new Command('identity')
    .description('register users, installations and OAuth apps, and create their tokens')
    .addHelpText('after', EXAMPLES);

  const create = connected('create')
    .description('register an identity')
    .argument('<kind>', 'user, organization, installation, oauth_app or repository')
    .option('--id <id>', 'identity id (generated for an OAuth app)')
    .option('--set <name=value>', 'attribute, with a JSON or text value; repeatable', collect, {})
    .action(async (kind: string) => {
      const { id, set } = create.opts<{ id?: string; set: Attributes }>();
      const own = id === undefined ? {} : { id: kind === 'oauth_app' ? id : Number(id) };
      await show(callOk(connectionOf(create.opts()), API, { json: { kind, ...own, ...set } }));
    });
  const list = withFormat(connected('list'))
    .description('list identities, sorted by key')
    .action(async () => {
      const all = allItems(connectionOf(list.opts()), API, ({ key }) => key);
      printRows(list, await collected(all), {
        key: ({ key }) => key,
        kind: ({ kind }) => kind,
        attributes: ({ key, kind, ...attributes }) => JSON.stringify(attributes),
      });
    });
  const one = withFormat(connected('show'))
    .description('show an identity')
    .argument('<identity>')
    .action(async (key: string) => {
      await printResponse(one, await callOk(connectionOf(one.opts()), pathOf(key)));
    });
  const update = connected('update')
    .description('update attributes; null removes an attribute')
    .argument('<identity>')
    .option('--set <name=value>', 'attribute, with a JSON or text value; repeatable', collect, {})
    .action(async (key: string) => {
      const { set } = update.opts<{ set: Attributes }>();
      const options = { method: 'PATCH', json: set };
      await show(callOk(connectionOf(update.opts()), pathOf(key), options));
    });
  const remove = connected('delete')
    .description('delete an identity and revoke its tokens')
    .argument('<identity>')
    .action(async (key: string) => {
      await callOk(connectionOf(remove.opts()), pathOf(key), { method: 'DELETE' });
      printNote(`${key} deleted\n`);
    });
  const token = connected('token')
    .description('create a token for an identity')
    .requiredOption('--kind <kind>', 'personal, oauth, app_user, installation or workflow')
    .requiredOption('--identity <key>', 'user:<id>, installation:<id> or repo:<id>')
    .option('--via-app <id>', 'app that issues the token')
    .option('--expires-in <seconds>', 'lifetime of the token')
    .action(async () => {
      const options = token.opts<Record<string, string | undefined>>();
      await makeToken(token, {
        kind: String(options['kind']),
        identity: String(options['identity']),
        viaApp: options['viaApp'],
        expiresIn: options['expiresIn'],
      });
    });
  const revoke = connected('revoke')
    .description('revoke a token immediately')
    .argument('<id>', 'token number, as printed at creation')
    .action(async (id: string) => {
      const path = `ops/v1/credentials/${encodeURIComponent(id)}`;
      await callOk(connectionOf(revoke.opts()), path, { method: 'DELETE' });
      printNote(`token ${id} revoked\n`);
    });
  for (const command of [create, list, one, update, remove, token, revoke]) {
    identity.addCommand(command);
  }
  return identity;
}

type Attributes = Readonly<Record<string, unknown>>;

/** Prints only the token to standard output, for scripts, and the rest to standard error. */
export async function makeToken(
  command: Command,
  newCredential: {
    readonly kind: string;
    readonly identity: string;
    readonly viaApp?: string | undefined;
    readonly expiresIn?: string | undefined;
  },
): Promise<void> {
  const { kind, identity, viaApp, expiresIn } = newCredential;
  const json = {
    kind,
    identity,
    ...(viaApp !== undefined && { via_app: viaApp }),
    ...(expiresIn !== undefined && { expires_in: Number(expiresIn) }),
  };
  const response = await callOk(connectionOf(command.opts()), 'ops/v1/credentials', { json });
  const made = Object(await response.json());
  print(`${String(Reflect.get(made, 'token'))}\n`);
  const expiry: unknown = Reflect.get(made, 'expires_at');
  const until = expiry === null ? 'does not expire' : `expires ${String(expiry)}`;
  printNote(
    `token ${String(Reflect.get(made, 'id'))} for ${identity} created (${until}); its value is not shown again\n`,
  );
}

const connected = (name: string): Command => withConnection(new Command(name), { database: false });

const pathOf = (key: string): string => `${API}/${encodeURIComponent(key)}`;

function collect(pair: string, before: Attributes): Attributes {
  const equals = pair.indexOf('=');
  if (equals < 1) throw new CommandFailed(`--set ${pair}: use name=value`, EXIT.usage);
  return { ...before, [pair.slice(0, equals)]: readValue(pair.slice(equals + 1)) };
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function show(response: Promise<Response>): Promise<void> {
  const value: unknown = await (await response).json();
  print(`${JSON.stringify(value, null, 2)}\n`);
}
