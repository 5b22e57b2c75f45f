import type { Hook } from '../model/hook.js';
import { hubSignature, standardEd25519Signature, standardSignature } from './signature.js';

export interface RequestSettings {
  /** `{V}` in header names. */
  readonly vendorName: string;
  readonly userAgent: string;
  readonly legacySha1: boolean;
  /** Host and version, when they are sent. */
  readonly enterprise: { readonly host: string; readonly version: string } | undefined;
}

export interface DeliveryRequest {
  readonly url: URL;
  /** In the order and spelling in which they are sent. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The request of one attempt: body, headers, signatures. Source: webhooks, sections 6.1, 6.3 to 6.5. */
export function makeDeliveryRequest(at: {
  readonly hook: Hook;
  readonly settings: RequestSettings;
  readonly guid: string;
  readonly event: string;
  readonly payload: Uint8Array;
  readonly nowMs: number;
}): DeliveryRequest {
  const { hook, settings, guid, event, payload, nowMs } = at;
  const isForm = hook.content_type === 'form';
  const body = isForm ? formBody(payload) : payload;
  const vendor = `X-${settings.vendorName}`;
  const secret = signingSecret(hook, nowMs);
  const url = new URL(hook.url);
  return {
    url,
    headers: {
      Accept: '*/*',
      'Content-Type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      'User-Agent': settings.userAgent,
      [`${vendor}-Delivery`]: guid,
      [`${vendor}-Event`]: event,
      [`${vendor}-Hook-ID`]: String(hook.id),
      [`${vendor}-Hook-Installation-Target-ID`]: String(hook.appId),
      [`${vendor}-Hook-Installation-Target-Type`]: 'integration',
      ...(settings.enterprise && {
        [`${vendor}-Enterprise-Host`]: settings.enterprise.host,
        [`${vendor}-Enterprise-Version`]: settings.enterprise.version,
      }),
      ...(secret !== undefined && {
        ...(settings.legacySha1 && { 'X-Hub-Signature': hubSignature('sha1', secret, body) }),
        'X-Hub-Signature-256': hubSignature('sha256', secret, body),
      }),
      ...standardHeaders(hook, { guid, body, nowMs }),
      ...hook.custom_headers,
      ...authorization(url),
    },
    body,
  };
}

/** `payload=` and the JSON text as a form field: a space becomes `+`. */
function formBody(payload: Uint8Array): Uint8Array {
  const text = Buffer.from(payload).toString();
  return Buffer.from(new URLSearchParams({ payload: text }).toString());
}

/** While a rotated secret overlaps, the operator chose which of the two signs. */
function signingSecret({ secrets }: Hook, nowMs: number): string | undefined {
  const { current, previous } = secrets;
  const usesPrevious = previous?.signs === true && previous.untilMs > nowMs;
  return usesPrevious ? previous.text : current;
}

function standardHeaders(
  { standard_webhooks, secrets }: Hook,
  { guid, body, nowMs }: { guid: string; body: Uint8Array; nowMs: number },
): Record<string, string> {
  if (standard_webhooks === 'off') return {};
  const message = { id: guid, timestamp: Math.floor(nowMs / 1000), body };
  const { current, previous, ed25519 } = secrets;
  const signatures: string[] = [];
  if (standard_webhooks === 'ed25519' && ed25519 !== undefined) {
    signatures.push(standardEd25519Signature(ed25519, message));
  }
  if (standard_webhooks === 'hmac' && current !== undefined) {
    signatures.push(standardSignature(current, message));
    if (previous !== undefined && previous.untilMs > nowMs) {
      signatures.push(standardSignature(previous.text, message));
    }
  }
  return {
    'webhook-id': guid,
    'webhook-timestamp': String(message.timestamp),
    ...(signatures.length > 0 && { 'webhook-signature': signatures.join(' ') }),
  };
}

/** Credentials in the URL go as a header, as browsers and other clients send them. */
function authorization(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const [user, password] = [url.username, url.password].map(decodeOr);
  return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

function decodeOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** As the record shows them: without what only the receiver may know. */
export function recordedHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return headers['Authorization'] === undefined
    ? headers
    : { ...headers, Authorization: '********' };
}
