import { writeFile } from 'node:fs/promises';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command } from 'commander';
import { type Connection, callOk, connectionOf, withConnection } from '../connection.js';
import { readTextInput } from '../input/text-input.js';
import { printResponse, printRows, withFormat } from '../output/listing.js';
import { print, printNote } from '../output/terminal.js';
import { APPS, appOf } from './named.js';
import { allItems, collected, type Item } from './pages.js';

const EXAMPLES = `
Examples:
  plinth app create --name ci --webhook-url https://ci.example.com/hook --generate-secret --events push,issues --key-out ci.pem
  plinth app list
  plinth app update ci --content-type form
  plinth app rotate-secret 1 --overlap 24h

An app is given by id, client id or unique name. Its private key is shown only once, at creation.`;

interface WebhookOptions {
  readonly webhookUrl?: string;
  readonly secret?: string;
  readonly generateSecret?: boolean;
  readonly events?: string;
  readonly contentType?: string;
  readonly insecureSsl?: boolean;
  readonly active?: boolean;
  readonly ordering?: string;
  readonly standardWebhooks?: string;
  readonly retry?: string;
}

export function appCommand(): Command {
  const app = new Command('app')
    .description('register apps and manage their keys and webhooks')
    .addHelpText('after', EXAMPLES);
  for (const command of [
    createCommand(),
    listCommand(),
    showCommand(),
    updateCommand(),
    deleteCommand(),
    rotateCommand(),
    addKeyCommand(),
    removeKeyCommand(),
    ...['ping', 'suspend', 'unsuspend'].map(verbCommand),
  ]) {
    app.addCommand(command);
  }
  return app;
}

const pathOf = async (connection: Connection, name: string, rest = ''): Promise<string> =>
  `${APPS}/${encodeURIComponent(await appOf(connection, name))}${rest}`;

function withWebhook(command: Command): Command {
  return command
    .option('--webhook-url <url>', 'URL that receives the deliveries')
    .option('--secret <text>', 'secret that signs the deliveries')
    .option('--generate-secret', 'generate a secret and show it once')
    .option('--events <list>', 'comma-separated subscriptions: issues,push.* or *')
    .option('--content-type <type>', 'json or form')
    .option('--insecure-ssl', "do not verify the receiver's certificate")
    .option('--ordering <mode>', 'none, or key for strict order per ordering key')
    .option('--standard-webhooks <kind>', 'off, hmac or ed25519')
    .option('--retry <policy>', 'none, standard, or seconds between attempts: 5,60,600')
    .option('--no-active', 'disable the webhook');
}

function createCommand(): Command {
  const command = withConnection(new Command('create'), { database: false })
    .description('register an app')
    .requiredOption('--name <name>', 'app name')
    .option('--public-key <file>', 'PEM file with a public RSA key (default: generate a key pair)')
    .option('--key-out <file>', 'write the private key to a file instead of printing it');
  return withWebhook(command).action(async () => {
    const options = command.opts<WebhookOptions & Record<string, string | undefined>>();
    const { webhook, secret } = await webhookOf(options, true);
    const json = {
      name: options['name'],
      ...(webhook !== undefined && { webhook }),
      ...(options['publicKey'] !== undefined && {
        public_key: await readTextInput(options['publicKey']),
      }),
    };
    const made = await responseOf(connectionOf(command.opts()), APPS, { json });
    await printKey(made, options['keyOut']);
    printJson(made);
    if (secret !== undefined) printNote(`secret (not shown again): ${secret}\n`);
  });
}

function listCommand(): Command {
  const command = withFormat(
    withConnection(new Command('list'), { database: false }).description('list apps'),
  );
  return command.action(async () => {
    const apps = allItems(connectionOf(command.opts()), APPS, ({ id }) => id);
    printRows(command, await collected(apps), {
      id: ({ id }) => id,
      'client id': ({ client_id }) => client_id,
      name: ({ name }) => name,
      state: stateOf,
      url: ({ hook }) => fieldsOf(fieldsOf(hook)['config'])['url'],
      events: ({ hook }) => fieldsOf(hook)['events'],
    });
  });
}

function showCommand(): Command {
  const command = withFormat(
    withConnection(new Command('show'), { database: false })
      .description('show an app with its keys and webhook')
      .argument('<app>'),
  );
  return command.action(async (name: string) => {
    const connection = connectionOf(command.opts());
    await printResponse(command, await callOk(connection, await pathOf(connection, name)));
  });
}

function updateCommand(): Command {
  const command = withConnection(new Command('update'), { database: false })
    .description('update an app or its webhook')
    .argument('<app>')
    .option('--name <name>', 'new name')
    .option('--active', 'enable the webhook');
  return withWebhook(command).action(async (app: string) => {
    const options = command.opts<WebhookOptions & { readonly name?: string }>();
    const isActiveGiven = command.getOptionValueSource('active') === 'cli';
    const { webhook, secret } = await webhookOf(options, isActiveGiven);
    const json = {
      ...(options.name !== undefined && { name: options.name }),
      ...(webhook !== undefined && { webhook }),
    };
    if (Object.keys(json).length === 0)
      throw new CommandFailed('no changes given; see `plinth app update --help`', EXIT.usage);
    const method = 'PATCH';
    const connection = connectionOf(command.opts());
    printJson(await responseOf(connection, await pathOf(connection, app), { method, json }));
    if (secret !== undefined) printNote(`secret (not shown again): ${secret}\n`);
  });
}

function deleteCommand(): Command {
  const command = withConnection(new Command('delete'), { database: false })
    .description('delete an app and cancel its queued deliveries')
    .argument('<app>');
  return command.action(async (name: string) => {
    const connection = connectionOf(command.opts());
    await callOk(connection, await pathOf(connection, name), { method: 'DELETE' });
    printNote(`app ${name} deleted\n`);
  });
}

function rotateCommand(): Command {
  const command = withConnection(new Command('rotate-secret'), { database: false })
    .description('rotate the webhook secret; the old one stays valid during the overlap')
    .argument('<app>')
    .option('--secret <text>', 'new secret (default: generated)')
    .option('--overlap <duration>', 'how long the old secret stays valid', '24h')
    .option('--sign-with <which>', 'secret that signs during the overlap: new or old', 'new');
  return command.action(async (name: string) => {
    const { secret, overlap, signWith } = command.opts<Record<string, string>>();
    const json = {
      ...(secret !== undefined && { secret }),
      overlap_seconds: secondsOf(overlap ?? ''),
      sign_with: signWith,
    };
    const connection = connectionOf(command.opts());
    const path = await pathOf(connection, name, '/secret/rotate');
    printJson(await responseOf(connection, path, { json }));
  });
}

function addKeyCommand(): Command {
  const command = withConnection(new Command('add-key'), { database: false })
    .description('add a key')
    .argument('<app>')
    .option('--public-key <file>', 'PEM file with a public RSA key (default: generate a key pair)')
    .option('--key-out <file>', 'write the private key to a file instead of printing it');
  return command.action(async (name: string) => {
    const { publicKey, keyOut } = command.opts<Record<string, string | undefined>>();
    const json = publicKey === undefined ? {} : { public_key: await readTextInput(publicKey) };
    const connection = connectionOf(command.opts());
    const made = await responseOf(connection, await pathOf(connection, name, '/keys'), { json });
    await printKey(made, keyOut);
    printJson(made);
  });
}

function removeKeyCommand(): Command {
  const command = withConnection(new Command('remove-key'), { database: false })
    .description('remove a key; the last key of an app cannot be removed')
    .argument('<app>')
    .argument('<key-id>');
  return command.action(async (name: string, key: string) => {
    const connection = connectionOf(command.opts());
    const path = await pathOf(connection, name, `/keys/${encodeURIComponent(key)}`);
    await callOk(connection, path, { method: 'DELETE' });
    printNote(`key ${key} removed\n`);
  });
}

function verbCommand(verb: string): Command {
  const descriptions: Readonly<Record<string, string>> = {
    ping: 'send a ping event to the webhook',
    suspend: 'suspend an app and pause its deliveries',
    unsuspend: 'unsuspend an app and resume its deliveries',
  };
  const results: Readonly<Record<string, string>> = {
    ping: 'ping event queued',
    suspend: 'app suspended',
    unsuspend: 'app unsuspended',
  };
  const command = withConnection(new Command(verb), { database: false })
    .description(descriptions[verb] ?? '')
    .argument('<app>');
  return command.action(async (name: string) => {
    const connection = connectionOf(command.opts());
    await callOk(connection, await pathOf(connection, name, `/${verb}`), { method: 'POST' });
    printNote(`${results[verb] ?? verb}\n`);
  });
}

async function webhookOf(
  options: WebhookOptions,
  withActive: boolean,
): Promise<{ readonly webhook: object | undefined; readonly secret: string | undefined }> {
  const { generateSecret, secret } = options;
  const { randomBytes } = await import('node:crypto');
  const made = generateSecret === true ? randomBytes(32).toString('base64url') : undefined;
  const webhook = {
    ...(options.webhookUrl !== undefined && { url: options.webhookUrl }),
    ...((made ?? secret) !== undefined && { secret: made ?? secret }),
    ...(options.events !== undefined && {
      events: options.events.split(',').map((name) => name.trim()),
    }),
    ...(options.contentType !== undefined && { content_type: options.contentType }),
    ...(options.insecureSsl === true && { insecure_ssl: '1' }),
    ...(options.ordering !== undefined && { ordering: options.ordering }),
    ...(options.standardWebhooks !== undefined && { standard_webhooks: options.standardWebhooks }),
    ...(options.retry !== undefined && { retry: retryOf(options.retry) }),
    ...(withActive && options.active !== undefined && { active: options.active }),
  };
  return { webhook: Object.keys(webhook).length === 0 ? undefined : webhook, secret: made };
}

function retryOf(text: string): object {
  if (text === 'none' || text === 'standard') return { policy: text };
  return { policy: 'schedule', schedule: text.split(',').map(Number) };
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function secondsOf(text: string): number {
  const [, amount, unit = 's'] = /^(\d+)([smhd]?)$/.exec(text) ?? [];
  if (amount === undefined) {
    throw new CommandFailed(
      `"${text}" is not a valid duration; use a value such as 90m, 12h or 30d`,
      EXIT.usage,
    );
  }
  return Number(amount) * (SECONDS[unit === '' ? 's' : unit] ?? 1);
}

async function responseOf(
  connection: Connection,
  path: string,
  options: { readonly method?: string; readonly json?: unknown } = {},
): Promise<Record<string, unknown>> {
  const response = await callOk(connection, path, options);
  return (await response.json()) as Record<string, unknown>;
}

async function printKey(made: Record<string, unknown>, file: string | undefined): Promise<void> {
  if (file === undefined || typeof made['pem'] !== 'string') return;
  // The key is readable only by its owner, and an existing key file is not overwritten.
  await writeFile(file, made['pem'], { mode: 0o600, flag: 'wx' });
  delete made['pem'];
  printNote(`private key written to ${file}\n`);
}

function printJson(value: unknown): void {
  print(`${JSON.stringify(value, null, 2)}\n`);
}

const fieldsOf = (value: unknown): Item => Object(value) as Item; // Parsed JSON.

function stateOf({ suspended_at, hook }: Item): string {
  if (suspended_at !== null) return 'suspended';
  return fieldsOf(hook)['active'] === false ? 'off' : 'on';
}
