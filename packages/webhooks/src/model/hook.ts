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
  readonly custom_headers: Readonly<Record<string, string>>;
  /** Undefined: as the server's settings say. */
  readonly retry: RetryPolicy | undefined;
  readonly ordering: 'none' | 'key';
  readonly standard_webhooks: 'off' | 'hmac' | 'ed25519';
  /** The app is suspended: nothing is sent. */
  readonly isSuspended: boolean;
  /** Since when every attempt has failed. */
  readonly failingSinceMs: number | undefined;
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

export interface RetryPolicy {
  readonly policy: 'none' | 'standard' | 'schedule';
  /** Seconds before each retry; with `schedule`. */
  readonly schedule?: readonly number[];
}

/** Shown in place of a secret, and ignored when it comes back. */
export const SECRET_MASK = '********';

const CREDENTIALS_MASK = '***';

/**
 * A URL as a client sends it back after it was shown: masked credentials stand for the stored ones, wherever it leads on
 * the same host.
 * @returns `undefined` when the mask stands for nothing: credentials never go to a host that they were not given for.
 */
export function unmaskUrl(sent: string, stored: string): string | undefined {
  const url = new URL(sent);
  if (url.username !== CREDENTIALS_MASK || url.password !== CREDENTIALS_MASK) return sent;
  if (!URL.canParse(stored)) return undefined;
  const { origin, username, password } = new URL(stored);
  if (origin !== url.origin || (username === '' && password === '')) return undefined;
  url.username = username;
  url.password = password;
  return url.href;
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
