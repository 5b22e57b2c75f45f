import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { isNumeric, isText, listDepth, type SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { BoundExpr } from '../../bound-expr.js';
import type { FunctionCall, FunctionDefinition, FunctionResult } from '../function-definition.js';
import {
  argAt,
  BOOLEAN,
  badArguments,
  commonType,
  constantText,
  expectArgCount,
  FLOAT64,
  intArg,
  scalar,
  textArg,
  UINT64,
  UTF8,
} from '../signature.js';
import { MAX_LIST_LENGTH, maxListLength } from './list-macros.js';
import { bindRange } from './ranges.js';

type ListType = Extract<SqlType, { kind: 'list' }>;

/**
 * Signature and text of a list function. Argument kinds: `l` a list (the first one determines the
 * element type), `e` an element, `i` an integer; `?` makes the rest optional. `type` is the result:
 * the list's type, its element type, or a fixed type.
 */
interface ListFunction {
  readonly args: string;
  readonly type: 'list' | 'element' | SqlType;
  text(...args: string[]): string;
}

const LIST_FUNCTIONS: Readonly<Record<string, ListFunction>> = {
  any_value: { args: 'l', type: 'element', text: (l) => `list_any_value(${l})` },
  append: { args: 'le', type: 'list', text: (l, e) => `list_append(${l}, ${e})` },
  distinct: { args: 'l', type: 'list', text: (l) => `plinth_list_unique(${l})` },
  element: { args: 'li', type: 'element', text: (l, i) => `list_extract(${l}, ${i})` },
  empty: { args: 'l', type: BOOLEAN, text: (l) => `(len(${l}) = 0)` },
  except: { args: 'll', type: 'list', text: (a, b) => `plinth_list_except(${a}, ${b})` },
  has: { args: 'le', type: BOOLEAN, text: (l, e) => `list_contains(${l}, ${e})` },
  has_all: { args: 'll', type: BOOLEAN, text: (a, b) => `plinth_list_has_all(${a}, ${b})` },
  has_any: { args: 'll', type: BOOLEAN, text: (a, b) => `plinth_list_has_any(${a}, ${b})` },
  intersect: { args: 'll', type: 'list', text: (a, b) => `plinth_list_intersect(${a}, ${b})` },
  max: { args: 'l', type: 'element', text: (l) => `list_max(${l})` },
  min: { args: 'l', type: 'element', text: (l) => `list_min(${l})` },
  pop_back: { args: 'l', type: 'list', text: (l) => `array_pop_back(${l})` },
  pop_front: { args: 'l', type: 'list', text: (l) => `array_pop_front(${l})` },
  position: {
    args: 'le?i',
    type: UINT64,
    text: (l, e, start = '1') => `plinth_list_position(${l}, ${e}, ${start})`,
  },
  positions: {
    args: 'le',
    type: { kind: 'list', element: UINT64 },
    text: (l, e) => `plinth_list_positions(${l}, ${e})`,
  },
  prepend: { args: 'el', type: 'list', text: (e, l) => `list_prepend(${e}, ${l})` },
  remove: { args: 'le', type: 'list', text: (l, e) => `plinth_list_remove(${l}, ${e}, 1)` },
  remove_n: {
    args: 'lei',
    type: 'list',
    text: (l, e, n) => `plinth_list_remove(${l}, ${e}, ${n})`,
  },
  remove_all: {
    args: 'le',
    type: 'list',
    text: (l, e) => `plinth_list_remove_all(${l}, ${e})`,
  },
  replace: {
    args: 'lee',
    type: 'list',
    text: (l, a, b) => `plinth_list_replace(${l}, ${a}, ${b}, 1)`,
  },
  replace_n: {
    args: 'leei',
    type: 'list',
    text: (l, a, b, n) => `plinth_list_replace(${l}, ${a}, ${b}, ${n})`,
  },
  replace_all: {
    args: 'lee',
    type: 'list',
    text: (l, a, b) => `plinth_list_replace_all(${l}, ${a}, ${b})`,
  },
  resize: {
    args: 'li?e',
    type: 'list',
    text: (l, size, fill) =>
      `list_resize(${l}, plinth_list_length(greatest(${size}, 0), ${MAX_LIST_LENGTH})${fill === undefined ? '' : `, ${fill}`})`,
  },
  reverse: { args: 'l', type: 'list', text: (l) => `list_reverse(${l})` },
  slice: { args: 'lii?i', type: 'list', text: (...args) => `list_slice(${args.join(', ')})` },
  union: {
    args: 'll',
    type: 'list',
    text: (a, b) => `plinth_list_union(${a}, ${b})`,
  },
};

/** Approximate size of a list element. */
const BYTES_PER_ELEMENT = 16;

/** Further names; every function has the prefixes `array_` and `list_`. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  append: ['array_push_back', 'list_push_back'],
  distance: [],
  element: ['array_extract', 'list_extract'],
  empty: ['empty'],
  has: ['array_contains', 'list_contains'],
  has_any: ['arrays_overlap'],
  position: ['array_indexof', 'list_indexof'],
  prepend: ['array_push_front', 'list_push_front'],
};

/**
 * List functions. Source: query-languages, "Conditional, list, struct, map, misc"; details:
 * DataFusion, "Array Functions".
 */
export const LISTS: readonly FunctionDefinition[] = [
  ...Object.entries(LIST_FUNCTIONS).map(([name, definition]) =>
    scalar([...bothPrefixes(name), ...(ALIASES[name] ?? [])], (call) => bindList(call, definition)),
  ),
  scalar(bothPrefixes('distance'), (call) => {
    expectArgCount(call, 2);
    const texts = call.args.map((arg) => {
      const element = arg.type.kind === 'list' ? arg.type.element : arg.type;
      if (!isNumeric(element) && element.kind !== 'null') throw badArguments(call);
      return call.coerce(arg, { kind: 'list', element: FLOAT64 }).text;
    });
    return { text: `plinth_list_distance(${texts.join(', ')})`, type: FLOAT64 };
  }),
  scalar(['make_array', 'make_list'], (call) => {
    expectArgCount(call, 0, Number.POSITIVE_INFINITY);
    const element = commonType(call.args.map((arg) => arg.type));
    if (element === undefined) throw badArguments(call);
    const texts = call.args.map((arg) => call.coerce(arg, element).text);
    return { text: `[${texts.join(', ')}]`, type: { kind: 'list', element } };
  }),
  scalar([...bothPrefixes('cat'), ...bothPrefixes('concat')], (call) => {
    expectArgCount(call, 1, Number.POSITIVE_INFINITY);
    const type = commonType(call.args.map((arg) => arg.type));
    if (type?.kind !== 'list') throw badArguments(call);
    const texts = call.args.map((arg) => call.coerce(arg, type).text);
    return { text: texts.reduce((joined, text) => `list_concat(${joined}, ${text})`), type };
  }),
  scalar(bothPrefixes('length'), (call) => {
    expectArgCount(call, 1, 2);
    return { text: lengthText(call), type: UINT64 };
  }),
  scalar(bothPrefixes('ndims'), (call) => {
    expectArgCount(call, 1);
    const { text, type } = listAt(call, 0);
    return {
      text: `CASE WHEN ${text} IS NOT NULL THEN CAST(${listDepth(type)} AS UBIGINT) END`,
      type: UINT64,
    };
  }),
  scalar(bothPrefixes('dims'), (call) => {
    expectArgCount(call, 1);
    const { text, type } = listAt(call, 0);
    const levels = Array.from(
      { length: listDepth(type) },
      (_, level) => `${text}${'[1]'.repeat(level)}`,
    );
    const sizes = levels.map((level) => `CAST(len(${level}) AS UBIGINT)`);
    return { text: `[${sizes.join(', ')}]`, type: { kind: 'list', element: UINT64 } };
  }),
  scalar(['cardinality'], (call) => {
    expectArgCount(call, 1);
    const { text, type } = argAt(call, 0);
    if (type.kind === 'map') return { text: `CAST(cardinality(${text}) AS UBIGINT)`, type: UINT64 };
    const flat = flattened(listAt(call, 0).text, listAt(call, 0).type);
    return { text: `CAST(len(${flat.text}) AS UBIGINT)`, type: UINT64 };
  }),
  scalar(['flatten'], (call) => {
    expectArgCount(call, 1);
    return flattened(listAt(call, 0).text, listAt(call, 0).type);
  }),
  scalar(bothPrefixes('repeat'), (call) => {
    expectArgCount(call, 2);
    const { text, type } = argAt(call, 0);
    const size =
      type.kind === 'list'
        ? `len(${flattened(text, type).text})`
        : isText(type)
          ? `strlen(${text}) // ${BYTES_PER_ELEMENT}`
          : '1';
    const count = `plinth_repeat_count(${intArg(call, 1).text}, ${size}, ${maxListLength(call.args)})`;
    return {
      text: `CASE WHEN ${intArg(call, 1).text} IS NOT NULL THEN list_transform([${text}], lambda plinth_item: list_transform(range(${count}), lambda plinth_i: plinth_item))[1] END`,
      type: { kind: 'list', element: type },
    };
  }),
  scalar(bothPrefixes('sort'), bindSort),
  scalar([...bothPrefixes('to_string'), ...bothPrefixes('join')], (call) => {
    expectArgCount(call, 2, 3);
    const list = flattened(listAt(call, 0).text, listAt(call, 0).type);
    const absent = call.args.length > 2 ? textArg(call, 2).text : 'CAST(NULL AS VARCHAR)';
    const isFloat = list.type.kind === 'list' && list.type.element.kind === 'float';
    const items = isFloat
      ? `list_transform(${list.text}, lambda f: regexp_replace(plinth_float_text(f), '[.]0$', ''))`
      : list.text;
    const between = textArg(call, 1);
    const text = joinText(`plinth_present_texts(${items}, ${absent})`, between);
    return { text: `CASE WHEN ${between.text} IS NOT NULL THEN ${text} END`, type: UTF8 };
  }),
  scalar(['string_to_array', 'string_to_list'], (call) => {
    expectArgCount(call, 2, 3);
    const absent = call.args.length > 2 ? textArg(call, 2).text : 'CAST(NULL AS VARCHAR)';
    const [text, between] = [textArg(call, 0).text, textArg(call, 1).text];
    return {
      text: `plinth_text_to_list(${text}, ${between}, ${absent})`,
      type: { kind: 'list', element: UTF8 },
    };
  }),
  scalar(['range'], (call) => bindRange(call, false)),
  scalar(['generate_series'], (call) => bindRange(call, true)),
  scalar(['unnest'], (call) => {
    expectArgCount(call, 1);
    const { text, type } = listAt(call, 0);
    const lists = unnestedLists(argAt(call, 0));
    return {
      text: `unnest(${lists === undefined ? text : `flatten(${lists})`})`,
      type: type.element,
    };
  }),
];

/**
 * Flattens a nested `unnest` into one list, because DuckDB unnests one level. Returns `undefined`
 * for other values.
 */
function unnestedLists({ call }: BoundExpr): string | undefined {
  const [lists] = call?.name === 'unnest' ? call.args : [];
  if (lists === undefined) return undefined;
  const inner = unnestedLists(lists);
  return inner === undefined ? lists.text : `flatten(${inner})`;
}

/** Joins the strings of a list that contains no NULL. */
export function joinText(list: string, between: Pick<BoundExpr, 'text' | 'constant'>): string {
  return typeof between.constant?.value === 'string'
    ? `array_to_string(${list}, ${between.text})`
    : `plinth_join(${list}, ${between.text})`;
}

function bindList(call: FunctionCall, { args, type, text }: ListFunction): FunctionResult {
  const optionalFrom = args.indexOf('?');
  const letters = args.replace('?', '');
  expectArgCount(call, optionalFrom === -1 ? letters.length : optionalFrom, letters.length);
  const listType = elementTypeOf(call, letters);
  const texts = call.args.map((arg, index) => {
    if (letters[index] === 'i') return intArg(call, index).text;
    return call.coerce(arg, letters[index] === 'l' ? listType : listType.element).text;
  });
  const result = type === 'list' ? listType : type === 'element' ? listType.element : type;
  return { text: text(...texts), type: result };
}

/**
 * Returns the text for the length of a list, or of its first nested list at a dimension; NULL
 * beyond its depth.
 */
function lengthText(call: FunctionCall): string {
  const { text, type } = listAt(call, 0);
  if (call.args.length === 1) return `CAST(len(${text}) AS UBIGINT)`;
  const dimension = intArg(call, 1).text;
  const cases = Array.from(
    { length: listDepth(type) },
    (_, level) => ` WHEN ${level + 1} THEN len(${text}${'[1]'.repeat(level)})`,
  );
  return `CAST(CASE ${dimension}${cases.join('')} END AS UBIGINT)`;
}

/** Returns the list type that accepts all lists and elements of the call. */
function elementTypeOf(call: FunctionCall, letters: string): ListType {
  const elements = call.args.flatMap((arg, index) => {
    if (letters[index] === 'l') return [listAt(call, index).type.element];
    return letters[index] === 'e' ? [arg.type] : [];
  });
  const element = commonType(elements);
  if (element === undefined) throw badArguments(call);
  return { kind: 'list', element };
}

function listAt(
  call: FunctionCall,
  index: number,
): { readonly text: string; readonly type: ListType } {
  const { text, type } = argAt(call, index);
  if (type.kind === 'null')
    return { text: 'CAST(NULL AS INTEGER[])', type: { kind: 'list', element: type } };
  if (type.kind !== 'list') throw badArguments(call);
  return { text, type };
}

function bothPrefixes(name: string): string[] {
  return [`array_${name}`, `list_${name}`];
}

function flattened(text: string, type: ListType): FunctionResult {
  return type.element.kind === 'list'
    ? flattened(`flatten(${text})`, type.element)
    : { text, type };
}

/** Binds `array_sort(l [, 'ASC' | 'DESC' [, 'NULLS FIRST' | 'NULLS LAST']])`. */
function bindSort(call: FunctionCall): FunctionResult {
  expectArgCount(call, 1, 3);
  const { text, type } = listAt(call, 0);
  if (call.args.some((arg) => arg.type.kind === 'null')) {
    return { text: `CASE WHEN false THEN ${text} END`, type };
  }
  const direction = call.args.length > 1 ? constantText(call, 1, 'its order').toUpperCase() : 'ASC';
  const nulls =
    call.args.length > 2 ? constantText(call, 2, 'its NULL order').toUpperCase() : 'NULLS FIRST';
  if (!['ASC', 'DESC'].includes(direction) || !['NULLS FIRST', 'NULLS LAST'].includes(nulls)) {
    throw tsdbError(
      'plan_error',
      "Execution error: array_sort order must be 'ASC' or 'DESC', then 'NULLS FIRST' or 'NULLS LAST'",
    );
  }
  return { text: `list_sort(${text}, '${direction}', '${nulls}')`, type };
}
