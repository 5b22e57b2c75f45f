import { hasExpired, type OutgoingRequest } from '@plinth/kernel';
import { type Hook, SECRET_MASK } from '../model/hook.js';
import { hubSignature, standardEd25519Signature, standardSignature } from './signature.js';

export interface RequestSettings {
  /** Vendor part (`{V}`) of header names. */
  readonly vendorName: string;
  readonly userAgent: string;
  readonly legacySha1: boolean;
  /** Values of the enterprise host and version headers; undefined if these headers are not sent. */
  readonly enterprise: { readonly host: string; readonly version: string } | undefined;
}

/** Input for the body and signatures of one attempt. It can be posted to a worker thread. */
export interface SigningJob {
  readonly payload: Uint8Array;
  readonly isForm: boolean;
  /** HMAC secret for `X-Hub-Signature-256`; undefined without a signature header. */
  readonly secret: string | undefined;
  readonly legacySha1: boolean;
  readonly standard: StandardSigning | undefined;
}

interface StandardSigning {
  readonly guid: string;
  readonly timestampSec: number;
  readonly ed25519: string | undefined;
  /** The secrets that are currently valid, the current one first. */
  readonly hmac: readonly string[];
}

export interface SignedBody {
  /** Undefined if the payload is sent unchanged. */
  readonly body: Uint8Array | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export function signingJob(options: {
  readonly hook: Hook;
  readonly settings: RequestSettings;
  readonly guid: string;
  readonly payload: Uint8Array;
  readonly nowMs: number;
}): SigningJob {
  const { hook, settings, guid, payload, nowMs } = options;
  return {
    payload,
    isForm: hook.content_type === 'form',
    secret: signingSecret(hook, nowMs),
    legacySha1: settings.legacySha1,
    standard: standardSigning(hook, guid, nowMs),
  };
}

/**
 * Returns the body and signature headers of one attempt. Source: webhooks, sections 6.1, 6.4 and
 * 6.5.
 */
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

/** Builds the request of one attempt. Source: webhooks, section 6.3. */
export function makeDeliveryRequest(options: {
  readonly hook: Hook;
  readonly settings: RequestSettings;
  readonly guid: string;
  readonly event: string;
  readonly payload: Uint8Array;
  readonly signed: SignedBody;
}): OutgoingRequest {
  const { hook, settings, guid, event, payload, signed } = options;
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

/** Returns the JSON text as a form field `payload=`, with `+` for spaces. */
function formBody(payload: Uint8Array): Uint8Array {
  const text = new TextDecoder().decode(payload);
  // A separate buffer, so that it can be transferred to a thread without a copy.
  return new TextEncoder().encode(new URLSearchParams({ payload: text }).toString());
}

/**
 * Returns the signing secret. During a rotation the operator chooses which of the two secrets
 * signs.
 */
function signingSecret({ secrets }: Hook, nowMs: number): string | undefined {
  const { current, previous } = secrets;
  const usesPrevious = previous?.signs === true && !hasExpired(previous.untilMs, nowMs);
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
  const hasPrevious = previous !== undefined && !hasExpired(previous.untilMs, nowMs);
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

/**
 * Credentials in the URL become a Basic `Authorization` header, as in browsers and other clients.
 */
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
 * Returns the headers for the record, without values that only the receiver may see.
 * @param custom the webhook's own headers: their names stay, their values are masked because they
 *   are often keys.
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
