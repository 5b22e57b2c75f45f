import type { FastifyReply, FastifyRequest } from 'fastify';
import { NotAcceptable } from '../errors.js';
import { acceptsType, type Coding, chooseCoding } from './negotiation.js';
import { type Coded, isNamedBy, type Reply, type ReplyCache, readyCoding } from './reply-cache.js';

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

const notModified = new WeakMap<Coded, Record<string, string | number>>();

/** Sends a finished reply, or says that the client has it already. */
export function sendReply(
  request: FastifyRequest,
  reply: FastifyReply,
  found: Reply,
  cache: ReplyCache,
): FastifyReply | Promise<FastifyReply> {
  const coding = negotiate(request, 'application/json');
  const ready = readyCoding(found, coding);
  if (ready !== undefined) return sendCoded(request, reply, found, ready);
  return cache.code(found, coding).then((coded) => sendCoded(request, reply, found, coded));
}

/** Throws `NotAcceptable` when the client takes neither `type` nor JSON, or none of the codings. */
export function negotiate({ raw: { headers } }: FastifyRequest, type: string): Coding {
  const { accept } = headers;
  const [bare = ''] = type.split(';', 1);
  if (accept !== undefined && ![bare, 'application/json'].some((one) => acceptsType(accept, one))) {
    throw new NotAcceptable(`only ${bare} is spoken here`);
  }
  const coding = chooseCoding(headers['accept-encoding'] as string | undefined);
  if (coding === undefined) throw new NotAcceptable('codings are br, gzip and identity');
  return coding;
}

function sendCoded(
  request: FastifyRequest,
  reply: FastifyReply,
  found: Reply,
  coded: Coded,
): FastifyReply {
  if (isFresh(request, found)) return writeOut(reply, 304, headersOf304(coded));
  return writeOut(reply, 200, coded.headers, request.method === 'HEAD' ? undefined : coded.bytes);
}

/** The three forms of RFC 9110, 5.6.7; other dates are as good as none. */
const HTTP_DATE =
  /^(\w{3}, \d\d \w{3} \d{4}|\w{6,9}, \d\d-\w{3}-\d\d) [\d:]{8} GMT$|^\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}$/;

/** Whether the client says that it has this already. */
export function isFresh(
  { raw: { headers } }: FastifyRequest,
  found: Pick<Reply, 'etag' | 'lastModifiedMs'>,
): boolean {
  const match = headers['if-none-match'];
  if (match !== undefined) return isNamedBy(match, found.etag);
  const since = headers['if-modified-since'];
  if (since === undefined || !HTTP_DATE.test(since)) return false;
  const sinceMs = Date.parse(since);
  return !Number.isNaN(sinceMs) && Math.floor(found.lastModifiedMs / 1000) * 1000 <= sinceMs;
}

function headersOf304(coded: Coded): Record<string, string | number> {
  let headers = notModified.get(coded);
  if (headers === undefined) {
    headers = { etag: coded.headers['etag'] ?? '' };
    for (const name of KEPT_BY_304) {
      const value = coded.headers[name];
      if (value !== undefined) headers[name] = value;
    }
    notModified.set(coded, headers);
  }
  return headers;
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
