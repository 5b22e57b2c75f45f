/** What came back, or why nothing did. */
export type Outcome =
  | {
      readonly kind: 'answered';
      readonly statusCode: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
    }
  | { readonly kind: FailureKind; readonly error: string; readonly statusCode?: number };

export type FailureKind =
  | 'timed_out'
  | 'host_unreachable'
  | 'connection_lost'
  | 'certificate_refused'
  | 'tls_failed'
  | 'not_http'
  | 'informational_only';

/** Words and code of the record. Source: webhooks, section 5.4. */
export function statusOf(outcome: Outcome): {
  readonly status: string;
  readonly status_code: number;
} {
  switch (outcome.kind) {
    case 'answered': {
      const { statusCode } = outcome;
      const isOk = statusCode >= 200 && statusCode <= 299;
      const status = isOk ? 'OK' : `Invalid HTTP Response: ${statusCode}`;
      return { status, status_code: statusCode };
    }
    case 'informational_only': {
      const code = outcome.statusCode ?? 100;
      return { status: `Invalid HTTP Response: ${code}`, status_code: code };
    }
    case 'timed_out':
      return { status: 'timed out', status_code: 504 };
    case 'host_unreachable':
      return { status: 'failed to connect to host', status_code: 502 };
    case 'connection_lost':
      return { status: 'failed to connect to network', status_code: 502 };
    case 'certificate_refused':
      return {
        status: 'Peer certificate cannot be authenticated with given CA certificates',
        status_code: 502,
      };
    case 'tls_failed':
      return { status: 'SSL connect error', status_code: 502 };
    case 'not_http':
      return { status: 'Invalid HTTP Response: 0', status_code: 502 };
  }
}

export const isSuccess = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' && outcome.statusCode >= 200 && outcome.statusCode <= 299;

/** A connection could not be made, or broke before an answer. */
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

/** Of the HTTP client: headers without end, and two lengths that contradict each other. */
const MALFORMED_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

/** @param duringTls the TCP connection stood and the TLS one did not yet. */
export function failureOf(error: unknown, duringTls: boolean): TransportFailed {
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
