import { inputCheck, isObject, RequestInvalid } from '@plinth/kernel';
import type { TSchema } from 'typebox';
import { pointerOf } from '../../model/json.js';
import { findJsonFaults } from '../../model/json-faults.js';
import type { Kind } from '../../model/kinds.js';
import { slugOf } from '../../model/normal-text.js';
import { fillDefaults } from '../../model/schemas/fill.js';
import { STORED_SCHEMAS, type StoredRecords } from '../../model/schemas/stored.js';
import { KIND_SPECS } from '../kinds/index.js';
import type { Fault } from '../kinds/kind-spec.js';
import { Row } from './row.js';
import { SharedTexts } from './shared-texts.js';

export type StoredRecord = StoredRecords[Kind];

export type Prepared =
  | { readonly record: StoredRecord; readonly faults?: undefined }
  | { readonly record?: undefined; readonly faults: readonly Fault[] };

const checks = new Map<Kind, (record: unknown) => unknown>();

/**
 * Returns the validator of a kind, compiled on first use, so that servers without edits never
 * compile it.
 */
function checkOf(kind: Kind): (record: unknown) => unknown {
  let check = checks.get(kind);
  if (check === undefined) {
    const schema: TSchema = STORED_SCHEMAS[kind];
    check = inputCheck('body', schema);
    checks.set(kind, check);
  }
  return check;
}

const MAX_EXTRA_SIZE_BYTES = 8 * 1024;

/**
 * Converts a client's body to the stored shape, or returns all faults.
 * @param properties members set by the server.
 */
export function prepareRecord(
  kind: Kind,
  body: Record<string, unknown>,
  properties: { readonly updatedAt: string; readonly slug?: string },
): Prepared {
  const faults: Fault[] = [];
  const prepared = KIND_SPECS[kind].prepare(body, (fault) => faults.push(fault));
  prepared['updatedAt'] = properties.updatedAt;
  const name = prepared['name'] ?? prepared['title'] ?? prepared['id'];
  if (prepared['slug'] === undefined || prepared['slug'] === null) {
    prepared['slug'] = properties.slug ?? slugFor(kind, prepared, String(name));
  }
  const record = fillDefaults(STORED_SCHEMAS[kind], prepared);
  faults.push(...schemaFaults(kind, record));
  const jsonFaults = findJsonFaults(record);
  faults.push(...jsonFaults);
  // `isTooLarge` serializes the value, which fails for excessive nesting.
  if (jsonFaults.length === 0 && isObject(record) && isTooLarge(record['extra'])) {
    const message = `extra is larger than ${MAX_EXTRA_SIZE_BYTES} bytes`;
    faults.push({ path: '/extra', code: 'too_large', message });
  }
  return faults.length > 0 ? { faults } : { record: record as StoredRecord }; // the schema check passed
}

const isTooLarge = (extra: unknown): boolean =>
  extra !== undefined && Buffer.byteLength(JSON.stringify(extra)) > MAX_EXTRA_SIZE_BYTES;

function slugFor(kind: Kind, prepared: Record<string, unknown>, name: string): string {
  const id = String(prepared['id']);
  if (kind === 'levels') return id;
  // The slug of a name without Latin letters is empty.
  return slugOf(name) || slugOf(id) || 'record';
}

function schemaFaults(kind: Kind, record: unknown): Fault[] {
  try {
    checkOf(kind)(record);
    return [];
  } catch (error) {
    if (error instanceof RequestInvalid) return faultsOf(error);
    throw error;
  }
}

function faultsOf({ failures }: RequestInvalid): Fault[] {
  return failures.map(({ path, keyword, expected }) => ({
    path: pointerOf(path),
    code: keyword === 'additionalProperties' ? 'unknown_member' : keyword,
    message: messageOf(keyword, path.at(-1) ?? 'the record', expected),
  }));
}

function messageOf(keyword: string, name: string, expected: readonly string[]): string {
  const list = expected.join(', ');
  switch (keyword) {
    case 'required':
      return `${name} is missing`;
    case 'type':
      return `${name} must be ${expected.join(' or ')}`;
    case 'enum':
      return `${name} must be one of ${list}`;
    case 'additionalProperties':
      return `unknown member ${name}`;
    case 'minimum':
      return `${name} must be at least ${list.replace(/^>=, /, '')}`;
    case 'maximum':
      return `${name} must be at most ${list.replace(/^<=, /, '')}`;
    case 'minLength':
      return `${name} must have at least ${list} characters`;
    case 'maxLength':
      return `${name} must have at most ${list} characters`;
    case 'pattern':
      return `${name} has an invalid format`;
    default:
      return `${name} violates ${keyword} ${list}`.trim();
  }
}

export function makeRow(kind: Kind, record: StoredRecord, rev: number): Row {
  const { id, slug } = record;
  const columns = KIND_SPECS[kind].columns(record);
  return new Row({ id, slug, rev, text: JSON.stringify(record), columns });
}

/** Creates a row from its stored text, which was validated when it was written. */
export function readRow(kind: Kind, text: string, rev: number, shared = new SharedTexts()): Row {
  const record = JSON.parse(text) as StoredRecord; // validated when it was written
  const columns = shared.inColumns(KIND_SPECS[kind].columns(record));
  return new Row({ id: shared.of(record.id), slug: record.slug, rev, text, columns });
}

/** Returns the record in a language; untranslated members stay in the default language. */
export function parseRowIn(kind: Kind, row: Row, language: string | undefined): StoredRecord {
  const record: StoredRecord = parseRow(kind, row);
  if (language !== undefined && Object.hasOwn(record.locales, language)) {
    const own = Object.entries(record.locales[language] ?? {});
    for (const [key, text] of own) KIND_SPECS[kind].setText(record, key, text);
  }
  return record;
}

export function parseRow<K extends Kind>(_kind: K, row: Row): StoredRecords[K] {
  return JSON.parse(row.text) as StoredRecords[K]; // rows of a kind contain records of that kind
}
