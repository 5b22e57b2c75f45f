import type { FunctionCall, FunctionDefinition } from '../function-definition.js';
import { argAt, badArguments, commonType, expectArgCount, scalar } from '../signature.js';

/** Conditional functions. Source: query-languages, "Conditional, list, struct, map, misc". */
export const CONDITIONALS: readonly FunctionDefinition[] = [
  // DuckDB rejects a single argument; the result is that argument.
  ...['coalesce', 'greatest', 'least'].map((name) =>
    scalar([name], (call) => {
      expectArgCount(call, 1, Number.POSITIVE_INFINITY);
      const { texts, type } = unified(call, 0);
      return { text: texts.length === 1 ? `${texts[0]}` : `${name}(${texts.join(', ')})`, type };
    }),
  ),
  scalar(['nullif'], (call) => {
    expectArgCount(call, 2);
    const { texts, type } = unified(call, 0);
    const [a, b] = texts;
    return { text: `CASE WHEN ${a} = ${b} THEN NULL ELSE ${a} END`, type };
  }),
  scalar(['nvl', 'ifnull'], (call) => {
    expectArgCount(call, 2);
    const { texts, type } = unified(call, 0, false);
    return { text: `coalesce(${texts.join(', ')})`, type };
  }),
  scalar(['nvl2'], (call) => {
    expectArgCount(call, 3);
    const { texts, type } = unified(call, 1, false);
    const [present, absent] = texts;
    return {
      text: `CASE WHEN ${argAt(call, 0).text} IS NOT NULL THEN ${present} ELSE ${absent} END`,
      type,
    };
  }),
];

/** Returns the arguments from `first` on, converted to their common type. */
function unified(call: FunctionCall, first: number, textYields = true) {
  const args = call.args.slice(first);
  const type = commonType(
    args.map((arg) => arg.type),
    textYields,
  );
  if (type === undefined) throw badArguments(call);
  return { texts: args.map((arg) => call.coerce(arg, type).text), type };
}
