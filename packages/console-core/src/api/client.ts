import { connection } from './connection.js';
import { fieldIn, messageOf, Problem } from './problem.js';
import { session } from './session.js';

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** An object is sent as JSON, and a string is sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** If true, no token is sent, for requests that work before the sign-in. */
  readonly isOpen?: boolean;
}

/** Returns the URL of a path with its query parameters. */
export function urlOf(path: string, query: Call['query'] = {}): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return parameters.length === 0 ? path : `${path}?${new URLSearchParams(parameters)}`;
}

export const authorization = (): Readonly<Record<string, string>> =>
  session.token === '' ? {} : { authorization: `Bearer ${session.token}` };

/** Throws `Problem`. */
export async function send(path: string, call: Call = {}): Promise<Response> {
  const { method = call.body === undefined ? 'GET' : 'POST', body, isOpen = false } = call;
  const isText = typeof body === 'string';
  const headers = {
    ...(isOpen ? {} : authorization()),
    ...(body !== undefined && { 'content-type': isText ? 'text/plain' : 'application/json' }),
    ...call.headers,
  };
  const text = body === undefined ? undefined : isText ? body : JSON.stringify(body);
  const url = urlOf(path, call.query);
  const curl = curlOf({ method, url, headers, body: text });
  let response: Response;
  try {
    response = await fetch(url, {
      ...{ method, headers, cache: 'no-store' },
      ...(text !== undefined && { body: text }),
      ...(call.signal && { signal: call.signal }),
    });
  } catch (error) {
    if (call.signal?.aborted) throw error;
    connection.noteUnreachable();
    throw new Problem('the server is unreachable', { status: 0, curl });
  }
  connection.noteReachable();
  if (response.ok) return response;
  if (response.status === 401 && !isOpen) session.refused();
  const { status } = response;
  const answer = await response.text();
  const field = fieldIn(answer);
  throw new Problem(messageOf(answer, status), { status, curl, body: answer, field });
}

export async function sendForJson<T>(path: string, call: Call = {}): Promise<T> {
  return (await (await send(path, call)).json()) as T;
}

/** Returns the result of a request, or `undefined` for status 404. */
export async function unlessMissing<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined;
    throw error;
  }
}

/** Copied commands contain shell variables instead of secrets. */
const SECRET_HEADERS: ReadonlyMap<string, string> = new Map([
  ['authorization', '"Authorization: Bearer $PLINTH_TOKEN"'],
  ['x-plinth-claim-code', '"X-Plinth-Claim-Code: $CLAIM_CODE"'],
]);

/** Returns the same request as a curl command. The token is a shell variable. */
export function curlOf(options: {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  const parts = [`curl -X ${options.method} ${quoted(new URL(options.url, location.origin).href)}`];
  for (const [name, value] of Object.entries(options.headers)) {
    parts.push(`-H ${SECRET_HEADERS.get(name) ?? quoted(`${name}: ${value}`)}`);
  }
  if (options.body !== undefined) parts.push(`--data-binary ${quoted(options.body)}`);
  return parts.join(' \\\n  ');
}
