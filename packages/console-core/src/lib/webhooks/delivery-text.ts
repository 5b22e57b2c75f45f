import { countText } from '../units.js';

/** The members of a delivery that the functions below read. */
interface Delivery {
  readonly event: string;
  readonly action: string | null;
  readonly status: string;
  readonly status_code: number;
  readonly attempt: number | null;
  readonly redelivery: boolean;
}

/** Reason phrases of RFC 9110 and RFC 6585, for the codes that receivers usually return. */
const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  301: 'Moved Permanently',
  302: 'Found',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  410: 'Gone',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};
/** Attempts without a response are recorded with these status strings and a code of their own. */
const FAILURES: Readonly<Record<string, string>> = {
  'timed out': 'Timed out',
  'failed to connect to host': 'Host unreachable',
  'failed to connect to network': 'Connection failed',
  'SSL connect error': 'TLS handshake failed',
  'Peer certificate cannot be authenticated with given CA certificates': 'Certificate not trusted',
  'Invalid HTTP Response: 0': 'Invalid HTTP response',
};

export const isDelivered = ({ status_code }: Pick<Delivery, 'status_code'>): boolean =>
  status_code >= 200 && status_code < 400;

/** Returns `503 Service Unavailable`, or the reason why no response was received. */
export function resultText({
  status,
  status_code,
}: Pick<Delivery, 'status' | 'status_code'>): string {
  const failure = FAILURES[status];
  if (failure !== undefined) return failure;
  const reason = REASONS[status_code];
  return reason === undefined ? `${status_code} ${status}` : `${status_code} ${reason}`;
}

export function attemptText({
  attempt,
  redelivery,
}: Pick<Delivery, 'attempt' | 'redelivery'>): string {
  if (attempt === null) return redelivery ? 'Repeated' : 'Attempt 1';
  if (attempt > 1) return `Retry ${attempt - 1}`;
  return redelivery ? 'Redelivered' : 'Attempt 1';
}

/** Formats a duration. Durations are stored in steps of 10 ms. */
export const deliveryDuration = (seconds: number, text: (ms: number) => string): string =>
  seconds === 0 ? '< 10 ms' : text(seconds * 1000);

/** A failure rate needs at least this many deliveries. */
const MIN_DELIVERIES = 3;

export interface DeliveryFigures {
  readonly count: number;
  /** The share of deliveries that succeeded. */
  readonly successPercent: number;
  readonly p95Sec: number;
  /** At least half of the deliveries failed. */
  readonly isFailing: boolean;
}

/** Returns the figures for the deliveries of the last hour; `undefined` without deliveries. */
export function deliveryFigures(lastHour: {
  readonly deliveries: number;
  readonly failed: number;
  readonly p95_duration: number | null;
}): DeliveryFigures | undefined {
  const { deliveries: count, failed, p95_duration } = lastHour;
  if (count === 0) return undefined;
  return {
    count,
    // Only a rate without any failure is 100 %.
    successPercent: Math.floor((100 * (count - failed)) / count),
    p95Sec: p95_duration ?? 0,
    isFailing: count >= MIN_DELIVERIES && failed * 2 >= count,
  };
}

export const deliveryCount = (count: number): string =>
  count === 1 ? '1 delivery' : `${countText(count)} deliveries`;

export const eventName = ({ event, action }: Pick<Delivery, 'event' | 'action'>): string =>
  action === null ? event : `${event}.${action}`;

/** Returns a sentence about the part of a response that was not stored; `undefined` if the response is complete. */
export function missingText(delivery: {
  readonly response: { readonly headers: Readonly<Record<string, string>> | null };
  readonly response_bytes: number | null;
  readonly response_truncated: boolean | null;
}): string | undefined {
  const { response, response_bytes: stored, response_truncated } = delivery;
  if (response_truncated !== true || stored === null) return undefined;
  const sent = Number(response.headers?.['Content-Length'] ?? Number.NaN);
  const part = sent > stored ? `${countText(stored)} of ${countText(sent)}` : countText(stored);
  return `Only the first ${part} bytes of the response are stored.`;
}
