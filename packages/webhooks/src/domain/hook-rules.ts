import {
  type FieldError,
  hostOf,
  isObject,
  portOf,
  type Random,
  type TargetGuard,
  type TargetRefusal,
  ValidationFailed,
} from '@plinth/kernel';
import { webhookError } from '../errors.js';
import {
  type ContentType,
  type Hook,
  RETRY_SCHEDULE,
  type RetryPolicy,
  SECRET_MASK,
} from '../model/hook.js';

type Fields = Readonly<Record<string, unknown>>;

/** A validated change. Members that were not sent are absent. */
export type HookChange = {
  -readonly [K in
    | 'url'
    | 'content_type'
    | 'insecure_ssl'
    | 'active'
    | 'events'
    | 'custom_headers'
    | 'ordering'
    | 'standard_webhooks']?: Hook[K];
} & {
  /** Null removes the secret. */
  secret?: string | null;
  /** Null restores the server's default. */
  retry?: RetryPolicy | null;
};

export interface HookRuleSettings {
  readonly httpsOnly: boolean;
  readonly acceptMaskAsSecret: boolean;
}

const MAX_URL_LENGTH = 2048;
const MAX_SECRET_SIZE_BYTES = 1024;
const MAX_SUBSCRIPTION_COUNT = 500;
const MAX_CUSTOM_HEADER_COUNT = 50;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** Characters allowed in a header value. Source: RFC 9110, section 5.5. */
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]{0,1000}$/;
/** Headers set by the delivery code or by the connection. Source: webhooks, section 6.3. */
const RESERVED_HEADER =
  /^(?:accept|content-type|user-agent|host|content-length|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|authorization|webhook-(?:id|timestamp|signature)|x-hub-signature(?:-256)?)$/i;

/** Validates the webhook members of a request and reports all errors. */
export class HookRules {
  readonly #guard: TargetGuard;
  readonly #settings: HookRuleSettings;

  constructor(guard: TargetGuard, settings: HookRuleSettings) {
    this.#guard = guard;
    this.#settings = settings;
  }

  /**
   * Checks the four members that an app may change, and `active: true`, which enables a webhook
   * that the server disabled.
   * Throws `shape_invalid` for a wrong JSON type and `ValidationFailed` for a wrong value. Source:
   * webhooks, sections 4 and 7.3.
   */
  checkConfig(fields: Fields, hook: Hook): HookChange {
    refuseWrongTypes(fields);
    const errors: FieldError[] = [];
    const change = this.#readConfig(fields, errors);
    if (fields['active'] === true && !hook.active) {
      if (hook.disabled !== undefined) change.active = true;
      else {
        const message = 'The operator disabled this webhook';
        errors.push({ resource: 'Hook', field: 'active', code: 'custom', message });
      }
    }
    if (errors.length > 0) throw new ValidationFailed(errors);
    return change;
  }

  /**
   * Checks all members that operators may set. Throws `ValidationFailed`. Source: webhooks, section
   * 10.
   */
  checkAll(fields: Fields): HookChange {
    const errors: FieldError[] = [];
    const change = this.#readConfig(fields, errors);
    readFlag(fields, 'active', errors, (active) => {
      change.active = active;
    });
    readChoice(fields, 'ordering', ['none', 'key'] as const, errors, (ordering) => {
      change.ordering = ordering;
    });
    const kinds = ['off', 'hmac', 'ed25519'] as const;
    readChoice(fields, 'standard_webhooks', kinds, errors, (kind) => {
      change.standard_webhooks = kind;
    });
    const { events, custom_headers, retry } = fields;
    if (events !== undefined) {
      const list = readSubscriptions(events);
      if (list === undefined) errors.push(invalid('events', events));
      else change.events = list;
    }
    if (custom_headers !== undefined) {
      const headers = readHeaders(custom_headers);
      if (headers === undefined) errors.push(invalid('custom_headers', custom_headers));
      else change.custom_headers = headers;
    }
    if (retry === null) change.retry = null;
    else if (retry !== undefined) {
      const policy = readRetry(retry);
      if (policy === undefined) errors.push(invalid('retry', retry));
      else change.retry = policy;
    }
    if (errors.length > 0) throw new ValidationFailed(errors);
    return change;
  }

  /**
   * Checks the scheme, host and port of a webhook URL. Addresses of host names are checked at each
   * delivery.
   * @returns the reason why the server would not deliver to the URL, with a fix for the operator.
   */
  targetProblem(text: string): string | undefined {
    const url = parseUrl(text);
    const problem = this.#problemOf(url);
    if (problem === undefined) return undefined;
    const forms = this.#settings.httpsOnly ? 'https://host' : 'http://host or https://host';
    if (url === undefined || problem === 'malformed')
      return `invalid URL ${JSON.stringify(text.slice(0, 100))}; use ${forms}`;
    if (problem === 'http')
      return `${url.origin} uses http, but webhooks.https_only is set; use https`;
    return refusalText(url, problem);
  }

  /**
   * Returns the reason why the server does not deliver to a URL. Both checks and changes use this
   * decision.
   */
  #problemOf(url: URL | undefined): 'malformed' | 'http' | TargetRefusal | undefined {
    if (url === undefined) return 'malformed';
    if (this.#settings.httpsOnly && url.protocol !== 'https:') return 'http';
    return this.#guard.refusalOf(url);
  }

  #readConfig(fields: Fields, errors: FieldError[]): HookChange {
    const change: HookChange = {};
    if (fields['url'] !== undefined) {
      const url = this.#readUrl(fields['url'], errors);
      if (url !== undefined) change.url = url;
    }
    readChoice(fields, 'content_type', ['json', 'form'] as const, errors, (type: ContentType) => {
      change.content_type = type;
    });
    const ssl = fields['insecure_ssl'];
    if (ssl !== undefined) {
      if (ssl === '0' || ssl === 0) change.insecure_ssl = false;
      else if (ssl === '1' || ssl === 1) change.insecure_ssl = true;
      else errors.push(invalid('insecure_ssl', ssl));
    }
    this.#readSecret(fields['secret'], change, errors);
    return change;
  }

  #readSecret(secret: unknown, change: HookChange, errors: FieldError[]): void {
    if (secret === undefined) return;
    if (secret === null || secret === '') change.secret = null;
    else if (secret === SECRET_MASK && !this.#settings.acceptMaskAsSecret) return;
    else if (typeof secret === 'string' && isUsableSecret(secret)) {
      change.secret = secret;
    } else {
      const message = `secret must be a string of at most ${MAX_SECRET_SIZE_BYTES} bytes`;
      errors.push({ resource: 'Hook', field: 'secret', code: 'custom', message });
    }
  }

  #readUrl(value: unknown, errors: FieldError[]): string | undefined {
    const refuse = (message: string): undefined => {
      errors.push({ resource: 'Hook', field: 'url', code: 'custom', message });
    };
    if (value === null || value === '') return refuse('url cannot be blank');
    const url = typeof value === 'string' ? parseUrl(value) : undefined;
    const problem = this.#problemOf(url);
    if (url === undefined || problem === 'malformed') return refuse('url is malformed');
    if (problem === 'http') return refuse('url must use https');
    if (problem !== undefined) {
      return refuse(
        `url is not supported because it isn't reachable over the public Internet (${hostOf(url)})`,
      );
    }
    url.hash = '';
    return url.href;
  }
}

function refusalText(url: URL, refusal: TargetRefusal): string {
  const host = hostOf(url);
  switch (refusal.kind) {
    case 'port':
      return `port ${portOf(url)} of ${host} is not allowed; use ${refusal.allowedPorts.join(' or ')} (webhooks.allowed_ports)`;
    case 'address':
      return `invalid address ${host}; use a host name or an IP address`;
    case 'own_server':
      return `${host}:${portOf(url)} is this server; use another receiver, or add its address to webhooks.allow_private_targets`;
    case 'never_target':
      return `${host}:${portOf(url)} is this server; use another receiver`;
    case 'range':
      return `${host} is in the blocked range ${refusal.range}; use a public address, or add the range to webhooks.allow_private_targets`;
  }
}

/**
 * Accepted JSON types of each member, and their names in error messages. Source: webhooks, section
 * 2.2.
 */
const CONFIG_TYPES: Readonly<Record<string, readonly [readonly string[], string]>> = {
  url: [['string', 'null'], 'a string'],
  content_type: [['string'], 'a string'],
  secret: [['string', 'null'], 'a string'],
  insecure_ssl: [['string', 'number'], 'a string or number'],
};

function refuseWrongTypes(fields: Fields): void {
  const complaints = Object.entries(CONFIG_TYPES).flatMap(([name, [types, typeText]]) => {
    const value = fields[name];
    if (value === undefined || types.includes(value === null ? 'null' : typeof value)) return [];
    return [`For 'properties/${name}', ${JSON.stringify(value)} is not ${typeText}.`];
  });
  if (complaints.length > 0) throw webhookError('shape_invalid', complaints);
}

/** Generates a random 32-byte secret in base64url. */
export function makeSecret(random: Random): string {
  return Buffer.from(random.bytes(32)).toString('base64url');
}

function parseUrl(text: string): URL | undefined {
  // The URL parser drops or encodes some of these characters, which would change the URL.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: rejects them on purpose.
  if (text.length > MAX_URL_LENGTH || /[\u0000-\u0020\u007f]/.test(text)) return undefined;
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.hostname === '' ? undefined : url;
}

const invalid = (field: string, value: unknown): FieldError => ({
  resource: 'Hook',
  field,
  code: 'invalid',
  value,
});

function readChoice<const T extends string>(
  fields: Fields,
  field: string,
  choices: readonly T[],
  errors: FieldError[],
  take: (value: T) => void,
): void {
  const value = fields[field];
  if (value === undefined) return;
  const found = choices.find((choice) => choice === value);
  if (found === undefined) errors.push(invalid(field, value));
  else take(found);
}

function readFlag(
  fields: Fields,
  field: string,
  errors: FieldError[],
  take: (value: boolean) => void,
): void {
  const value = fields[field];
  if (value === undefined) return;
  if (typeof value === 'boolean') take(value);
  else errors.push(invalid(field, value));
}

function readSubscriptions(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_SUBSCRIPTION_COUNT) return undefined;
  const isFine = value.every(
    (name) => typeof name === 'string' && /^(?:\*|[a-z0-9_.-]{1,201}\*?)$/.test(name),
  );
  return isFine ? [...new Set(value as string[])] : undefined; // every entry has been checked
}

function readHeaders(value: unknown): Readonly<Record<string, string>> | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value);
  if (entries.length > MAX_CUSTOM_HEADER_COUNT) return undefined;
  const isFine = entries.every(
    ([name, text]) =>
      HEADER_NAME.test(name) &&
      !RESERVED_HEADER.test(name) &&
      !/^x-[a-z0-9]+-(?:delivery|event|hook-|enterprise-)/i.test(name) &&
      typeof text === 'string' &&
      HEADER_VALUE.test(text),
  );
  return isFine ? (Object.fromEntries(entries) as Record<string, string>) : undefined; // every entry has been checked
}

function readRetry(value: unknown): RetryPolicy | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { policy, schedule } = value as Fields;
  if (policy === 'none' || policy === 'standard') return { policy };
  if (policy !== 'schedule' || !Array.isArray(schedule)) return undefined;
  const isFine =
    schedule.length >= 1 &&
    schedule.length <= RETRY_SCHEDULE.maxCount &&
    schedule.every(
      (delay) => typeof delay === 'number' && delay >= 0 && delay <= RETRY_SCHEDULE.maxDelaySec,
    );
  return isFine ? { policy, schedule: schedule as number[] } : undefined; // every delay has been checked
}

/**
 * Whether the secret is short enough and survives encoding as UTF-8. With a lone surrogate,
 * receivers could not reproduce the signature.
 */
export function isUsableSecret(secret: string): boolean {
  const bytes = Buffer.from(secret);
  return bytes.length <= MAX_SECRET_SIZE_BYTES && bytes.toString() === secret;
}
