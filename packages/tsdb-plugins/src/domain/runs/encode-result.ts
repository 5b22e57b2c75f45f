import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import type { OutputColumn, ResultChunk, ResultStream } from '@plinth/tsdb-model/columns/result.js';
import { isValid } from '@plinth/tsdb-model/columns/row-batch.js';
import { type EncodedRows, PluginCallFailed } from '@plinth/tsdb-model/plugins/plugin-host.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { ColumnBlock, type FrameColumn } from '../../storage/python/column-block.js';

/** Maximum number of rows of a result, which is stored twice while it is sent to the plugin. */
const MAX_ROW_COUNT = 5_000_000;

/**
 * Encodes the complete result of a query for a plugin. Throws `PluginCallFailed` for
 * unsupported types.
 * Source: processing-engine, "query".
 */
export async function encodeResult(result: ResultStream): Promise<EncodedRows> {
  for (const { type } of result.columns) assertSupported(type);
  const chunks: ResultChunk[] = [];
  let rowCount = 0;
  for await (const chunk of result.chunks) {
    chunks.push(chunk);
    rowCount += chunk.rowCount;
    if (rowCount > MAX_ROW_COUNT) {
      throw new PluginCallFailed(
        'QueryError',
        `error: the result has more than ${MAX_ROW_COUNT} rows; query fewer rows at a time`,
      );
    }
  }
  const block = new ColumnBlock();
  const columns = result.columns.map((column, index) =>
    encodeColumn(column, { index, chunks, rowCount, block }),
  );
  return { rowCount, columns, parts: block.parts };
}

function assertSupported(type: SqlType): void {
  const isSupported =
    type.kind === 'null' ||
    type.kind === 'boolean' ||
    type.kind === 'utf8' ||
    type.kind === 'tag' ||
    type.kind === 'timestamp' ||
    (type.kind === 'int' && type.bits === 64) ||
    (type.kind === 'float' && type.bits === 64);
  if (!isSupported) {
    throw new PluginCallFailed('ValueError', `Unsupported data type: ${arrowName(type)}`);
  }
}

/** Returns the Arrow name of a type; nested types are named without their members. */
function arrowName(type: SqlType): string {
  switch (type.kind) {
    case 'int':
    case 'float':
    case 'decimal':
    case 'date':
    case 'time':
      return arrowTypeName(type);
    default:
      return `${type.kind[0]?.toUpperCase()}${type.kind.slice(1)}`;
  }
}

function encodeColumn(
  column: OutputColumn,
  from: {
    readonly index: number;
    readonly chunks: readonly ResultChunk[];
    readonly rowCount: number;
    readonly block: ColumnBlock;
  },
): FrameColumn {
  const { block, rowCount } = from;
  const { name, type } = column;
  const present = presenceOf(from);
  switch (type.kind) {
    case 'float':
      return block.numbers(name, filled(from, new Float64Array(rowCount)), present);
    case 'int':
      return type.signed
        ? block.numbers(name, filled(from, new BigInt64Array(rowCount)), present)
        : block.numbers(name, filled(from, new BigUint64Array(rowCount)), present);
    case 'timestamp':
      return block.numbers(name, filled(from, new BigInt64Array(rowCount)), present);
    case 'boolean':
      return block.booleans(name, filled(from, new Uint8Array(rowCount)), present);
    case 'utf8':
    case 'tag':
      return block.texts(
        name,
        filled(from, new Array<string>(rowCount).fill('')).map((text) => text ?? ''),
        present,
      );
    default:
      return block.booleans(name, new Uint8Array(rowCount), new Uint8Array(rowCount));
  }
}

/** Returns one byte per row; `undefined` if no value is NULL. */
function presenceOf(from: {
  readonly index: number;
  readonly chunks: readonly ResultChunk[];
  readonly rowCount: number;
}): Uint8Array | undefined {
  const present = new Uint8Array(from.rowCount).fill(1);
  let hasNulls = false;
  let row = 0;
  for (const chunk of from.chunks) {
    const validity = chunk.columns[from.index]?.validity;
    if (validity !== undefined) {
      hasNulls = true;
      for (let i = 0; i < chunk.rowCount; i++) present[row + i] = isValid(validity, i) ? 1 : 0;
    }
    row += chunk.rowCount;
  }
  return hasNulls ? present : undefined;
}

/** Copies all chunks of a column into `target`, whose type matches the column's `SqlType`. */
function filled<T extends { [row: number]: unknown }>(
  from: { readonly index: number; readonly chunks: readonly ResultChunk[] },
  target: T,
): T {
  const cells: { [row: number]: unknown } = target;
  const isWide = target instanceof BigInt64Array || target instanceof BigUint64Array;
  let row = 0;
  for (const chunk of from.chunks) {
    const values = chunk.columns[from.index]?.values ?? [];
    for (let i = 0; i < chunk.rowCount; i++) {
      const value = values[i];
      if (value === undefined || value === null) continue;
      // Small integers may arrive as numbers.
      cells[row + i] = isWide && typeof value === 'number' ? BigInt(value) : value;
    }
    row += chunk.rowCount;
  }
  return target;
}
