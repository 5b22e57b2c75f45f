import { queryPieces, URL_MASK } from '@plinth/kernel';

/** An app's only webhook. Wire fields keep their names. */
export interface Hook {
  readonly id: number;
  readonly appId: number;
  /** Empty when not configured. May contain credentials, so show it only through `maskUrl`. */
  readonly url: string;
  readonly content_type: ContentType;
  readonly insecure_ssl: boolean;
  readonly secrets: HookSecrets;
  readonly active: boolean;
  readonly events: readonly string[];
  /** Values are shown only as `SECRET_MASK`. */
  readonly custom_headers: Readonly<Record<string, string>>;
  /** Undefined for the server's default. */
  readonly retry: RetryPolicy | undefined;
  readonly ordering: 'none' | 'key';
  readonly standard_webhooks: 'off' | 'hmac' | 'ed25519';
  /** Whether the app is suspended; then nothing is sent. */
  readonly isSuspended: boolean;
  /** Start of the period in which every attempt failed. */
  readonly failingSinceMs: number | undefined;
  /**
   * Reason and time at which the server disabled the webhook. Undefined while it is active, and
   * when the operator disabled it.
   */
  readonly disabled: { readonly reason: string; readonly atMs: number } | undefined;
  readonly createdMs: number;
  readonly updatedMs: number;
}

export type ContentType = 'json' | 'form';

export interface HookSecrets {
  readonly current: string | undefined;
  /** The previous secret, while both are valid. */
  readonly previous?: { readonly text: string; readonly untilMs: number; readonly signs: boolean };
  /** PKCS#8 in base64, for `v1a` signatures. */
  readonly ed25519?: string;
}

/** Bounds of a retry schedule, in settings and requests. Source: webhooks, section 7.3. */
export const RETRY_SCHEDULE = { maxCount: 20, maxDelaySec: 604_800 } as const;

export interface RetryPolicy {
  readonly policy: 'none' | 'standard' | 'schedule';
  /** Delay in seconds before each retry, for the policy `schedule`. */
  readonly schedule?: readonly number[];
}

/** Shown instead of a secret, and ignored when a client sends it back. */
export const SECRET_MASK = '********';

/**
 * Restores a URL that a client sends back after it was shown. If the host is the same, masked
 * credentials and query values are replaced by the stored ones.
 * @returns `undefined` when a mask has no stored value. Credentials are never sent to a different
 * host.
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
    // Repeated names are matched in order.
    const index = knownPieces.findIndex((piece) => piece.name === name);
    const [piece] = index === -1 ? [] : knownPieces.splice(index, 1);
    if (value === URL_MASK && piece === undefined) return undefined;
    search.push(name + (value === URL_MASK ? piece?.value : value));
  }
  url.search = search.join('&');
  return url.href;
}

/**
 * Restores custom headers that a client sends back after they were shown. Masked values are
 * replaced by the stored ones.
 * @returns the headers, or the name of a header whose mask has no stored value.
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
  return { headers: Object.fromEntries(headers) as Record<string, string> }; // no value is undefined after this check
}

/** Sent to every app, regardless of its subscriptions. Source: webhooks, section 8.3. */
const ALWAYS_SENT: ReadonlySet<string> = new Set([
  'ping',
  'meta',
  'installation',
  'installation_repositories',
  'github_app_authorization',
]);

/** Whether a list of subscriptions contains this event. Source: webhooks, section 8.3. */
export function isSubscribed(
  subscriptions: readonly string[],
  event: string,
  action: string | undefined,
): boolean {
  if (ALWAYS_SENT.has(event)) return true;
  return subscriptions.some(
    (pattern) =>
      pattern === '*' ||
      pattern === event ||
      pattern === `${event}.*` ||
      (action !== undefined && pattern === `${event}.${action}`),
  );
}
