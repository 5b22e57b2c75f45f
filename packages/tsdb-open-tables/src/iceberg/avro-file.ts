import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import type { EventLoopYielder } from '@plinth/kernel';
import avro, { type Type } from 'avsc';

const deflate = promisify(deflateRaw);

const MAGIC = Buffer.from('Obj\u0001', 'latin1');
const METADATA = avro.Type.forSchema({ type: 'map', values: 'bytes' });
const LONG = avro.Type.forSchema('long');
const SYNC_BYTES = 16;

/** Number of records per block, which is encoded without a pause. */
const BLOCK_RECORDS = 1000;
/** Level 1 takes half the time of level 6, and its output is 5 % larger. */
const DEFLATE_LEVEL = 1;

/** A schema as stored in a file, with the field ids that Iceberg readers need. */
export interface AvroSchema {
  readonly schema: object;
  readonly type: Type;
}

/** Compressed records, which files with compatible schemas can share. */
export interface AvroBlocks {
  readonly blocks: readonly { readonly count: number; readonly bytes: Uint8Array }[];
}

export function avroSchema(schema: object): AvroSchema {
  return { schema, type: avro.Type.forSchema(schema as avro.Schema) };
}

/** Encodes records one block per event-loop tick. */
export async function encodeRecords<Row>(
  { type }: AvroSchema,
  rows: readonly Row[],
  options: { readonly toRecord: (row: Row) => object; readonly yielder: EventLoopYielder },
): Promise<AvroBlocks> {
  const blocks: { readonly count: number; readonly bytes: Uint8Array }[] = [];
  for (let from = 0; from < rows.length; from += BLOCK_RECORDS) {
    if (from > 0) await options.yielder.next();
    const slice = rows.slice(from, from + BLOCK_RECORDS);
    const records = slice.map((row) => type.toBuffer(options.toRecord(row)));
    const bytes = await deflate(Buffer.concat(records), { level: DEFLATE_LEVEL });
    blocks.push({ count: slice.length, bytes });
  }
  return { blocks };
}

/**
 * Returns the parts of an Avro object container file.
 * Source: Apache Avro 1.12 specification, "Object Container Files".
 */
export function avroFile(
  { schema }: AvroSchema,
  metadata: Readonly<Record<string, string>>,
  { blocks }: AvroBlocks,
): readonly Uint8Array[] {
  const sync = randomBytes(SYNC_BYTES);
  const entries = { 'avro.schema': JSON.stringify(schema), 'avro.codec': 'deflate', ...metadata };
  const header = METADATA.toBuffer(
    Object.fromEntries(Object.entries(entries).map(([key, text]) => [key, Buffer.from(text)])),
  );
  const framed = blocks.flatMap(({ count, bytes }) => [
    LONG.toBuffer(count),
    LONG.toBuffer(bytes.byteLength),
    bytes,
    sync,
  ]);
  return [MAGIC, header, sync, ...framed];
}
