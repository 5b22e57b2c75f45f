import { type ErrorOf, errorCatalogue } from '../errors/domain-error.js';

/** What a request to any service can be refused for before the service looks at it. */
const TEXTS = {
  /** No credential, or one that is unknown or has expired: the two are not told apart to the client. */
  not_authenticated: 'the request was not authenticated',
  /** Who asks is known, and may not do this. Source: tsdb-http, section 2. */
  not_permitted: 'unauthorized to perform requested action with the token',
  /** There is an `Authorization` header, but it cannot be read. Source: tsdb-http, section 2. */
  credential_malformed:
    "Authorization header was malformed, the request was not in the form of 'Authorization: <auth-scheme> <token>', supported auth-schemes are Bearer, Token and Basic",
  /** The client went away within its body; nobody is left to read the answer. */
  body_cut: 'the request body ended early',
  /** It did not come in time. */
  body_too_slow: 'the request body came too slowly',
  /** Each piece costs as much as one of 64 kB. */
  body_in_crumbs: 'the request body comes in pieces of a few bytes; send larger ones',
  /** The client went away while it was waited for; nothing was changed, and nobody is left to read the answer. */
  client_left: 'the client has left',
  /** The body, as received or as decoded, has more bytes than the limit. */
  body_too_large: (at: { readonly limitBytes: number }) =>
    `max request size (${at.limitBytes} bytes) exceeded`,
  /** A body says that it is encoded in a way that is not known here. */
  encoding_unacceptable: (encoding: string) => `unacceptable content-encoding: ${encoding}`,
  gzip_corrupt: (why: string) => `error decoding gzip stream: ${why}`,
  /** A body that has to be JSON says that it is something else, or nothing. */
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
