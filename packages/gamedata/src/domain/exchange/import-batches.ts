import { gameDataError, type ValidationDetail } from '../../errors.js';
import { findJsonFaults } from '../../model/json-faults.js';
import { KIND_WIRE, type Kind } from '../../model/kinds.js';
import { prepareRecord, type StoredRecord } from '../data/record-rows.js';
import type { Columns } from '../data/row.js';
import { KIND_SPECS } from '../kinds/index.js';
import { JsonPieces } from './json-pieces.js';
import { readNative } from './native.js';
import type { IncomingRecord, Payload } from './payload.js';
import { readTarkovData } from './tarkovdata/read-tarkovdata.js';

export type ExchangeFormat = 'native' | 'tarkovdata';

export interface ImportSource {
  readonly bytes: Uint8Array;
  readonly format: ExchangeFormat;
  /** Default `updatedAt` of records without one. */
  readonly updatedAt: string;
  readonly maxRecordCount: number;
}

/** The members of an import other than its records. */
export type ImportHead = Omit<Payload, 'records'>;

/** A valid record, ready to become a row; its text is in the batch. */
export interface ReadRecord {
  readonly kind: Kind;
  readonly id: string;
  readonly slug: string;
  readonly hasOwnSlug: boolean;
  readonly columns: Columns;
  readonly path: string;
  readonly file?: string;
  readonly start: number;
  readonly end: number;
}

export interface ImportBatch {
  readonly records: readonly ReadRecord[];
  /** UTF-8 text of the records. */
  readonly texts: Uint8Array;
  readonly faults: readonly ValidationDetail[];
  /** New references as `targetKey`, excluding references of earlier batches. */
  readonly targets: readonly string[];
}

export interface ImportReading {
  readonly head: ImportHead;
  /** Iterable once, in order. */
  readonly batches: Iterable<ImportBatch>;
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;

export const targetKey = (kind: Kind, id: string): string => `${kind}/${id}`;
export const categoryKey = (id: string): string => `category/${id}`;
/** Returns the key of a map that is referred to by its slug. */
export const mapSlugKey = (slug: string): string => `map-slug/${slug}`;

/**
 * Reads an import as far as possible without the data set: every record is parsed and validated
 * separately.
 * Throws `validation_failed`, `too_large`, `SyntaxError` and `PiecesBroken`, also while the batches
 * are read.
 * @param takeSpare returns the buffer of a processed batch.
 */
export function readImport(
  source: ImportSource,
  batchSize: number,
  takeSpare: TakeSpare = () => undefined,
): ImportReading {
  const { records, ...head } = readPayload(source);
  return { head, batches: batchesOf(records, source, { batchSize, takeSpare }) };
}

type TakeSpare = () => Uint8Array | undefined;

/** Batches have similar sizes. */
const ROOM_TO_GROW = 1.25;

function readPayload({ bytes, format }: ImportSource): Payload {
  const pieces = new JsonPieces(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return format === 'native' ? readNative(pieces) : readTarkovData(readFiles(pieces));
}

function readFiles(pieces: JsonPieces): ReadonlyMap<string, unknown> {
  const files = new Map<string, unknown>();
  for (const [name, piece] of pieces.members(pieces.whole())) {
    const file = name.replace(/^data\//, '');
    try {
      const value = pieces.parse(piece);
      refuseJsonFaults(file, value);
      files.set(file, value);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const message = `${file} is not JSON: ${error.message.slice(0, 200)}`;
      throw gameDataError('validation_failed', {
        message,
        details: [{ file, path: '', code: 'invalid_json', message }],
      });
    }
  }
  return files;
}

/** Rejects unsupported JSON here, where the position in the file is still known. */
function refuseJsonFaults(file: string, value: unknown): void {
  const faults = findJsonFaults(value);
  if (faults.length === 0) return;
  const details = faults.map((fault) => ({ file, ...fault }));
  throw gameDataError('validation_failed', {
    message: `${file} contains unsupported JSON`,
    details,
  });
}

function* batchesOf(
  records: Iterable<IncomingRecord>,
  { updatedAt, maxRecordCount }: ImportSource,
  { batchSize, takeSpare }: { readonly batchSize: number; readonly takeSpare: TakeSpare },
): Generator<ImportBatch> {
  let count = 0;
  const named = new Set<string>();
  let batch = new BatchMaker(named);
  for (const incoming of records) {
    count += 1;
    if (count > maxRecordCount) throw gameDataError('too_large', { maxRecordCount });
    batch.add(incoming, updatedAt);
    if (batch.count < batchSize) continue;
    yield batch.finish(takeSpare());
    batch = new BatchMaker(named);
  }
  if (batch.count > 0) yield batch.finish(takeSpare());
}

class BatchMaker {
  readonly #named: Set<string>;
  readonly #faults: ValidationDetail[] = [];
  readonly #targets: string[] = [];
  readonly #read: { readonly incoming: IncomingRecord; readonly record: StoredRecord }[] = [];
  count = 0;

  constructor(named: Set<string>) {
    this.#named = named;
  }

  add(incoming: IncomingRecord, now: string): void {
    const { kind, body, file, path } = incoming;
    this.count += 1;
    const own = body['updatedAt'];
    const updatedAt = typeof own === 'string' && RFC_3339.test(own) ? own : now;
    const { record, faults } = prepareRecord(kind, body, { updatedAt });
    if (record !== undefined) {
      this.#read.push({ incoming, record });
      this.#noteTargets(kind, record);
      return;
    }
    for (const fault of faults) {
      this.#faults.push({
        ...fault,
        type: KIND_WIRE[kind].typeKey,
        id: String(body['id'] ?? ''),
        path: `${path}${fault.path}`,
        ...(file && { file }),
      });
    }
  }

  #noteTargets(kind: Kind, record: StoredRecord): void {
    const keys = KIND_SPECS[kind]
      .references(record)
      .map((reference) => targetKey(reference.kind, reference.id));
    if ('conditions' in record && record.conditions.location !== 'any') {
      keys.push(mapSlugKey(record.conditions.location));
    }
    if ('handbook' in record && record.handbook.parent !== null) {
      keys.push(categoryKey(record.handbook.parent));
    }
    for (const key of keys) {
      if (this.#named.has(key)) continue;
      this.#named.add(key);
      this.#targets.push(key);
    }
  }

  finish(spare: Uint8Array | undefined): ImportBatch {
    const texts = this.#read.map(({ record }) => JSON.stringify(record));
    const size = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const room =
      spare !== undefined && spare.length >= size
        ? spare
        : Buffer.allocUnsafeSlow(Math.ceil(size * ROOM_TO_GROW));
    const bytes = Buffer.from(room.buffer, room.byteOffset, size);
    let end = 0;
    const records = this.#read.map(({ incoming, record }, index): ReadRecord => {
      const start = end;
      end += bytes.write(texts[index] ?? '', start);
      const { kind, body, path, file } = incoming;
      return {
        kind,
        id: record.id,
        slug: record.slug,
        hasOwnSlug: body['slug'] !== undefined && body['slug'] !== null,
        columns: KIND_SPECS[kind].columns(record),
        path,
        ...(file !== undefined && { file }),
        start,
        end,
      };
    });
    return { records, texts: bytes, faults: this.#faults, targets: this.#targets };
  }
}
