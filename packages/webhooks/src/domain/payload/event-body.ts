import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import {
  isObject,
  jsonUnreadable,
  type RequestError,
  refuseExcessiveJson,
  requestError,
} from '@plinth/kernel';
import { compactMember, splitArray } from '../../model/raw-json.js';

export type Fields = Readonly<Record<string, unknown>>;

/**
 * The payload of an event and the members that the server needs. The parsed object itself is not
 * retained.
 */
export interface ParsedPayload {
  /** Compact JSON in UTF-8. Digits, escapes and member order are the same as in the request. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** SHA-256 in base64, only for payloads above `MIN_DIGESTED_SIZE_BYTES`. */
  readonly digest: string | undefined;
  /** `payload.action`, of any type; `undefined` when absent. */
  readonly action: unknown;
  readonly hasInstallation: boolean;
  /** `payload.installation.id` and `payload.repository.id`, if they are valid ids. */
  readonly installationId: number | undefined;
  readonly repositoryId: number | undefined;
}

/** One event of an operator's request. Only its payload has been checked. */
export interface ParsedEvent {
  /**
   * The known members without the payload. A body may contain a million unknown ones, which are
   * dropped.
   */
  readonly fields: Fields;
  /** Name of the first unknown member. */
  readonly unknown: string | undefined;
  readonly payload: ParsedPayload | 'missing' | 'invalid';
}

/** An event of a batch, or the reason why it is not valid JSON. */
export type ParsedItem =
  | ParsedEvent
  | { readonly failed: RequestError<'json_unreadable'>['details'] };

/** Known members of an event. Source: webhooks, section 8.1. */
const FIELDS = [
  'event',
  'action',
  'installation_id',
  'repository_id',
  'id',
  'ordering_key',
  'deliver_at',
  'app_id',
  'client_id',
  'app_ids',
] as const;

const MEMBERS: ReadonlySet<string> = new Set([...FIELDS, 'payload']);

const MIN_DIGESTED_SIZE_BYTES = 64 * 1024;

/** Throws `json_unreadable` for a body that is not a JSON object. */
export function readEventBody(body: Uint8Array): ParsedEvent {
  refuseExcessive(body);
  return readOne(textOf(body));
}

/**
 * Reads events from an array or from lines. Throws `json_unreadable` for an array that is not valid
 * JSON.
 */
export function readEventBatch(body: Uint8Array, maxCount: number): readonly ParsedItem[] | 'many' {
  const text = textOf(body);
  const isArray = /^\s*\[/.test(text);
  const texts = isArray ? itemsOf(text, body) : linesOf(text);
  if (texts.length > maxCount) return 'many';
  return texts.map((item): ParsedItem => {
    try {
      // Lines are independent documents, so each is checked separately.
      if (!isArray) refuseExcessive(Buffer.from(item));
      return readOne(item);
    } catch (error) {
      if (requestError.is(error, 'json_unreadable')) return { failed: error.details };
      throw error;
    }
  });
}

/** Returns the payload of an event that the server itself creates. */
export function payloadOf(value: Fields): ParsedPayload {
  return describe(value, JSON.stringify(value));
}

function readOne(text: string): ParsedEvent {
  const body = parseObject(text);
  const { payload } = body;
  const fields = Object.fromEntries(
    FIELDS.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])),
  );
  const unknown = Object.keys(body).find((name) => !MEMBERS.has(name));
  if (payload === undefined) return { fields, unknown, payload: 'missing' };
  if (!isObject(payload)) return { fields, unknown, payload: 'invalid' };
  const compact = compactMember(text, 'payload') ?? JSON.stringify(payload);
  return { fields, unknown, payload: describe(payload, compact) };
}

function describe(payload: Fields, text: string): ParsedPayload {
  // A separate buffer, so that it can be transferred to a thread without a copy.
  const bytes = new TextEncoder().encode(text);
  return {
    bytes,
    digest: bytes.length < MIN_DIGESTED_SIZE_BYTES ? undefined : digestOf(bytes),
    action: payload['action'],
    hasInstallation: payload['installation'] !== undefined,
    installationId: idIn(payload['installation']),
    repositoryId: idIn(payload['repository']),
  };
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64');

function idIn(member: unknown): number | undefined {
  const id: unknown = Reflect.get(Object(member), 'id');
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 1 ? id : undefined;
}

/**
 * Throws `json_unreadable` for invalid UTF-8, because decoding would change the delivered bytes.
 */
function textOf(body: Uint8Array): string {
  if (!isUtf8(body)) throw requestError('json_unreadable', 'not_json');
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
}

/** Throws `json_unreadable` for JSON that is nested more deeply than receivers can parse. */
function refuseExcessive(json: Uint8Array): void {
  try {
    refuseExcessiveJson(json);
  } catch (error) {
    throw jsonUnreadable(error);
  }
}

const linesOf = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line.trim() !== '');

/** @param bytes the encoded `text`. Throws `json_unreadable`. */
function itemsOf(text: string, bytes: Uint8Array): readonly string[] {
  refuseExcessive(bytes);
  try {
    JSON.parse(text);
  } catch {
    throw requestError('json_unreadable', 'not_json');
  }
  return splitArray(text);
}

/** Parses a JSON object; an empty string counts as `{}`. Throws `json_unreadable`. */
function parseObject(text: string): Fields {
  if (text === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw requestError('json_unreadable', 'not_json');
  }
  if (!isObject(value)) throw requestError('json_unreadable', 'not_an_object');
  return value;
}
