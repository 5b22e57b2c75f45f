import type { HttpHeaders } from '../http/http-request.js';
import type { HeaderList } from '../http/http-response.js';

const NAME = 'x-request-id';
/** A token of RFC 9110, which needs no quotes in log lines and headers. */
const VALID = /^[\w!#$%&'*+.^`|~-]{1,128}$/;

/** Returns the request id from a client or proxy; `undefined` when missing or invalid. */
export function requestIdOf(headers: HttpHeaders): string | undefined {
  const received = headers[NAME];
  return received !== undefined && VALID.test(received) ? received : undefined;
}

/** Adds the request id to the list. Returns the list unchanged when there is none. */
export function withRequestId(list: HeaderList, headers: HttpHeaders): HeaderList {
  const id = requestIdOf(headers);
  return id === undefined ? list : [...list, [NAME, id]];
}
