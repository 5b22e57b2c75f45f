import type { TLocalizedValidationError } from 'typebox/error';

/** One way in which a value is not what the schema asks for. */
export interface SchemaFailure {
  /** Names and positions from the root of the checked value; with `required`, the missing field is the last. */
  readonly path: readonly string[];
  /** The JSON Schema keyword that failed; a union of constants reports `enum`, any other union `type`. */
  readonly keyword: string;
  /** What was asked for: type names, allowed values, the limit, the pattern; empty where the keyword says it all. */
  readonly expected: readonly string[];
  /** What stands there; `undefined` when nothing does. */
  readonly received: unknown;
}

/** Translates the checker's errors. `value` is what was checked, `schema` what it was checked against. */
export function toFailures(
  errors: readonly TLocalizedValidationError[],
  schema: unknown,
  value: unknown,
): readonly SchemaFailure[] {
  const failures: SchemaFailure[] = [];
  const seenUnions = new Set<string>();
  for (const error of errors) {
    const union = unionPath(error);
    if (union !== undefined) {
      // A union reports each branch and then itself; its branches together are one failure.
      if (seenUnions.has(union)) continue;
      seenUnions.add(union);
      const whole = errors.find(
        ({ keyword, schemaPath }) => keyword === 'anyOf' && schemaPath === union,
      );
      const path = pointerParts((whole ?? error).instancePath);
      failures.push({
        path,
        ...unionExpectation(at(schema, pointerParts(union.slice(1)))),
        received: at(value, path),
      });
    } else if (error.keyword !== 'boolean') {
      failures.push(...plainFailures(error, value));
    }
  }
  return failures;
}

function plainFailures(error: TLocalizedValidationError, value: unknown): SchemaFailure[] {
  const path = pointerParts(error.instancePath);
  if (error.keyword === 'required') {
    return error.params.requiredProperties.map((field) => ({
      path: [...path, field],
      keyword: 'required',
      expected: [],
      received: undefined,
    }));
  }
  const expected = Object.entries(error.params)
    .filter(([name]) => name !== 'comparison')
    .flatMap(([, param]) => (Array.isArray(param) ? param : [param]))
    .map(String);
  const isConst = error.keyword === 'const';
  return [{ path, keyword: isConst ? 'enum' : error.keyword, expected, received: at(value, path) }];
}

function unionPath({ keyword, schemaPath }: TLocalizedValidationError): string | undefined {
  if (keyword === 'anyOf') return schemaPath;
  const index = schemaPath.indexOf('/anyOf/');
  return index < 0 ? undefined : schemaPath.slice(0, index);
}

function unionExpectation(union: unknown): Pick<SchemaFailure, 'keyword' | 'expected'> {
  const branches = at(union, ['anyOf']);
  if (!Array.isArray(branches)) return { keyword: 'type', expected: [] };
  const constants = branches.map((branch) => at(branch, ['const']));
  return constants.every((constant) => constant !== undefined)
    ? { keyword: 'enum', expected: constants.map(String) }
    : { keyword: 'type', expected: branches.map((branch) => String(at(branch, ['type']))) };
}

function at(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part))
      return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

const pointerParts = (pointer: string): string[] =>
  pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
