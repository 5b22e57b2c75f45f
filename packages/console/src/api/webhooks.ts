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
  } | null;
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
}

interface Message {
  readonly headers: Readonly<Record<string, string>> | null;
  readonly payload: unknown;
}

export interface DeliveryDetail extends Delivery {
  readonly url: string;
  readonly request: Message;
  readonly response: Message;
}

const APPS = '/ops/v1/apps';
const ofApp = (app: number | string): string => `${APPS}/${encodeURIComponent(app)}`;

export const fetchApps = (): Promise<readonly App[]> => sendForJson(APPS);

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
  readonly cursor?: string;
}

const PAGE = 50;

/** A page of deliveries, newest first, with the cursor of the next one. */
export async function fetchDeliveries(
  app: string,
  { status, event, guid, cursor }: DeliveryFilter,
): Promise<{ readonly deliveries: readonly Delivery[]; readonly next: string | undefined }> {
  const given = (text: string | undefined) => (text === '' ? undefined : text);
  const response = await send(`${ofApp(app)}/deliveries`, {
    query: {
      ...{ per_page: PAGE, status: given(status), event: given(event) },
      ...{ guid: given(guid), cursor: given(cursor) },
    },
  });
  const [, link] = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
  const next =
    link === undefined ? undefined : new URL(link, location.origin).searchParams.get('cursor');
  return { deliveries: (await response.json()) as Delivery[], next: next ?? undefined };
}

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
