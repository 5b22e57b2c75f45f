import { type ErrorOf, errorCatalogue } from '../errors/domain-error.js';

/** Errors of a request before a service handles it. */
const TEXTS = {
  /** No credential, or an unknown or expired one. The response does not distinguish these. */
  not_authenticated: 'the request was not authenticated',
  /** The client is authenticated, but lacks the permission. Source: tsdb-http, section 2. */
  not_permitted: 'unauthorized to perform requested action with the token',
  /** The `Authorization` header is malformed. Source: tsdb-http, section 2. */
  credential_malformed:
    "Authorization header was malformed, the request was not in the form of 'Authorization: <auth-scheme> <token>', supported auth-schemes are Bearer, Token and Basic",
  /** The client disconnected while it was sending the body, so it cannot read the response. */
  body_cut: 'the request body is incomplete',
  /** The body did not arrive in time. */
  body_too_slow: 'the request body was sent too slowly',
  /** Each chunk is charged like a chunk of 64 kB. */
  body_chunks_too_small: 'the chunks of the request body are too small; send larger chunks',
  /** The client disconnected while the server waited for it. Nothing was changed, and the client cannot read the response. */
  client_left: 'the client disconnected',
  /** The body exceeds the limit, as received or as decoded. */
  body_too_large: (details: { readonly limitBytes: number }) =>
    `max request size (${details.limitBytes} bytes) exceeded`,
  /** The `content-encoding` is not supported. */
  encoding_unacceptable: (encoding: string) => `unacceptable content-encoding: ${encoding}`,
  gzip_corrupt: (why: string) => `error decoding gzip stream: ${why}`,
  /** A body that must be JSON has another content type or none. */
  content_type_unacceptable: 'unacceptable content-type, expected: application/json',
  /** The body is not JSON, not an object, or exceeds a limit (`nested deeper than 127 levels`). */
  json_unreadable: (reason: 'not_json' | 'not_an_object' | { readonly excess: string }) => {
    if (typeof reason === 'object') return `Problems parsing JSON: ${reason.excess}`;
    return reason === 'not_json' ? 'Problems parsing JSON' : 'Body should be a JSON object';
  },
} as const;

export const requestError = errorCatalogue('RequestError', TEXTS);
export type RequestError<Kind extends keyof typeof TEXTS = keyof typeof TEXTS> = ErrorOf<
  typeof TEXTS,
  Kind
>;
