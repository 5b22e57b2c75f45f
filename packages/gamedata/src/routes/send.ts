import type { FastifyReply, FastifyRequest } from 'fastify';
import { NotAcceptable } from '../errors.js';
import { acceptsType, type Coding, chooseCoding } from './negotiation.js';
import { type Coded, isNamedBy, type Reply, type ReplyCache, readyCoding } from './reply-cache.js';

/** What decides how a finished reply is sent. By names in lower case. */
export interface AskedHeaders {
  readonly accept?: string | undefined;
  readonly 'accept-encoding'?: string | string[] | undefined;
  readonly 'if-none-match'?: string | undefined;
  readonly 'if-modified-since'?: string | undefined;
}

/** An answer whose headers and bytes are finished. */
export interface Finished {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly bytes: Buffer | undefined;
}

/** Headers of a reply that a 304 carries, too. */
const KEPT_BY_304 = [
  'cache-control',
  'vary',
  'x-data-version',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'cross-origin-resource-policy',
  'x-content-type-options',
  'last-modified',
] as const;

interface Forms {
  readonly whole: Finished;
  /** Made when first asked for: most replies are asked for once. */
  unchanged?: Finished;
}
const formsOf = new WeakMap<Coded, Forms>();

/**
 * The finished reply, or that the client has it already. The same object as long as the reply is kept. Throws as
 * `negotiate` does.
 */
export function finish(
  headers: AskedHeaders,
  found: Reply,
  cache: ReplyCache,
): Finished | Promise<Finished> {
  const coding = negotiate(headers, 'application/json');
  const ready = readyCoding(found, coding);
  if (ready !== undefined) return formFor(headers, found, ready);
  return cache.code(found, coding).then((coded) => formFor(headers, found, coded));
}

function formFor(headers: AskedHeaders, found: Reply, coded: Coded): Finished {
  let forms = formsOf.get(coded);
  if (forms === undefined) {
    forms = { whole: { status: 200, headers: coded.headers, bytes: coded.bytes } };
    formsOf.set(coded, forms);
  }
  if (!isFresh(headers, found)) return forms.whole;
  forms.unchanged ??= { status: 304, headers: headersOf304(coded), bytes: undefined };
  return forms.unchanged;
}

function headersOf304(coded: Coded): Record<string, string | number> {
  const headers: Record<string, string | number> = { etag: coded.headers['etag'] ?? '' };
  for (const name of KEPT_BY_304) {
    const value = coded.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

/** Throws `NotAcceptable` when the client takes neither `type` nor JSON, or none of the codings. */
export function negotiate(headers: AskedHeaders, type: string): Coding {
  const { accept } = headers;
  const [bare = ''] = type.split(';', 1);
  if (accept !== undefined && ![bare, 'application/json'].some((one) => acceptsType(accept, one))) {
    throw new NotAcceptable(`only ${bare} is spoken here`);
  }
  const coding = chooseCoding(headers['accept-encoding'] as string | undefined);
  if (coding === undefined) throw new NotAcceptable('codings are br, gzip and identity');
  return coding;
}

/** The three forms of RFC 9110, 5.6.7; other dates are as good as none. */
const HTTP_DATE =
  /^(\w{3}, \d\d \w{3} \d{4}|\w{6,9}, \d\d-\w{3}-\d\d) [\d:]{8} GMT$|^\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}$/;

/** Whether the client says that it has this already. */
export function isFresh(
  headers: AskedHeaders,
  found: Pick<Reply, 'etag' | 'lastModifiedMs'>,
): boolean {
  const match = headers['if-none-match'];
  if (match !== undefined) return isNamedBy(match, found.etag);
  const since = headers['if-modified-since'];
  if (since === undefined || !HTTP_DATE.test(since)) return false;
  const sinceMs = Date.parse(since);
  return !Number.isNaN(sinceMs) && Math.floor(found.lastModifiedMs / 1000) * 1000 <= sinceMs;
}

export function sendFinished(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, bytes }: Finished,
): FastifyReply {
  return writeOut(reply, status, headers, request.method === 'HEAD' ? undefined : bytes);
}

/** Past the framework's serialising and hooks, which cost as much as all the rest of a cached reply. */
export function writeOut(
  reply: FastifyReply,
  status: number,
  headers: Readonly<Record<string, string | number>>,
  bytes?: Uint8Array,
): FastifyReply {
  // What others put on the reply before (the limiter, a server that drains) stays.
  const before = reply.getHeaders();
  const isAlone = Object.keys(before).length === 0;
  const all = isAlone ? headers : { ...(before as Record<string, string | number>), ...headers };
  reply.hijack();
  reply.raw.writeHead(status, all);
  if (bytes === undefined) reply.raw.end();
  else reply.raw.end(bytes);
  return reply;
}
