import { MAX_TIME_NS, MIN_TIME_NS } from '../../../../model/scan.js';
import { binText } from '../../../sql/functions/time/time-bins.js';
import type { CompiledCall } from '../../plan/compile/compiled-select.js';
import type { DataType } from '../../plan/data-type.js';
import { type outputColumn, sqlTypeOf, type TableReader } from '../series/table-reader.js';
import type { Windows } from '../windows/windows.js';

export interface Bucket {
  readonly text: string;
  readonly column: ReturnType<typeof outputColumn>;
  startOf(value: bigint | number): bigint;
}

/** With a lower bound buckets are small numbers, which the engine groups fastest; else their starts. */
export function bucketText(
  request: { readonly hasLowerBound: boolean; readonly minNs: bigint; readonly maxNs: bigint },
  windows: Windows,
  time: string,
): Bucket {
  const { everyNs, offsetNs } = windows;
  const origin = windows.of(request.minNs).start;
  // The first bucket of all begins with the earliest time, and not where the others would count from.
  const isCounted = request.hasLowerBound && origin > MIN_TIME_NS;
  if (isCounted && (request.maxNs - origin) / everyNs < 2n ** 31n) {
    // Between the ends of 64 bits there is more than they hold.
    const isWide = request.maxNs - origin > MAX_TIME_NS;
    const ns = isWide ? `CAST(epoch_ns(${time}) AS HUGEINT)` : `epoch_ns(${time})`;
    return {
      text: `CAST((${ns} - (${origin})) // ${everyNs} AS INTEGER)`,
      column: { name: 'b', type: { kind: 'int', bits: 32, signed: true }, source: undefined },
      startOf: (index) => origin + BigInt(index) * everyNs,
    };
  }
  return {
    text: binText(`epoch_ns(${time})`, { kind: 'fixed', widthNs: everyNs }, offsetNs),
    column: { name: 'b', type: sqlTypeOf('integer'), source: undefined },
    startOf: (start) => BigInt(start),
  };
}

export function aggregateText(call: CompiledCall, reader: TableReader): string {
  const { argument } = call;
  if (argument.kind === 'call') {
    const inner = argument.call.argument;
    return inner.kind === 'column' ? `count(DISTINCT ${reader.column(inner.ref)})` : 'NULL';
  }
  const x = reader.column(argument.ref);
  const type = argument.ref.type;
  switch (call.name) {
    case 'count':
      return `count(${x})`;
    case 'sum':
      return type === 'float' ? `sum(${x})` : wrapped(`sum(${x})`, type);
    case 'mean':
      return `avg(${x})`;
    case 'min':
    case 'max':
      return `${call.name}(${x})`;
    case 'spread':
      return type === 'float'
        ? `max(${x}) - min(${x})`
        : wrapped(`max(${x})::HUGEINT - min(${x})`, type);
    case 'stddev':
      // One value has no deviation, and is a point all the same.
      return `CASE count(${x}) WHEN 0 THEN NULL WHEN 1 THEN 'nan'::DOUBLE ELSE stddev_samp(${x}::DOUBLE) END`;
    case 'median':
      return `median(${x}::DOUBLE)`;
    default:
      return edgeText(call.name, x, reader);
  }
}

/** First or last value; of several at one time the greatest. */
function edgeText(name: string, x: string, reader: TableReader): string {
  const time = reader.time;
  if (reader.isGroupedBySeries) return `${name === 'first' ? 'arg_min' : 'arg_max'}(${x}, ${time})`;
  const order = name === 'first' ? `-epoch_ns(${time})` : time;
  return `arg_max(${x}, CASE WHEN ${x} IS NULL THEN NULL ELSE {'t': ${order}, 'v': ${x}} END)`;
}

/** Integers wrap at 64 bits as those of the real server. */
function wrapped(text: string, type: DataType): string {
  const shift = type === 'integer' ? 9223372036854775808n : 0n;
  const modulus = 18446744073709551616n;
  const sqlType = type === 'integer' ? 'BIGINT' : 'UBIGINT';
  return `CAST(((${text} + ${shift}) % ${modulus} + ${modulus}) % ${modulus} - ${shift} AS ${sqlType})`;
}
