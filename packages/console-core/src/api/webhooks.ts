import type { DeliveryHistory } from '../lib/webhooks/delivery-history.js';
import { send, sendForJson } from './client.js';

export interface App {
  readonly id: number;
  readonly client_id: string;
  readonly name: string;
  readonly suspended_at: string | null;
  readonly created_at: string;
  /** `null` when the app has no webhook. */
  readonly hook: {
    readonly active: boolean;
    readonly events: readonly string[];
    readonly config: {
      readonly url?: string;
      readonly content_type: string;
      readonly insecure_ssl: string;
    };
    readonly ordering: string;
    /** Null if the server's default applies. */
    readonly retry: RetryPolicy | null;
    /** Seconds before each retry. */
    readonly retry_delays: {
      readonly default: readonly number[];
      readonly standard: readonly number[];
    };
    readonly last_hour: LastHour;
    readonly history: DeliveryHistory;
  } | null;
}

export interface RetryPolicy {
  readonly policy: 'none' | 'standard' | 'schedule';
  readonly schedule?: readonly number[];
}

/** Attempts of the last hour, at most the newest 2,000. */
export interface LastHour {
  readonly deliveries: number;
  readonly failed: number;
  /** The 95th percentile in seconds; null without attempts. */
  readonly p95_duration: number | null;
}

export interface Queue {
  readonly pending: number;
  readonly leased: number;
  readonly dead: number;
  readonly oldest_due_at: string | null;
}

export interface Delivery {
  readonly id: number;
  readonly guid: string;
  readonly delivered_at: string;
  readonly redelivery: boolean;
  /** Duration in seconds. */
  readonly duration: number;
  readonly status: string;
  readonly status_code: number;
  readonly event: string;
  readonly action: string | null;
  /** Starts at 1, and again at 1 for each redelivery; null in records of earlier versions. */
  readonly attempt: number | null;
}

/** An event whose delivery has not succeeded: its next attempt is due, or it has no more attempts. */
export interface QueuedEvent {
  readonly queue_id: number;
  readonly guid: string;
  readonly state: 'pending' | 'leased' | 'dead';
  readonly attempt: number;
  readonly due_at: string;
  readonly event: string;
  readonly action: string | null;
}

interface Message {
  readonly headers: Readonly<Record<string, string>> | null;
  readonly payload: unknown;
}

export interface DeliveryDetail extends Delivery {
  readonly url: string;
  readonly request: Message;
  readonly response: Message;
  /** The exact error of a failed attempt. */
  readonly error: string | null;
  /** Size of the stored response body. */
  readonly response_bytes: number | null;
  /** Null without a response and in records of earlier versions. */
  readonly response_truncated: boolean | null;
}

const APPS = '/ops/v1/apps';
const ofApp = (app: number | string): string => `${APPS}/${encodeURIComponent(app)}`;

/** The server's maximum. */
export const MAX_APPS = 100;

/** At most `MAX_APPS`. */
export const fetchApps = (): Promise<readonly App[]> =>
  sendForJson(APPS, { query: { per_page: MAX_APPS } });

/** Fetches the deliveries of all apps together. */
export const fetchHistory = (): Promise<DeliveryHistory> =>
  sendForJson('/ops/v1/deliveries/history');

export const fetchApp = (app: string): Promise<App> => sendForJson(ofApp(app));

export const fetchQueue = (app: number | string): Promise<Queue> =>
  sendForJson(`${ofApp(app)}/queue`);

/** @returns the app with its private key, which is returned only once. */
export const createApp = (app: {
  readonly name: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly secret: string;
}): Promise<App & { readonly pem: string }> => {
  const { name, url, events, secret } = app;
  return sendForJson(APPS, {
    body: {
      name,
      ...(url !== '' && { webhook: { url, events, ...(secret !== '' && { secret }) } }),
    },
  });
};

export interface DeliveryFilter {
  readonly status?: string;
  readonly event?: string;
  readonly guid?: string;
  readonly since?: string;
  readonly cursor?: string;
}

const PAGE = 50;

/** Fetches a page of deliveries, newest first, with the cursor of the next page. */
export async function fetchDeliveries(
  app: string,
  { status, event, guid, since, cursor }: DeliveryFilter,
): Promise<{ readonly deliveries: readonly Delivery[]; readonly next: string | undefined }> {
  const given = (text: string | undefined) => (text === '' ? undefined : text);
  const response = await send(`${ofApp(app)}/deliveries`, {
    query: {
      ...{ per_page: PAGE, status: given(status), event: given(event) },
      ...{ guid: given(guid), since: given(since), cursor: given(cursor) },
    },
  });
  const [, link] = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
  const next =
    link === undefined ? undefined : new URL(link, location.origin).searchParams.get('cursor');
  return { deliveries: (await response.json()) as Delivery[], next: next ?? undefined };
}

export const fetchQueued = (
  app: string,
  state: 'pending,leased' | 'dead',
): Promise<readonly QueuedEvent[]> => sendForJson(`${ofApp(app)}/deliveries`, { query: { state } });

export interface Redrive {
  /** Failed events without a later success, or events without further attempts. */
  readonly kind: 'failed' | 'dead';
  readonly since: string;
  readonly until: string;
  readonly event: string;
}

/** @returns the number of matching events; with `isDryRun`, nothing is redelivered. */
export const redrive = (
  app: string,
  { kind, since, until, event }: Redrive,
  isDryRun: boolean,
): Promise<{ readonly matched: number; readonly queued: number }> =>
  sendForJson(`${ofApp(app)}/redrive`, {
    body: {
      ...(kind === 'dead' ? { state: 'dead' } : { since, until, ...(event !== '' && { event }) }),
      dry_run: isDryRun,
    },
  });

export const changeHook = (
  app: string,
  webhook: {
    readonly url: string;
    readonly events: readonly string[];
    readonly content_type: string;
    readonly insecure_ssl: string;
    readonly active: boolean;
    readonly retry: RetryPolicy | null;
  },
): Promise<App> => sendForJson(ofApp(app), { method: 'PATCH', body: { webhook } });

/** @param origin the scheme, host and port of a webhook URL. */
export const checkTarget = (
  origin: string,
): Promise<{ readonly allowed: boolean; readonly problem: string | null }> =>
  sendForJson('/ops/v1/webhook-targets', { query: { url: origin } });

/** @returns the new secret, which is returned only once. */
export const rotateSecret = (
  app: string,
  overlapSec: number,
): Promise<{ readonly secret: string; readonly old_secret_valid_until: string }> =>
  sendForJson(`${ofApp(app)}/secret/rotate`, { body: { overlap_seconds: overlapSec } });

export const publish = (event: {
  readonly event: string;
  readonly action: string;
  readonly payload: unknown;
  /** `undefined` for all subscribed apps. */
  readonly app: number | undefined;
  /** An RFC 3339 timestamp; `undefined` for now. */
  readonly deliverAt: string | undefined;
  /** Empty for none. */
  readonly idempotencyKey: string;
}): Promise<{
  readonly guid: string;
  readonly targets: readonly unknown[];
  readonly duplicate: boolean;
}> =>
  sendForJson('/ops/v1/events', {
    body: {
      event: event.event,
      ...(event.action !== '' && { action: event.action }),
      payload: event.payload,
      ...(event.app !== undefined && { app_id: event.app }),
      ...(event.deliverAt !== undefined && { deliver_at: event.deliverAt }),
      ...(event.idempotencyKey !== '' && { id: event.idempotencyKey }),
    },
  });

export const fetchDelivery = (app: string, id: string): Promise<DeliveryDetail> =>
  sendForJson(`${ofApp(app)}/deliveries/${encodeURIComponent(id)}`);

export const redeliver = (app: string, id: number | string): Promise<unknown> =>
  send(`${ofApp(app)}/deliveries/${encodeURIComponent(id)}/attempts`, { method: 'POST' });

export const ping = (app: string): Promise<unknown> =>
  send(`${ofApp(app)}/ping`, { method: 'POST' });

export const suspend = (app: string, isSuspended: boolean): Promise<unknown> =>
  send(`${ofApp(app)}/${isSuspended ? 'suspend' : 'unsuspend'}`, { method: 'POST' });

export const deleteApp = (app: number | string): Promise<unknown> =>
  send(ofApp(app), { method: 'DELETE' });

/** A record of how an event of another service was published to apps. */
export interface PublishedEvent {
  readonly id: string;
  readonly guid: string;
  readonly targets: readonly { readonly app_id: number }[];
}

/** @param ids up to a hundred ids of the server's own events of the last day. */
export const fetchPublishedEvents = (ids: readonly string[]): Promise<readonly PublishedEvent[]> =>
  sendForJson('/ops/v1/events/internal', { query: { ids: ids.join(',') } });
