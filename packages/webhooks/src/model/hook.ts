import { queryPieces, URL_MASK } from '@plinth/kernel';

/** The one webhook of an app. Names of the wire stay as they are there. */
export interface Hook {
  readonly id: number;
  readonly appId: number;
  /** Empty when there is none. May hold credentials: show it by `maskUrl` only. */
  readonly url: string;
  readonly content_type: ContentType;
  readonly insecure_ssl: boolean;
  readonly secrets: HookSecrets;
  readonly active: boolean;
  readonly events: readonly string[];
  /** Their values are shown as `SECRET_MASK` only. */
  readonly custom_headers: Readonly<Record<string, string>>;
  /** Undefined: as the server's settings say. */
  readonly retry: RetryPolicy | undefined;
  readonly ordering: 'none' | 'key';
  readonly standard_webhooks: 'off' | 'hmac' | 'ed25519';
  /** The app is suspended: nothing is sent. */
  readonly isSuspended: boolean;
  /** Since when every attempt has failed. */
  readonly failingSinceMs: number | undefined;
  /** Why and when the server switched it off by itself. Undefined while it is on, and when its operator did that. */
  readonly disabled: { readonly reason: string; readonly atMs: number } | undefined;
  readonly createdMs: number;
  readonly updatedMs: number;
}

export type ContentType = 'json' | 'form';

export interface HookSecrets {
  readonly current: string | undefined;
  /** The one before, while both are valid. */
  readonly previous?: { readonly text: string; readonly untilMs: number; readonly signs: boolean };
  /** PKCS#8 in base64, for signatures of the kind `v1a`. */
  readonly ed25519?: string;
}

/** What a schedule of retries may be, whoever sets it. Source: webhooks, section 7.3. */
export const RETRY_SCHEDULE = { maxCount: 20, maxDelaySec: 604_800 } as const;

export interface RetryPolicy {
  readonly policy: 'none' | 'standard' | 'schedule';
  /** Seconds before each retry; with `schedule`. */
  readonly schedule?: readonly number[];
}

/** Shown in place of a secret, and ignored when it comes back. */
export const SECRET_MASK = '********';

/**
 * A URL as a client sends it back after it was shown: masked credentials and values of the query stand for the stored
 * ones, wherever it leads on the same host.
 * @returns `undefined` when a mask stands for nothing: credentials never go to a host that they were not given for.
 */
export function unmaskUrl(sent: string, stored: string): string | undefined {
  const url = new URL(sent);
  const hasMaskedLogin = url.username === URL_MASK && url.password === URL_MASK;
  const pieces = queryPieces(url.search);
  const hasMaskedQuery = pieces.some(({ value }) => value === URL_MASK);
  if (!hasMaskedLogin && !hasMaskedQuery) return sent;
  const known = URL.canParse(stored) ? new URL(stored) : undefined;
  if (known?.origin !== url.origin) return undefined;
  if (hasMaskedLogin) {
    if (known.username === '' && known.password === '') return undefined;
    url.username = known.username;
    url.password = known.password;
  }
  if (!hasMaskedQuery) return url.href;
  const knownPieces = [...queryPieces(known.search)];
  const search: string[] = [];
  for (const { name, value } of pieces) {
    // The first of a name stands for the first, the second for the second.
    const index = knownPieces.findIndex((piece) => piece.name === name);
    const [piece] = index === -1 ? [] : knownPieces.splice(index, 1);
    if (value === URL_MASK && piece === undefined) return undefined;
    search.push(name + (value === URL_MASK ? piece?.value : value));
  }
  url.search = search.join('&');
  return url.href;
}

/**
 * Custom headers as a client sends them back after they were shown: masked values stand for the stored ones.
 * @returns the name of a header whose mask stands for nothing.
 */
export function unmaskHeaders(
  sent: Readonly<Record<string, string>>,
  stored: Readonly<Record<string, string>>,
): { readonly headers: Readonly<Record<string, string>> } | { readonly unknown: string } {
  const headers = Object.entries(sent).map(([name, value]): [string, string | undefined] => [
    name,
    value !== SECRET_MASK ? value : Object.hasOwn(stored, name) ? stored[name] : undefined,
  ]);
  const [unknown] = headers.find(([, value]) => value === undefined) ?? [];
  if (unknown !== undefined) return { unknown };
  return { headers: Object.fromEntries(headers) as Record<string, string> }; // none is undefined
}

/** Sent to every app whatever it subscribed to. Source: webhooks, section 8.3. */
const ALWAYS_SENT: ReadonlySet<string> = new Set([
  'ping',
  'meta',
  'installation',
  'installation_repositories',
  'github_app_authorization',
]);

/** Whether a list of subscriptions asks for this event. Source: webhooks, section 8.3. */
export function isSubscribed(
  subscriptions: readonly string[],
  event: string,
  action: string | undefined,
): boolean {
  if (ALWAYS_SENT.has(event)) return true;
  return subscriptions.some(
    (wanted) =>
      wanted === '*' ||
      wanted === event ||
      wanted === `${event}.*` ||
      (action !== undefined && wanted === `${event}.${action}`),
  );
}
