import type { HeaderList } from '../http/http-answer.js';
import type { HttpHeaders } from '../http/http-request.js';

const NAME = 'x-request-id';
/** A token of RFC 9110: it stands in log lines and headers without quotes. */
const VALID = /^[\w!#$%&'*+.^`|~-]{1,128}$/;

/** The id that a client or proxy gave its request; `undefined`: none, or one that is not valid. */
export function requestIdOf(headers: HttpHeaders): string | undefined {
  const given = headers[NAME];
  return given !== undefined && VALID.test(given) ? given : undefined;
}

/** The same list where the request has no id. */
export function withRequestId(list: HeaderList, headers: HttpHeaders): HeaderList {
  const id = requestIdOf(headers);
  return id === undefined ? list : [...list, [NAME, id]];
}
