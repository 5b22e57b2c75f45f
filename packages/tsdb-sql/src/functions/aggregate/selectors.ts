import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { type SqlType, valueType } from '@plinth/tsdb-model/sql-type.js';
import type { FunctionCall, FunctionDefinition, FunctionResult } from '../function-definition.js';
import { aggregate, argAt, badArguments, expectArgCount, TIMESTAMP } from '../signature.js';

/**
 * A selector returns `{value, time}` of one row, with `other_1`, `other_2`, ... for further
 * arguments. The row with the greatest `key` wins. Ties in time go to the larger value, ties in
 * value to the earlier time. Times are compared as integers so that a minus sign reverses the
 * order.
 * Source: query-languages, "Selectors".
 */
interface Ranking {
  readonly duckDbFunction: 'arg_min' | 'arg_max';
  key(value: string, timeNs: string): string;
}

const RANKING: Readonly<Record<string, Ranking>> = {
  selector_first: {
    duckDbFunction: 'arg_max',
    key: (value, timeNs) => `row(-${timeNs}, ${value})`,
  },
  selector_last: { duckDbFunction: 'arg_max', key: (value, timeNs) => `row(${timeNs}, ${value})` },
  selector_min: { duckDbFunction: 'arg_min', key: (value, timeNs) => `row(${value}, ${timeNs})` },
  selector_max: { duckDbFunction: 'arg_max', key: (value, timeNs) => `row(${value}, -${timeNs})` },
};

export const SELECTORS: readonly FunctionDefinition[] = Object.entries(RANKING).map(
  ([name, ranking]) => aggregate([name], (call) => bindSelector(call, ranking)),
);

function bindSelector(call: FunctionCall, ranking: Ranking): FunctionResult {
  expectArgCount(call, 2, Number.MAX_SAFE_INTEGER);
  const value = argAt(call, 0);
  const time = argAt(call, 1);
  const others = call.args.slice(2).map((_, i) => argAt(call, i + 2));
  if (![value, ...others].every(({ type }) => isSelectable(type))) throw badArguments(call);
  if (time.type.kind !== 'timestamp' || time.type.unit !== 'ns') {
    throw tsdbError(
      'plan_error',
      `Error during planning: ${call.name} second argument must be a timestamp, but got ` +
        arrowTypeName(time.type),
    );
  }
  const fields = [
    { name: 'value', text: value.text, type: valueType(value.type) },
    { name: 'time', text: time.text, type: { ...TIMESTAMP } },
    ...others.map(({ text, type }, i) => ({ name: `other_${i + 1}`, text, type: valueType(type) })),
  ];
  const struct = (textOf: (field: (typeof fields)[number]) => string): string =>
    `{${fields.map((field) => `'${field.name}': ${textOf(field)}`).join(', ')}}`;
  const picked = call.aggregate(
    ranking.duckDbFunction,
    [struct(({ text }) => text), ranking.key(value.text, `epoch_ns(${time.text})`)],
    { filter: `${value.text} IS NOT NULL`, distinct: false },
  );
  return {
    // A group without values returns a struct of NULLs, not a NULL struct.
    text: struct(({ name }) => `struct_extract(${picked}, '${name}')`),
    type: { kind: 'struct', fields: fields.map(({ name, type }) => ({ name, type })) },
  };
}

function isSelectable(type: SqlType): boolean {
  return ['int', 'float', 'utf8', 'tag', 'boolean'].includes(type.kind);
}
