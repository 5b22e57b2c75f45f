import { isOver, type OutgoingRequest } from '@plinth/kernel';
import { type Hook, SECRET_MASK } from '../model/hook.js';
import { hubSignature, standardEd25519Signature, standardSignature } from './signature.js';

export interface RequestSettings {
  /** `{V}` in header names. */
  readonly vendorName: string;
  readonly userAgent: string;
  readonly legacySha1: boolean;
  /** Host and version, when they are sent. */
  readonly enterprise: { readonly host: string; readonly version: string } | undefined;
}

/** What the body of an attempt and its signatures are made from; it can be sent to a thread. */
export interface SigningJob {
  readonly payload: Uint8Array;
  readonly isForm: boolean;
  /** Signs `X-Hub-Signature-256`; undefined: nothing does. */
  readonly secret: string | undefined;
  readonly legacySha1: boolean;
  readonly standard: StandardSigning | undefined;
}

interface StandardSigning {
  readonly guid: string;
  readonly timestampSec: number;
  readonly ed25519: string | undefined;
  /** Of the secrets that hold at the moment, the current one first. */
  readonly hmac: readonly string[];
}

export interface SignedBody {
  /** Undefined: the payload as it is. */
  readonly body: Uint8Array | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export function signingJob(at: {
  readonly hook: Hook;
  readonly settings: RequestSettings;
  readonly guid: string;
  readonly payload: Uint8Array;
  readonly nowMs: number;
}): SigningJob {
  const { hook, settings, guid, payload, nowMs } = at;
  return {
    payload,
    isForm: hook.content_type === 'form',
    secret: signingSecret(hook, nowMs),
    legacySha1: settings.legacySha1,
    standard: standardSigning(hook, guid, nowMs),
  };
}

/** Body and signature headers of one attempt. Source: webhooks, sections 6.1, 6.4 and 6.5. */
export function makeSignedBody(job: SigningJob): SignedBody {
  const { secret, legacySha1, standard } = job;
  const form = job.isForm ? formBody(job.payload) : undefined;
  const body = form ?? job.payload;
  return {
    body: form,
    headers: {
      ...(secret !== undefined && {
        ...(legacySha1 && { 'X-Hub-Signature': hubSignature('sha1', secret, body) }),
        'X-Hub-Signature-256': hubSignature('sha256', secret, body),
      }),
      ...(standard && standardHeaders(standard, body)),
    },
  };
}

/** The request of one attempt. Source: webhooks, section 6.3. */
export function makeDeliveryRequest(at: {
  readonly hook: Hook;
  readonly settings: RequestSettings;
  readonly guid: string;
  readonly event: string;
  readonly payload: Uint8Array;
  readonly signed: SignedBody;
}): OutgoingRequest {
  const { hook, settings, guid, event, payload, signed } = at;
  const isForm = hook.content_type === 'form';
  const vendor = `X-${settings.vendorName}`;
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
      ...signed.headers,
      ...hook.custom_headers,
      ...authorization(url),
    },
    body: signed.body ?? payload,
  };
}

/** `payload=` and the JSON text as a form field: a space becomes `+`. */
function formBody(payload: Uint8Array): Uint8Array {
  const text = new TextDecoder().decode(payload);
  // Memory of its own, so that a thread can hand it over without a copy.
  return new TextEncoder().encode(new URLSearchParams({ payload: text }).toString());
}

/** While a rotated secret overlaps, the operator chose which of the two signs. */
function signingSecret({ secrets }: Hook, nowMs: number): string | undefined {
  const { current, previous } = secrets;
  const usesPrevious = previous?.signs === true && !isOver(previous.untilMs, nowMs);
  return usesPrevious ? previous.text : current;
}

function standardSigning(
  { standard_webhooks, secrets }: Hook,
  guid: string,
  nowMs: number,
): StandardSigning | undefined {
  if (standard_webhooks === 'off') return undefined;
  const { current, previous, ed25519 } = secrets;
  const isHmac = standard_webhooks === 'hmac' && current !== undefined;
  const hasPrevious = previous !== undefined && !isOver(previous.untilMs, nowMs);
  return {
    guid,
    timestampSec: Math.floor(nowMs / 1000),
    ed25519: standard_webhooks === 'ed25519' ? ed25519 : undefined,
    hmac: isHmac ? [current, ...(hasPrevious ? [previous.text] : [])] : [],
  };
}

function standardHeaders(
  { guid, timestampSec, ed25519, hmac }: StandardSigning,
  body: Uint8Array,
): Record<string, string> {
  const message = { id: guid, timestamp: timestampSec, body };
  const signatures = [
    ...(ed25519 === undefined ? [] : [standardEd25519Signature(ed25519, message)]),
    ...hmac.map((secret) => standardSignature(secret, message)),
  ];
  return {
    'webhook-id': guid,
    'webhook-timestamp': String(timestampSec),
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

/**
 * As the record shows them: without what only the receiver may know. Names of the operator's own headers stay.
 * @param custom as the webhook has them; values of such headers are often keys.
 */
export function recordedHeaders(
  headers: Readonly<Record<string, string>>,
  custom: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const isSecret = name === 'Authorization' || Object.hasOwn(custom, name);
      return [name, isSecret ? SECRET_MASK : value];
    }),
  );
}
