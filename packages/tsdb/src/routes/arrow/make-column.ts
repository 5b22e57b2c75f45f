import { assertNever } from '@plinth/kernel';
import { type IntervalValue, NS_PER_UNIT } from '@plinth/tsdb-model/sql-type.js';
import { floorDiv } from '@plinth/tsdb-model/time/calendar.js';
import type { ArrowType } from './arrow-field.js';
import type { ColumnBuilder } from './column-builder.js';
import { ListColumn, StructColumn, UnionColumn } from './nested-columns.js';
import { BooleanColumn, type CellWriter, FixedColumn, NullColumn } from './plain-columns.js';
import { TextColumn } from './text-column.js';

/** Creates the builder of a column. Its input has the representation of the `SqlType` table. */
export function makeColumn(type: ArrowType): ColumnBuilder {
  switch (type.kind) {
    case 'null':
      return new NullColumn();
    case 'boolean':
      return new BooleanColumn();
    case 'int':
      return intColumn(type.bits, type.signed);
    case 'float': {
      const isDouble = type.bits === 64;
      return new FixedColumn({
        width: type.bits / 8,
        isVerbatim: (values) => values instanceof (isDouble ? Float64Array : Float32Array),
        write: isDouble
          ? (bytes, at, cell) => void bytes.writeDoubleLE(Number(cell), at)
          : (bytes, at, cell) => void bytes.writeFloatLE(Number(cell), at),
      });
    }
    case 'decimal':
      return fixed(16, (bytes, at, cell) => writeDecimal(bytes, at, String(cell), type.scale));
    case 'utf8':
    case 'tag':
    case 'binary':
      return new TextColumn();
    case 'date':
    case 'time_ms':
      return intColumn(32, true);
    case 'time':
    case 'duration':
      return longColumn(1n);
    case 'timestamp':
      return longColumn(NS_PER_UNIT[type.unit]);
    case 'interval':
      return fixed(16, writeInterval);
    case 'list':
      return new ListColumn(makeColumn(type.element));
    case 'struct': {
      const names = type.fields.map(({ name }) => name);
      const children = type.fields.map((field) => makeColumn(field.type));
      return new StructColumn(children, (cell, index) =>
        Reflect.get(Object(cell), names[index] ?? ''),
      );
    }
    case 'map': {
      const pair = [makeColumn(type.key), makeColumn(type.value)];
      const memberOf = (cell: unknown, index: number): unknown => Reflect.get(Object(cell), index);
      return new ListColumn(new StructColumn(pair, memberOf));
    }
    case 'union':
      return new UnionColumn(type.members.map((member) => makeColumn(member.type)));
    default:
      return assertNever(type);
  }
}

/** Returns the bytes per value in a batch; `undefined` if they depend on the value. */
export function fixedSizeOf(type: ArrowType): number | undefined {
  switch (type.kind) {
    case 'null':
    case 'boolean':
      return 1;
    case 'int':
    case 'float':
      return type.bits / 8;
    case 'date':
    case 'time_ms':
      return 4;
    case 'time':
    case 'duration':
    case 'timestamp':
      return 8;
    case 'decimal':
    case 'interval':
      return 16;
    default:
      return undefined;
  }
}

const TWO_32 = 2 ** 32;

const ARRAY_OF_BITS = {
  8: [Uint8Array, Int8Array],
  16: [Uint16Array, Int16Array],
  32: [Uint32Array, Int32Array],
  64: [BigUint64Array, BigInt64Array],
} as const;

const SMALL_WRITERS: Readonly<Record<8 | 16 | 32, CellWriter>> = {
  8: (bytes, at, cell) => void bytes.writeUInt8(Number(cell) & 0xff, at),
  16: (bytes, at, cell) => void bytes.writeUInt16LE(Number(cell) & 0xffff, at),
  32: (bytes, at, cell) => void bytes.writeUInt32LE(Number(cell) >>> 0, at),
};

function intColumn(bits: 8 | 16 | 32 | 64, isSigned: boolean): ColumnBuilder {
  const expected = ARRAY_OF_BITS[bits][isSigned ? 1 : 0];
  return new FixedColumn({
    width: bits / 8,
    isVerbatim: (values) => values instanceof expected,
    write: bits === 64 ? writeLong : SMALL_WRITERS[bits],
  });
}

/** Converts nanoseconds in chunks to units of `unitNs` in Arrow. */
function longColumn(unitNs: bigint): ColumnBuilder {
  if (unitNs === 1n) return intColumn(64, true);
  return fixed(8, (bytes, at, cell) => {
    bytes.writeBigInt64LE(floorDiv(BigInt(cell as bigint), unitNs), at);
  });
}

const fixed = (width: number, write: CellWriter): ColumnBuilder =>
  new FixedColumn({ width, isVerbatim: () => false, write });

/**
 * Integers may arrive as doubles. They are written as two 32-bit halves, because a bigint per row
 * is slow.
 */
function writeLong(bytes: Buffer, at: number, cell: unknown): void {
  if (typeof cell === 'number') {
    const high = Math.floor(cell / TWO_32);
    bytes.writeUInt32LE(cell - high * TWO_32, at);
    bytes.writeInt32LE(high | 0, at + 4);
  } else bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(cell as bigint)), at);
}

/** Converts plain decimal notation to an integer in units of the last digit. */
function writeDecimal(bytes: Buffer, at: number, text: string, scale: number): void {
  const [whole = '0', fraction = ''] = text.split('.');
  const unscaled = BigInt(whole + fraction.padEnd(scale, '0').slice(0, scale));
  bytes.writeBigUInt64LE(BigInt.asUintN(64, unscaled), at);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, unscaled >> 64n), at + 8);
}

function writeInterval(bytes: Buffer, at: number, cell: unknown): void {
  const { months, days, nanos } = cell as IntervalValue; // representation of the `SqlType` table
  bytes.writeInt32LE(months, at);
  bytes.writeInt32LE(days, at + 4);
  bytes.writeBigInt64LE(BigInt.asIntN(64, nanos), at + 8);
}
