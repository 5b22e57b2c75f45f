import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { SqlType, StructField } from '@plinth/tsdb-model/sql-type.js';
import { quoteString } from '../../emit/quote.js';
import type { FunctionCall, FunctionDefinition, FunctionResult } from '../function-definition.js';
import {
  argAt,
  badArguments,
  commonType,
  constantText,
  expectArgCount,
  scalar,
} from '../signature.js';

const MANY = Number.POSITIVE_INFINITY;

/** Struct and map functions. Source: query-languages, "Conditional, list, struct, map, misc". */
export const STRUCTS: readonly FunctionDefinition[] = [
  scalar(['named_struct'], bindNamedStruct),
  scalar(['struct', 'row'], (call) => {
    expectArgCount(call, 1, MANY);
    return structOf(call.args.map((arg, index) => ({ name: `c${index}`, ...arg })));
  }),
  scalar(['get_field'], bindGetField),
  scalar(['make_map'], mapOfPairs),
  scalar(['map'], (call) => {
    const areLists = call.args.length === 2 && call.args.every(({ type }) => type.kind === 'list');
    return areLists ? mapOf(call, argAt(call, 0), argAt(call, 1)) : mapOfPairs(call);
  }),
  scalar(['map_keys'], (call) => {
    const { text, type } = mapArg(call);
    return { text: `map_keys(${text})`, type: { kind: 'list', element: type.key } };
  }),
  scalar(['map_values'], (call) => {
    const { text, type } = mapArg(call);
    return { text: `map_values(${text})`, type: { kind: 'list', element: type.value } };
  }),
  scalar(['map_entries'], (call) => {
    const { text, type } = mapArg(call);
    const fields = [
      { name: 'key', type: type.key },
      { name: 'value', type: type.value },
    ];
    return {
      text: `map_entries(${text})`,
      type: { kind: 'list', element: { kind: 'struct', fields } },
    };
  }),
  scalar(['map_extract', 'element_at'], (call) => {
    const { text, type } = mapArg(call, 2);
    const key = call.coerce(argAt(call, 1), type.key).text;
    // Returns a list with the value, or with NULL if the map lacks the key.
    return {
      text: `[list_extract(map_extract(${text}, ${key}), 1)]`,
      type: { kind: 'list', element: type.value },
    };
  }),
];

type Typed = Pick<FunctionResult, 'text' | 'type'>;

function bindNamedStruct(call: FunctionCall): FunctionResult {
  expectArgCount(call, 1, MANY);
  if (call.args.length % 2 !== 0) {
    throw tsdbError(
      'plan_error',
      `Error during planning: named_struct requires an even number of arguments, got ${call.args.length} instead`,
    );
  }
  const fields = [];
  for (let index = 0; index < call.args.length; index += 2) {
    const { text, type } = argAt(call, index + 1);
    fields.push({ name: constantText(call, index, 'the name of a field'), text, type });
  }
  return structOf(fields);
}

function structOf(fields: readonly (StructField & { readonly text: string })[]): FunctionResult {
  if (fields.some(({ name }) => name.includes('\0'))) {
    throw tsdbError('plan_error', 'Error during planning: a field name contains a NUL character');
  }
  // DuckDB names such a field by its value.
  if (fields.some(({ name }) => name === ''))
    throw tsdbError('not_implemented', 'a struct field with an empty name');
  const known = new Set<string>();
  for (const { name } of fields) {
    // DuckDB ignores case in field names.
    if (known.has(name.toLowerCase()))
      throw tsdbError('not_implemented', `a struct with two fields named "${name}"`);
    known.add(name.toLowerCase());
  }
  return {
    text: `{${fields.map(({ name, text }) => `${quoteString(name)}: ${text}`).join(', ')}}`,
    type: { kind: 'struct', fields: fields.map(({ name, type }) => ({ name, type })) },
  };
}

function bindGetField(call: FunctionCall): FunctionResult {
  expectArgCount(call, 2);
  const { text, type } = argAt(call, 0);
  if (type.kind === 'map') {
    const key = call.coerce(argAt(call, 1), type.key).text;
    return { text: `list_extract(map_extract(${text}, ${key}), 1)`, type: type.value };
  }
  if (type.kind !== 'struct') throw badArguments(call);
  const name = constantText(call, 1, 'the name of the field');
  const field = type.fields.find((candidate) => candidate.name === name);
  if (field === undefined) {
    throw tsdbError('plan_error', `Error during planning: Field ${name} not found in struct`);
  }
  return { text: `struct_extract(${text}, ${quoteString(name)})`, type: field.type };
}

function listOf(call: FunctionCall, args: FunctionCall['args']): Typed {
  const element = commonType(args.map((arg) => arg.type));
  if (element === undefined) throw badArguments(call);
  const texts = args.map((arg) => call.coerce(arg, element).text);
  return { text: `[${texts.join(', ')}]`, type: { kind: 'list', element } };
}

/** Builds a map from alternating keys and values. */
function mapOfPairs(call: FunctionCall): FunctionResult {
  expectArgCount(call, 2, MANY);
  if (call.args.length % 2 !== 0)
    throw badArguments(call, `${call.name} requires an even number of arguments`);
  const even = call.args.filter((_, index) => index % 2 === 0);
  const odd = call.args.filter((_, index) => index % 2 === 1);
  return mapOf(call, listOf(call, even), listOf(call, odd));
}

function mapOf(call: FunctionCall, keys: Typed, values: Typed): FunctionResult {
  if (keys.type.kind !== 'list' || values.type.kind !== 'list') throw badArguments(call);
  return {
    text: `map(${keys.text}, ${values.text})`,
    type: { kind: 'map', key: keys.type.element, value: values.type.element },
  };
}

function mapArg(
  call: FunctionCall,
  count = 1,
): { readonly text: string; readonly type: Extract<SqlType, { kind: 'map' }> } {
  expectArgCount(call, count);
  const { text, type } = argAt(call, 0);
  if (type.kind !== 'map') throw badArguments(call);
  return { text, type };
}
