import { setImmediate } from 'node:timers/promises';
import type { OutputColumn, ResultChunk, ResultStream } from '@plinth/tsdb-model/columns/result.js';
import { isValid } from '@plinth/tsdb-model/columns/row-batch.js';
import type { ByteWriter, ParquetWriter } from 'hyparquet-writer';

/** Maximum number of values and bytes in a row group, which is encoded without yielding. */
const GROUP_VALUES = 32_768;
const GROUP_BYTES = 1024 * 1024;
/**
 * Limits for tables with many columns: the footer describes each column of each group and is written in one step.
 */
const LEAST_GROUP_ROWS = 512;
const MOST_GROUP_BYTES = 8 * GROUP_BYTES;

type Schema = ConstructorParameters<typeof ParquetWriter>[0]['schema'];

/**
 * Encodes rows as a Parquet file, one row group at a time. The types are identical to the types that DuckDB writes for SQL.
 */
export async function* parquetPieces({
  columns,
  chunks,
}: ResultStream): AsyncGenerator<Buffer, void, undefined> {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const out = new ByteWriter();
  const schema: Schema = [
    { name: 'root', num_children: columns.length },
    ...columns.map((column) => ({
      name: column.name,
      repetition_type: 'OPTIONAL' as const,
      ...physicalType(column),
    })),
  ];
  const file = new ParquetWriter({ writer: out, schema, createdBy: 'plinth' });
  let group = new RowGroup(columns);
  const write = async (): Promise<Buffer> => {
    await file.write({ columnData: group.columnData(), rowGroupSize: group.rowCount });
    group = new RowGroup(columns);
    return taken(out);
  };
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.rowCount; ) {
      from = group.take(chunk, from);
      if (!group.isFull) continue;
      yield await write();
      // Yield to the event loop between two pieces.
      await setImmediate();
    }
    chunk.release?.();
  }
  if (group.rowCount > 0) yield await write();
  await file.finish();
  yield taken(out);
}

/** Returns the bytes written since the last call. */
function taken(out: ByteWriter): Buffer {
  const bytes = Buffer.from(out.getBytes());
  out.index = 0;
  return bytes;
}

function physicalType({ type, name }: OutputColumn): Omit<Schema[number], 'name'> {
  switch (type.kind) {
    case 'timestamp':
      return {
        type: 'INT64',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'NANOS' },
      };
    case 'int':
      return { type: 'INT64', converted_type: type.signed ? 'INT_64' : 'UINT_64' };
    case 'float':
      return { type: 'DOUBLE' };
    case 'boolean':
      return { type: 'BOOLEAN' };
    case 'utf8':
    case 'tag':
    case 'null':
      return { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } };
    default:
      throw new Error(`column "${name}" has type ${type.kind}, which InfluxQL does not support`);
  }
}

class RowGroup {
  readonly #columns: readonly OutputColumn[];
  readonly #values: readonly unknown[][];
  #sizeBytes = 0;
  rowCount = 0;

  constructor(columns: readonly OutputColumn[]) {
    this.#columns = columns;
    this.#values = columns.map(() => []);
  }

  get isFull(): boolean {
    const isLarge =
      this.rowCount * this.#columns.length >= GROUP_VALUES || this.#sizeBytes >= GROUP_BYTES;
    const isShort = this.rowCount < LEAST_GROUP_ROWS && this.#sizeBytes < MOST_GROUP_BYTES;
    return isLarge && !isShort;
  }

  /** Takes rows starting at `from` until the group is full. @returns the first row not taken. */
  take({ rowCount, columns }: ResultChunk, from: number): number {
    let row = from;
    for (; row < rowCount && !this.isFull; row++) {
      columns.forEach(({ values, validity }, i) => {
        const value = isValid(validity, row) ? values[row] : null;
        this.#sizeBytes += typeof value === 'string' ? value.length + 4 : 8;
        (this.#values[i] as unknown[]).push(value ?? null);
      });
      this.rowCount++;
    }
    return row;
  }

  columnData(): { name: string; data: unknown[] }[] {
    return this.#columns.map(({ name, type }, i) => {
      const values = this.#values[i] as unknown[];
      if (type.kind === 'boolean')
        return { name, data: values.map((v) => (v === null ? v : Boolean(v))) };
      if (type.kind !== 'int') return { name, data: values };
      return { name, data: values.map((v) => (typeof v === 'number' ? BigInt(v) : v)) };
    });
  }
}
