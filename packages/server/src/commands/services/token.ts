import { Command } from 'commander';
import {
  type Connection,
  call,
  callOk,
  connectionOf,
  errorTextOf,
  failureOf,
  withConnection,
} from '../connection.js';
import { secondsOf } from '../input/time-text.js';
import { CommandFailed, EXIT } from '../output/exit.js';
import { print, tell } from '../output/terminal.js';
import { makeToken } from './identity.js';

const EXAMPLES = `
Examples:
  plinth token create                                the first admin token; needs no other token
  plinth token create ci --expires-in 30d            a named one
  plinth token create --kind personal --user 1   of a user of the platform
  plinth token list
  plinth token delete ci

A token is shown once, when it is made: the server keeps only its hash.`;

/** `plinth token`. */
export function tokenCommand(): Command {
  const token = new Command('token')
    .description('create, regenerate, list and delete tokens')
    .addHelpText('after', EXAMPLES);
  const create = withConnection(new Command('create'), { database: false })
    .description('make the admin token, or with a name another one')
    .argument('[name]', 'name of the token')
    .option('--expires-in <duration>', 'life of a named token: 12h, 30d, ...')
    .option('--kind <kind>', 'a token of the platform instead: personal, installation, ...')
    .option('--user <id>', 'user that it speaks for')
    .option('--installation <id>', 'installation that it speaks for')
    .option('--repository <id>', 'repository that it speaks for')
    .option('--via-app <id>', 'app in whose name it is made')
    .action(async (name: string | undefined) => {
      const { expiresIn, kind, viaApp, ...of } = create.opts<CreateOptions>();
      if (kind !== undefined) {
        const seconds = expiresIn === undefined ? undefined : String(parseSeconds(expiresIn));
        await makeToken(create, { kind, identity: identityOf(of), viaApp, expiresIn: seconds });
        return;
      }
      await createToken(connectionOf(create.opts()), name, expiresIn);
    });
  const regenerate = withConnection(new Command('regenerate'), { database: false })
    .description('replace the admin token; the old one ends at once')
    .action(async () => {
      const path = 'api/v3/configure/token/admin/regenerate';
      await printToken(await callOk(connectionOf(regenerate.opts()), path, { method: 'POST' }));
    });
  const list = withConnection(new Command('list'), { database: false })
    .description('show all tokens, without their secrets')
    .action(async () => {
      const json = { db: '_internal', q: 'SELECT * FROM system.tokens', format: 'pretty' };
      const response = await callOk(connectionOf(list.opts()), 'api/v3/query_sql', { json });
      print(`${await response.text()}\n`);
    });
  const remove = withConnection(new Command('delete'), { database: false })
    .description('end a named token at once')
    .argument('<name>')
    .action(async (name: string) => {
      const options = { method: 'DELETE', query: { token_name: name } };
      await callOk(connectionOf(remove.opts()), 'api/v3/configure/token', options);
      tell(`token ${name} deleted\n`);
    });
  for (const command of [create, regenerate, list, remove]) token.addCommand(command);
  return token;
}

interface CreateOptions {
  readonly expiresIn?: string;
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
  throw new CommandFailed('whose? Say --user, --installation or --repository', EXIT.usage);
}

async function createToken(
  connection: Connection,
  name: string | undefined,
  expiresIn: string | undefined,
): Promise<void> {
  if (name === undefined) {
    if (expiresIn !== undefined) {
      throw new CommandFailed('the admin token does not expire; give the token a name', EXIT.usage);
    }
    const response = await call(connection, 'api/v3/configure/token/admin', { method: 'POST' });
    if (response.status !== 409) return await printToken(await checked(response, connection));
    throw new CommandFailed(
      'this server has its admin token already\n' +
        '  With that token: `plinth token create <name>` makes another, `plinth token regenerate` replaces it.',
    );
  }
  const json = {
    token_name: name,
    ...(expiresIn !== undefined && { expiry_secs: parseSeconds(expiresIn) }),
  };
  await printToken(await callOk(connection, 'api/v3/configure/token/named_admin', { json }));
}

async function checked(response: Response, connection: Connection): Promise<Response> {
  if (response.ok) return response;
  throw failureOf(response.status, errorTextOf(await response.text()), connection);
}

/** The token alone on standard output, so that it can be kept by a script; the rest beside it. */
async function printToken(response: Response): Promise<void> {
  const made = Object(await response.json());
  print(`${String(Reflect.get(made, 'token'))}\n`);
  const expiry: unknown = Reflect.get(made, 'expiry');
  const until = expiry === null ? 'does not expire' : `expires ${String(expiry)}`;
  tell(
    `token ${String(Reflect.get(made, 'name'))} made, ${until}; it is not shown again. Keep it with\n` +
      '  export PLINTH_AUTH_TOKEN=<token>\n',
  );
}

function parseSeconds(text: string): number {
  const seconds = secondsOf(text);
  if (seconds !== undefined) return seconds;
  throw new CommandFailed(`--expires-in ${text}: written like 90m, 12h or 30d`, EXIT.usage);
}
