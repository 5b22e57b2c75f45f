/** The response, or the reason why no response arrived. */
export type Outcome =
  | {
      readonly kind: 'answered';
      readonly statusCode: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
      /**
       * The body is truncated: it exceeded the limit, or was cut off by the end of the connection or by the
       * deadline.
       */
      readonly isTruncated: boolean;
    }
  | { readonly kind: FailureKind; readonly error: string; readonly statusCode?: number };

export const FAILURE_KINDS = [
  'timed_out',
  'host_unreachable',
  'connection_lost',
  'certificate_refused',
  'tls_failed',
  'not_http',
  'informational_only',
] as const;

export type FailureKind = (typeof FAILURE_KINDS)[number];

export const isSuccess = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' && outcome.statusCode >= 200 && outcome.statusCode <= 299;

/** The connection failed, or was lost before a response. */
export class TransportFailed extends Error {
  override readonly name = 'TransportFailed';
  readonly kind = 'transport_failed';
  readonly failure: FailureKind;
  readonly statusCode: number | undefined;
  constructor(failure: FailureKind, error: unknown, statusCode?: number) {
    super(describe(error), { cause: error });
    this.failure = failure;
    this.statusCode = statusCode;
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' && !error.message.includes(code)
    ? `${code}: ${error.message}`
    : error.message;
}

const CERTIFICATE_CODES =
  /^(?:CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|PATH_LENGTH|INVALID_PURPOSE|ERR_TLS_CERT|HOSTNAME_MISMATCH|ERROR_IN_CERT|CRL_)/;
const NO_ROUTE_CODES =
  /^(?:ENOTFOUND|EAI_|ENODATA|ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL|ENETDOWN|EHOSTDOWN|EINVAL|EACCES)/;

/** Errors of the HTTP client for oversized headers and for contradictory lengths. */
const MALFORMED_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

/** @param duringTls the TCP connection was open, but the TLS handshake was not complete. */
export function toTransportFailed(error: unknown, duringTls: boolean): TransportFailed {
  if (error instanceof TransportFailed) return error;
  const code = String(Reflect.get(Object(error), 'code') ?? '');
  if (CERTIFICATE_CODES.test(code)) return new TransportFailed('certificate_refused', error);
  if (NO_ROUTE_CODES.test(code)) return new TransportFailed('host_unreachable', error);
  if (code === 'ETIMEDOUT') return new TransportFailed('timed_out', error);
  if (duringTls || /^(?:ERR_SSL|EPROTO|ERR_TLS)/.test(code)) {
    return new TransportFailed('tls_failed', error);
  }
  const isParser = error instanceof Error && error.name === 'HTTPParserError';
  if (isParser || MALFORMED_CODES.has(code)) {
    return new TransportFailed('not_http', error);
  }
  return new TransportFailed('connection_lost', error);
}
