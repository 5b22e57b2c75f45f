import { setImmediate } from 'node:timers/promises';
import type { CommittedRows } from '@plinth/tsdb-engine/write/commit-listener.js';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { isValid, type RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import { grouped } from '@plinth/tsdb-model/grouped.js';
import type { PluginInput } from '@plinth/tsdb-model/plugins/plugin-host.js';
import { ColumnBlock, type FrameColumn } from '../../storage/python/column-block.js';

/** Number of rows encoded before yielding to the event loop. */
const ROWS_PER_TICK = 20_000;

/**
 * Encodes the input of one call. Tables are in order of first appearance; columns are tags, fields,
 * then time.
 */
export async function encodeWrites(committed: readonly CommittedRows[]): Promise<PluginInput> {
  const block = new ColumnBlock();
  const batches: { table: string; rowCount: number; columns: FrameColumn[] }[] = [];
  for (const [table, parts] of grouped(committed, (rows) => rows.table)) {
    const encoder = new TableEncoder(parts, block);
    batches.push({ table, rowCount: encoder.rowCount, columns: await encoder.columns() });
  }
  return { kind: 'writes', batches, parts: block.parts };
}

class TableEncoder {
  readonly rowCount: number;
  readonly #parts: readonly CommittedRows[];
  readonly #block: ColumnBlock;
  #rowsSinceYield = 0;

  constructor(parts: readonly CommittedRows[], block: ColumnBlock) {
    this.#parts = parts;
    this.#block = block;
    this.rowCount = parts.reduce((sum, { batch }) => sum + batch.rowCount, 0);
  }

  async columns(): Promise<FrameColumn[]> {
    const columns: FrameColumn[] = [];
    const tags = new Set(this.#parts.flatMap(({ index }) => [...index.tagNames]));
    for (const tag of tags) {
      const column = this.#tag(tag);
      if (column !== undefined) columns.push(column);
      await this.#pause();
    }
    // Identify fields by name and type, not by id: a table that was deleted and created again
    // renumbers its columns. If a name has two types, both columns are sent, and each row has a
    // value in at most one.
    const fields = new Map<string, Column>();
    for (const { batch } of this.#parts) {
      for (const { column } of batch.fields) fields.set(`${column.kind} ${column.name}`, column);
    }
    for (const field of fields.values()) {
      columns.push(this.#field(field));
      await this.#pause();
    }
    columns.push(this.#times());
    return columns;
  }

  async #pause(): Promise<void> {
    this.#rowsSinceYield += this.rowCount;
    if (this.#rowsSinceYield < ROWS_PER_TICK) return;
    this.#rowsSinceYield = 0;
    await setImmediate();
  }

  /** Returns `undefined` if no row has the tag. */
  #tag(tag: string): FrameColumn | undefined {
    const codes = new Int32Array(this.rowCount);
    const present = new Uint8Array(this.rowCount);
    const texts: string[] = [];
    const codeOf = new Map<string, number>();
    let presentCount = 0;
    let row = 0;
    for (const { batch, index } of this.#parts) {
      // Codes of the series index are faster to look up than strings. The codes of this call
      // start at 0.
      const codeOfNumber = new Map<number, number>();
      for (let i = 0; i < batch.rowCount; i++, row++) {
        const series = batch.seriesOrdinals[i] as number; // i < rowCount
        const number = index.tagCode(series, tag);
        if (number === 0) continue;
        let code = codeOfNumber.get(number);
        if (code === undefined) {
          const value = index.tagValue(series, tag) ?? '';
          code = codeOf.get(value) ?? texts.length;
          if (code === texts.length) {
            texts.push(value);
            codeOf.set(value, code);
          }
          codeOfNumber.set(number, code);
        }
        codes[row] = code;
        present[row] = 1;
        presentCount++;
      }
    }
    if (presentCount === 0) return undefined;
    const validity = presentCount === this.rowCount ? undefined : present;
    return this.#block.dictionary(tag, codes, { texts, present: validity });
  }

  #field(column: Column): FrameColumn {
    const { name } = column;
    switch (column.kind) {
      case 'float64':
        return this.#numbers(column, new Float64Array(this.rowCount));
      case 'int64':
        return this.#numbers(column, new BigInt64Array(this.rowCount));
      case 'uint64':
        return this.#numbers(column, new BigUint64Array(this.rowCount));
      case 'bool': {
        const values = new Uint8Array(this.rowCount);
        const present = this.#copy(column, (from, row) => {
          if (from.type === 'bool') values.set(from.values, row);
        });
        return this.#block.booleans(name, values, present);
      }
      default: {
        const values = new Array<string>(this.rowCount).fill('');
        const present = this.#copy(column, (from, row) => {
          if (from.type !== 'utf8') return;
          const bytes = Buffer.from(
            from.bytes.buffer,
            from.bytes.byteOffset,
            from.bytes.byteLength,
          );
          for (let i = 0; i + 1 < from.offsets.length; i++) {
            values[row + i] = bytes.toString('utf8', from.offsets[i], from.offsets[i + 1]);
          }
        });
        return this.#block.texts(name, values, present);
      }
    }
  }

  #numbers(column: Column, values: Float64Array | BigInt64Array | BigUint64Array): FrameColumn {
    const present = this.#copy(column, (from, row) => {
      // The column's type selected `values`, so the field's data has the same type.
      (values as { set(source: unknown, offset: number): void }).set(
        (from as { values: unknown }).values,
        row,
      );
    });
    return this.#block.numbers(column.name, values, present);
  }

  /**
   * Calls `take` for every batch with the field. Returns which rows have a value; `undefined` if
   * all have.
   */
  #copy(
    column: Column,
    take: (data: RowBatch['fields'][number]['data'], row: number) => void,
  ): Uint8Array | undefined {
    const present = new Uint8Array(this.rowCount);
    let isComplete = true;
    let row = 0;
    for (const { batch } of this.#parts) {
      const field = batch.fields.find(
        ({ column: { name, kind } }) => name === column.name && kind === column.kind,
      );
      if (field === undefined) isComplete = false;
      else {
        take(field.data, row);
        if (field.validity === undefined) present.fill(1, row, row + batch.rowCount);
        else {
          isComplete = false;
          for (let i = 0; i < batch.rowCount; i++) {
            present[row + i] = isValid(field.validity, i) ? 1 : 0;
          }
        }
      }
      row += batch.rowCount;
    }
    return isComplete ? undefined : present;
  }

  #times(): FrameColumn {
    const values = new BigInt64Array(this.rowCount);
    let row = 0;
    for (const { batch } of this.#parts) {
      values.set(batch.times.subarray(0, batch.rowCount), row);
      row += batch.rowCount;
    }
    return this.#block.numbers('time', values, undefined);
  }
}
