import { chooseCoding, emptyResponse, type HttpHeaders, type HttpResponse } from '@plinth/kernel';
import { gameDataError } from '../errors.js';
import { acceptsType, CODINGS, type Coding } from './negotiation.js';
import { type Coded, isNamedBy, type Reply, type ReplyCache, readyCoding } from './reply-cache.js';

/** Headers that a 304 response has as well. */
const KEPT_BY_304: ReadonlySet<string> = new Set([
  'etag',
  'cache-control',
  'vary',
  'x-data-version',
  'last-modified',
]);

/**
 * Maximum number of responses whose headers are cached as text; one takes as much memory as a short
 * reply.
 */
const MAX_REPEATED_RESPONSES = 4096;

/** Returns repeated responses as the same object, so that their headers can be cached. */
export class RepeatedResponses {
  #responses = new WeakMap<HttpResponse, HttpResponse>();
  #count = 0;

  of(made: HttpResponse): HttpResponse {
    const known = this.#responses.get(made);
    if (known !== undefined) return known;
    // Clearing the map is rare, and cheaper in the usual case than tracking usage.
    if (this.#count >= MAX_REPEATED_RESPONSES) {
      this.#responses = new WeakMap();
      this.#count = 0;
    }
    const response = { ...made, isReused: true };
    this.#responses.set(made, response);
    this.#count += 1;
    return response;
  }
}

/**
 * Returns the reply, or 304 if the client already has it. Returns the same object as long as the
 * reply is cached. Throws like `negotiate`.
 */
export function replyResponse(
  headers: HttpHeaders,
  found: Reply,
  cache: ReplyCache,
): HttpResponse | Promise<HttpResponse> {
  const coding = negotiate(headers, 'application/json', CODINGS);
  const ready = readyCoding(found, coding);
  if (ready !== undefined) return codedResponse(headers, found, ready);
  return cache.code(found, coding).then((coded) => codedResponse(headers, found, coded));
}

function codedResponse(headers: HttpHeaders, found: Reply, coded: Coded): HttpResponse {
  const { whole } = coded;
  if (!isFresh(headers, found)) return whole;
  coded.unchanged ??= emptyResponse(
    304,
    whole.headers.filter(([name]) => KEPT_BY_304.has(name)),
  );
  return coded.unchanged;
}

/**
 * Throws `not_acceptable` when the client accepts neither `type` nor JSON, or none of the codings.
 */
export function negotiate<C extends Coding>(
  headers: HttpHeaders,
  type: string,
  codings: readonly C[],
): C | 'identity' {
  const { accept } = headers;
  const [bare = ''] = type.split(';', 1);
  if (accept !== undefined && ![bare, 'application/json'].some((one) => acceptsType(accept, one))) {
    throw gameDataError('not_acceptable', `no acceptable media type; available: ${bare}`);
  }
  const coding = chooseCoding(headers['accept-encoding'], codings);
  if (coding === undefined) {
    throw gameDataError(
      'not_acceptable',
      `no acceptable content coding; available: ${codings.join(', ')} and identity`,
    );
  }
  return coding;
}

/** The three date formats of RFC 9110, section 5.6.7; other dates are ignored. */
const HTTP_DATE =
  /^(\w{3}, \d\d \w{3} \d{4}|\w{6,9}, \d\d-\w{3}-\d\d) [\d:]{8} GMT$|^\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}$/;

/**
 * Whether the client already has this reply. A date matches only if it equals the date that the
 * server sent.
 * Dates of other versions may be later, because the clocks of nodes differ.
 */
export function isFresh(
  headers: HttpHeaders,
  found: Pick<Reply, 'etag' | 'lastModifiedMs'>,
): boolean {
  const match = headers['if-none-match'];
  if (match !== undefined) return isNamedBy(match, found.etag);
  const since = headers['if-modified-since'];
  if (since === undefined || !HTTP_DATE.test(since)) return false;
  const sinceMs = Date.parse(since.endsWith('GMT') ? since : `${since} GMT`);
  const { lastModifiedMs } = found;
  return lastModifiedMs !== undefined && Math.floor(lastModifiedMs / 1000) * 1000 === sinceMs;
}
