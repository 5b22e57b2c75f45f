import { writeTokenFile } from '@plinth/identity';
import { isDomainError, NodeFileSystem, SystemClock, SystemRandom } from '@plinth/kernel';
import { CommandFailed, cannotWrite, EXIT } from '@plinth/server/process/command-failed.js';
import { Command } from 'commander';
import { type Connection, callOk, connectionOf, requireOk, withConnection } from '../connection.js';
import { secondsOf } from '../input/duration.js';
import { printQuery, withQueryFormat } from '../output/listing.js';
import { print, printNote } from '../output/terminal.js';
import { createFirstToken } from './claim-code.js';
import { makeToken } from './identity.js';

const EXAMPLES = `
Examples:
  plinth token create                                the first admin token; needs no other token
  plinth token create --claim-code-file /var/lib/plinth/claim-code
                                                     the same, for a server that other machines can reach
  plinth token create ci --expires-in 30d            a named token
  plinth token create --name grafana --permission 'db:*:read' --expiry 1y
                                                     a token that can only read all databases
  plinth token create --kind personal --user 1       a token of a platform user
  plinth token generate --file admin-token.json      a file for "plinth serve --admin-token-file"
  plinth token list
  plinth token delete ci

A token is shown only once, at creation: the server stores only its hash.`;

export function tokenCommand(): Command {
  const token = new Command('token')
    .description('create, regenerate, list and delete tokens')
    .addHelpText('after', EXAMPLES);
  const regenerate = withConnection(new Command('regenerate'), { database: false })
    .description('replace the admin token and revoke the old one immediately')
    .action(async () => {
      const path = 'api/v3/configure/token/admin/regenerate';
      await printToken(await callOk(connectionOf(regenerate.opts()), path, { method: 'POST' }));
    });
  for (const command of [creating(), generating(), regenerate, listing(), deleting()]) {
    token.addCommand(command);
  }
  return token;
}

function creating(): Command {
  const create = withConnection(new Command('create'), { database: false })
    .description('create the admin token, or a named token with optional permissions')
    .argument('[name]', 'name of the token')
    .option('--name <name>', 'name of the token (same as the argument)')
    .option('--admin', 'create an admin token (default without permissions)')
    .option(
      '--permission <permission>',
      'db:NAME,...:read,write (NAME may be *) or system:health,metrics:read; repeatable',
      (text: string, before: readonly string[] = []) => [...before, text],
    )
    .option('--expires-in <duration>', 'lifetime of a named token: 12h, 30d, 1y, ...')
    .option('--expiry <duration>', 'same as --expires-in')
    .option(
      '--kind <kind>',
      'create a GitHub-compatible token instead: personal, installation, ...',
    )
    .option('--user <id>', 'user of the token')
    .option('--installation <id>', 'installation of the token')
    .option('--repository <id>', 'repository of the token')
    .option('--via-app <id>', 'app that issues the token')
    .option(
      '--claim-code-file <path>',
      'file with the claim code for the first admin token; - reads standard input',
    )
    .action(async (argument: string | undefined) => {
      const { kind, viaApp, permission, claimCodeFile, ...of } = create.opts<CreateOptions>();
      const { admin = false } = of;
      const name = oneOf(argument, of.name, 'name');
      const expiresIn = oneOf(of.expiresIn, of.expiry, 'lifetime');
      if (kind !== undefined) {
        const seconds = expiresIn === undefined ? undefined : String(parseSeconds(expiresIn));
        await makeToken(create, { kind, identity: identityOf(of), viaApp, expiresIn: seconds });
        return;
      }
      if (admin && permission !== undefined) {
        throw new CommandFailed(
          'admin tokens have all permissions; omit --admin or --permission',
          EXIT.usage,
        );
      }
      await createToken(connectionOf(create.opts()), {
        ...{ name, expiresIn, permission, claimCodeFile },
      });
    });
  return create;
}

/** Works without a running server, for a server that requires an admin token at its first start. */
function generating(): Command {
  const generate = new Command('generate')
    .description('write a new admin token to a file for `serve --admin-token-file`')
    .requiredOption('--file <path>', 'file to create; only its owner can read it')
    .option('--name <name>', 'name of the token (default: _admin)')
    .option('--expires-in <duration>', 'lifetime of the token: 12h, 30d, 1y, ...')
    .option('--expiry <duration>', 'same as --expires-in')
    .action(async () => {
      const { file: path, name, ...of } = generate.opts<GenerateOptions>();
      const life = oneOf(of.expiresIn, of.expiry, 'lifetime');
      const clock = new SystemClock();
      const expiryMs = life && { expiryMs: clock.nowMs() + parseSeconds(life) * 1000 };
      await writeTokenFile(new NodeFileSystem(), new SystemRandom(clock), {
        ...{ path, ...(name !== undefined && { name }), ...expiryMs },
      }).catch((error: unknown) => {
        if (isDomainError(error)) throw new CommandFailed(error.message, EXIT.usage);
        throw cannotWrite(path, error);
      });
      printNote(`token written to ${path}; start the server with --admin-token-file ${path}\n`);
    });
  return generate;
}

function listing(): Command {
  const list = withQueryFormat(withConnection(new Command('list'), { database: false }))
    .description('list tokens, without their secrets')
    .action(() => printQuery(list, { db: '_internal', q: 'SELECT * FROM system.tokens' }));
  return list;
}

function deleting(): Command {
  const remove = withConnection(new Command('delete'), { database: false })
    .description('revoke a named token immediately')
    .argument('<name>')
    .action(async (name: string) => {
      const options = { method: 'DELETE', query: { token_name: name } };
      await callOk(connectionOf(remove.opts()), 'api/v3/configure/token', options);
      printNote(`token ${name} deleted\n`);
    });
  return remove;
}

function oneOf(
  first: string | undefined,
  second: string | undefined,
  what: string,
): string | undefined {
  if (first !== undefined && second !== undefined && first !== second) {
    throw new CommandFailed(
      `conflicting values for the ${what}: "${first}" and "${second}"; use only one of them`,
      EXIT.usage,
    );
  }
  return first ?? second;
}

/** Parses `db:a,b:read,write`. The server validates names and actions. */
function permissionOf(text: string): object {
  const [, resource_type, names = '', actions = ''] = /^([^:]+):([^:]+):([^:]+)$/.exec(text) ?? [];
  if (resource_type === undefined) {
    throw new CommandFailed(`--permission ${text}: use db:NAME,NAME:read,write`, EXIT.usage);
  }
  const listed = (list: string): readonly string[] => list.split(',').map((item) => item.trim());
  return { resource_type, resource_identifier: listed(names), actions: listed(actions) };
}

interface GenerateOptions {
  readonly file: string;
  readonly name?: string;
  readonly expiresIn?: string;
  readonly expiry?: string;
}

interface CreateOptions {
  readonly name?: string;
  readonly admin?: boolean;
  readonly permission?: readonly string[];
  readonly expiresIn?: string;
  readonly expiry?: string;
  readonly claimCodeFile?: string;
  readonly kind?: string;
  readonly viaApp?: string;
  readonly user?: string;
  readonly installation?: string;
  readonly repository?: string;
}

function identityOf({ user, installation, repository }: CreateOptions): string {
  if (user !== undefined) return `user:${user}`;
  if (installation !== undefined) return `installation:${installation}`;
  if (repository !== undefined) return `repo:${repository}`;
  throw new CommandFailed(
    'no token owner given; use --user, --installation or --repository',
    EXIT.usage,
  );
}

async function createToken(
  connection: Connection,
  newToken: {
    readonly name: string | undefined;
    readonly expiresIn: string | undefined;
    readonly permission: readonly string[] | undefined;
    readonly claimCodeFile: string | undefined;
  },
): Promise<void> {
  const { name, expiresIn, permission, claimCodeFile } = newToken;
  if (name !== undefined && claimCodeFile !== undefined) {
    throw new CommandFailed(
      '--claim-code-file is only for the first admin token; omit the name',
      EXIT.usage,
    );
  }
  if (name === undefined) {
    if (permission !== undefined)
      throw new CommandFailed('--permission requires a token name; use --name', EXIT.usage);
    if (expiresIn !== undefined) {
      throw new CommandFailed(
        'the admin token cannot expire; use --name to create a named token',
        EXIT.usage,
      );
    }
    const response = await createFirstToken(connection, claimCodeFile);
    if (response.status !== 409) return await printToken(await requireOk(response, connection));
    throw new CommandFailed(
      'the server already has an admin token\n' +
        '  With this token, use `plinth token create <name>` to create another token, or `plinth token regenerate` to replace it.',
    );
  }
  const path =
    permission === undefined
      ? 'api/v3/configure/token/named_admin'
      : 'api/v3/enterprise/configure/token';
  const json = {
    token_name: name,
    ...(permission !== undefined && { permissions: permission.map(permissionOf) }),
    ...(expiresIn !== undefined && { expiry_secs: parseSeconds(expiresIn) }),
  };
  await printToken(await callOk(connection, path, { json }));
}

/** Prints only the token to standard output, for scripts, and the rest to standard error. */
async function printToken(response: Response): Promise<void> {
  const made = Object(await response.json());
  print(`${String(Reflect.get(made, 'token'))}\n`);
  const expiry: unknown = Reflect.get(made, 'expiry');
  const until = expiry === null ? 'does not expire' : `expires ${String(expiry)}`;
  printNote(
    `token ${String(Reflect.get(made, 'name'))} created (${until}); its value is not shown again. Store the value with\n` +
      '  export PLINTH_AUTH_TOKEN=<token>\n',
  );
}

function parseSeconds(text: string): number {
  const seconds = secondsOf(text);
  if (seconds !== undefined) return seconds;
  throw new CommandFailed(
    `"${text}" is not a valid duration; use a value such as 90m, 12h, 30d or 1y`,
    EXIT.usage,
  );
}
