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

/** The payload of an event, and what has to be known of it: the object itself is let go again. */
export interface ReadPayload {
  /** Compact JSON in UTF-8, with the digits, escapes and order in which it was written. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** SHA-256 in base64 of a payload that takes long to read. */
  readonly digest: string | undefined;
  /** Its member, whatever it is; `undefined`: it has none. */
  readonly action: unknown;
  readonly hasInstallation: boolean;
  /** `payload.installation.id` and `payload.repository.id`, when they are ids. */
  readonly installationId: number | undefined;
  readonly repositoryId: number | undefined;
}

/** One event of an operator's request: nothing but its payload has been checked. */
export interface ReadEvent {
  /** The members that events have, without the payload: of others a body may have a million. */
  readonly fields: Fields;
  /** The first member that no event has. */
  readonly unknown: string | undefined;
  readonly payload: ReadPayload | 'missing' | 'invalid';
}

/** An event of a batch, or why it is none. */
export type ReadItem = ReadEvent | { readonly failed: RequestError<'json_unreadable'>['details'] };

/** Source: webhooks, section 8.1. */
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

/** Throws `json_unreadable`. */
export function readEventBody(body: Uint8Array): ReadEvent {
  refuseExcessive(body);
  return readOne(textOf(body));
}

/** An array, or one event per line. Throws `json_unreadable` for an array that is none. */
export function readEventBatch(body: Uint8Array, maxCount: number): readonly ReadItem[] | 'many' {
  const text = textOf(body);
  const isArray = /^\s*\[/.test(text);
  const texts = isArray ? itemsOf(text, body) : linesOf(text);
  if (texts.length > maxCount) return 'many';
  return texts.map((item): ReadItem => {
    try {
      // Lines have nothing to do with each other, so each is looked at alone.
      if (!isArray) refuseExcessive(Buffer.from(item));
      return readOne(item);
    } catch (error) {
      if (requestError.is(error, 'json_unreadable')) return { failed: error.details };
      throw error;
    }
  });
}

/** The payload of an event that is made here. */
export function payloadOf(value: Fields): ReadPayload {
  return describe(value, JSON.stringify(value));
}

function readOne(text: string): ReadEvent {
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

function describe(payload: Fields, text: string): ReadPayload {
  // Memory of its own, so that a thread can hand it over without a copy.
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

/** Throws `json_unreadable`: other bytes would be delivered as something that nobody sent. */
function textOf(body: Uint8Array): string {
  if (!isUtf8(body)) throw requestError('json_unreadable', 'not_json');
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
}

/** Throws `json_unreadable` for JSON that is nested deeper than receivers can parse. */
function refuseExcessive(json: Uint8Array): void {
  try {
    refuseExcessiveJson(json);
  } catch (error) {
    throw jsonUnreadable(error);
  }
}

const linesOf = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line.trim() !== '');

/** @param bytes of `text`. Throws `json_unreadable`. */
function itemsOf(text: string, bytes: Uint8Array): readonly string[] {
  refuseExcessive(bytes);
  try {
    JSON.parse(text);
  } catch {
    throw requestError('json_unreadable', 'not_json');
  }
  return splitArray(text);
}

/** An empty text is an empty object. Throws `json_unreadable`. */
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
