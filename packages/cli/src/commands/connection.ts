import { readFile } from 'node:fs/promises';
import { isObject, messageOf } from '@plinth/kernel';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { type Command, Option } from 'commander';
import { reasonOf, send, wantsTls } from './http-call.js';

export interface Connection {
  readonly host: string;
  readonly database?: string;
  readonly token?: string;
  /** File with trusted certificates, in place of the system's. */
  readonly tlsCa?: string;
}

export interface CallOptions {
  readonly method?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** Form fields, for values that must not appear in proxy logs. */
  readonly form?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
}

/** The server's error message if no credential is required and a page could have sent the request. */
const REFUSED_HOST = /^the host \S+ is not allowed/;
const DEFAULT_HOST = 'http://127.0.0.1:8181';

/** Adds `--host`, `--token`, `--tls-ca` and, where it makes sense, `--database`. */
export function withConnection(command: Command, options: { readonly database: boolean }): Command {
  command.addOption(
    new Option('-H, --host <url>', 'server URL').default(
      fromEnvironment('HOST_URL') ?? DEFAULT_HOST,
    ),
  );
  if (options.database) {
    command.addOption(
      new Option('-d, --database <name>', 'database').default(fromEnvironment('DATABASE_NAME')),
    );
  }
  command.addOption(
    new Option(
      '--tls-ca <file>',
      'file with the trusted certificate, instead of the system certificates',
    ).default(fromEnvironment('TLS_CA')),
  );
  // The environment is read later, so that help never shows a token.
  return command.addOption(new Option('--token <token>', 'token, if the server requires one'));
}

export function connectionOf(options: {
  readonly host?: unknown;
  readonly database?: unknown;
  readonly token?: unknown;
  readonly tlsCa?: unknown;
}): Connection {
  const host = normaliseHost(String(options.host));
  const database = textOf(options.database);
  const token = textOf(options.token) ?? tokenFromEnvironment();
  const tlsCa = textOf(options.tlsCa);
  return {
    host,
    ...(database !== undefined && { database }),
    ...(token !== undefined && { token }),
    ...(tlsCa !== undefined && { tlsCa }),
  };
}

export function databaseOf({ database }: Connection): string {
  if (database !== undefined) return database;
  throw new CommandFailed(
    'no database given; use --database <name> or set PLINTH_DATABASE_NAME',
    EXIT.usage,
  );
}

/** Sends one request and returns the response with any status. Throws `CommandFailed` with a fix if the connection fails. */
export async function call(
  { host, token, tlsCa }: Connection,
  path: string,
  options: CallOptions = {},
): Promise<Response> {
  const ca = tlsCa === undefined ? undefined : await readCertificate(tlsCa);
  const url = new URL(path, `${host}/`);
  for (const [name, value] of Object.entries(options.query ?? {}))
    url.searchParams.set(name, value);
  const headers = new Headers(options.headers);
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  const { json, form } = options;
  const body =
    json !== undefined
      ? JSON.stringify(json)
      : form
        ? `${new URLSearchParams(form)}`
        : options.body;
  if (form !== undefined) headers.set('content-type', 'application/x-www-form-urlencoded');
  else if (json !== undefined) headers.set('content-type', 'application/json');
  else if (body !== undefined) headers.set('content-type', 'text/plain; charset=utf-8');
  try {
    return await send(url, {
      method: options.method ?? (body === undefined ? 'GET' : 'POST'),
      headers,
      body,
      ca,
      signal: options.signal,
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    const { why, advice } = reasonOf(error, url);
    throw new CommandFailed(`cannot reach ${host}: ${why}\n  ${advice}`, EXIT.unreachable);
  }
}

/** Like `call`, but throws `CommandFailed` with the server's message for an error response. */
export async function callOk(
  connection: Connection,
  path: string,
  options: CallOptions = {},
): Promise<Response> {
  return await requireOk(await call(connection, path, options), connection);
}

/** Returns a successful response, and throws like `callOk` for any other. */
export async function requireOk(response: Response, connection: Connection): Promise<Response> {
  if (response.ok) return response;
  throw failureOf(response.status, errorTextOf(await response.text()), connection);
}

/** Streams the response body. */
export async function* bytesOf(response: Response): AsyncGenerator<Uint8Array> {
  if (response.body !== null) yield* response.body;
}

/** Returns the failure for an error response, with a fix that depends on the status. */
export function failureOf(
  status: number,
  text: string,
  { host, token }: Connection,
): CommandFailed {
  if (host.startsWith('http:') && wantsTls(status, text)) {
    const secure = host.replace('http:', 'https:');
    return new CommandFailed(
      `cannot reach ${host}: the port uses TLS\n  Use --host ${secure}.`,
      EXIT.unreachable,
    );
  }
  if (status === 401 && token === undefined) {
    return new CommandFailed(
      'the server requires a token\n' +
        '  Create the first token with `plinth token create`, then use --token or PLINTH_AUTH_TOKEN.',
      EXIT.unauthenticated,
    );
  }
  if (status === 403 && REFUSED_HOST.test(text)) {
    return new CommandFailed(
      `the server rejected the host name in --host (${text})\n` +
        '  After you change the setting, restart the server. The token and the claim code are not the cause.',
    );
  }
  if (status === 403) {
    return new CommandFailed(
      `permission denied by the server (${text})\n` +
        '  The token lacks the required permission. To show permissions, run `plinth token list` with an admin token.',
      EXIT.unauthenticated,
    );
  }
  if (status === 401) {
    return new CommandFailed(
      `the server rejected the token (${text})\n` +
        '  Check that the token is complete, has not expired and was created on this server. `plinth token --help` shows how to create another token.',
      EXIT.unauthenticated,
    );
  }
  return new CommandFailed(`the server returned ${status}: ${text}`);
}

/** Returns the error message of a JSON body (`error`, `error.message` or `message`), or the text itself. */
export function errorTextOf(text: string): string {
  try {
    const body = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
    const { error, errors } = body;
    if (typeof error === 'string') return error;
    const message = (isObject(error) ? error['message'] : undefined) ?? body['message'];
    if (typeof message === 'string') return message + detailsOf(errors);
  } catch {
    // Not JSON, for example from a proxy; the text itself is the message.
  }
  return text.trim().slice(0, 500) || 'empty response';
}

/** Formats the errors of single fields, which operator endpoints return. */
function detailsOf(errors: unknown): string {
  if (!Array.isArray(errors)) return '';
  const details = errors.map((each: unknown) => {
    const { field, code, message } = Object(each) as Readonly<Record<string, unknown>>;
    return typeof message === 'string' ? message : `${String(field)}: ${String(code)}`;
  });
  return ` (${details.join('; ')})`;
}

async function readCertificate(file: string): Promise<Buffer> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw new CommandFailed(`--tls-ca: cannot read ${file}: ${messageOf(error)}`, EXIT.usage);
  }
  // Node accepts any file here, and then trusts no certificate.
  if (/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/.test(bytes.toString('latin1'))) return bytes;
  throw new CommandFailed(`--tls-ca: no PEM certificate found in ${file}`, EXIT.usage);
}

const tokenFromEnvironment = (): string | undefined =>
  textOf(process.env['PLINTH_AUTH_TOKEN']) ??
  textOf(process.env['PLINTH_TOKEN']) ??
  textOf(process.env['INFLUXDB3_AUTH_TOKEN']);

function fromEnvironment(name: string): string | undefined {
  return textOf(process.env[`PLINTH_${name}`]) ?? textOf(process.env[`INFLUXDB3_${name}`]);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function normaliseHost(text: string): string {
  const url = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!URL.canParse(url)) {
    throw new CommandFailed(
      `--host "${text}" is not a valid server URL; use a URL such as ${DEFAULT_HOST}`,
      EXIT.usage,
    );
  }
  return url.replace(/\/+$/, '');
}
