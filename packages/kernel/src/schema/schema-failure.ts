import type { TLocalizedValidationError } from 'typebox/error';

/** JSON Schema annotations that describe a failure, taken from the innermost part that has them. */
interface RefusalMessages {
  /** The resource of the value, as clients know it. */
  readonly title?: string;
  /** A message that replaces the keyword's own. */
  readonly errorMessage?: string;
  /** A secret, whose value is not returned. */
  readonly writeOnly?: boolean;
}

/** One violation of a schema. */
export interface SchemaFailure extends RefusalMessages {
  /** Names and indexes from the root of the validated value; for `required`, the last is the missing field. */
  readonly path: readonly string[];
  /** The violated JSON Schema keyword; a union of constants reports `enum`, any other union `type`. */
  readonly keyword: string;
  /** The expected type names, allowed values, limit or pattern; empty when the keyword is sufficient. */
  readonly expected: readonly string[];
  /** The received value; `undefined` when it is missing. */
  readonly received: unknown;
}

/** Converts the checker's errors. `value` is the validated value, `schema` its schema. */
export function toFailures(
  errors: readonly TLocalizedValidationError[],
  schema: unknown,
  value: unknown,
): readonly SchemaFailure[] {
  const unions = errors
    .filter(({ keyword }) => keyword === 'anyOf')
    .sort((a, b) => a.schemaPath.length - b.schemaPath.length)
    .map((error) => ({ error, rule: brokenRule(error, errors, schema) }));
  const failures: SchemaFailure[] = [];
  const reported = new Set<TLocalizedValidationError>();
  for (const error of errors) {
    const around = unions.filter((union) => isWithin(error, union.error));
    // The outermost union that does not match: all its branches are reported as one failure.
    const choice = around.find(({ rule }) => rule === undefined)?.error;
    if (choice === undefined) {
      const isOfRule = around.every(({ rule }) => isBelow(error.schemaPath, rule ?? ''));
      // The number of errors is limited: a branch without its union's error is incomplete.
      const isComplete = around.length > 0 || !error.schemaPath.includes('/anyOf/');
      const isPlain = error.keyword !== 'boolean' && error.keyword !== 'anyOf';
      if (isPlain && isOfRule && isComplete) {
        const messages = messagesAt(schema, error.schemaPath);
        failures.push(...plainFailures(error, value).map((each) => ({ ...each, ...messages })));
      }
    } else if (!reported.has(choice)) {
      reported.add(choice);
      const path = pointerParts(choice.instancePath);
      const expectation = unionExpectation(schemaAt(schema, choice.schemaPath));
      const messages = messagesAt(schema, choice.schemaPath);
      failures.push({ path, ...expectation, received: at(value, path), ...messages });
    }
  }
  return failures;
}

/**
 * Returns the schema path of the non-null branch when a nullable value has that type but violates a rule of the branch.
 * Errors of the branch are more useful than "neither type matches".
 */
function brokenRule(
  union: TLocalizedValidationError,
  errors: readonly TLocalizedValidationError[],
  schema: unknown,
): string | undefined {
  const branches = at(schemaAt(schema, union.schemaPath), ['anyOf']);
  if (!Array.isArray(branches) || branches.length !== 2) return undefined;
  const index = branches.findIndex((branch) => at(branch, ['type']) !== 'null');
  const isNullable = at(branches[1 - index], ['type']) === 'null';
  if (!isNullable || at(branches[index], ['anyOf']) !== undefined) return undefined;
  const rule = `${union.schemaPath}/anyOf/${index}`;
  const isOfOtherType = errors.some(
    ({ keyword, schemaPath, instancePath }) =>
      keyword === 'type' && schemaPath === rule && instancePath === union.instancePath,
  );
  return isOfOtherType ? undefined : rule;
}

const isBelow = (path: string, root: string): boolean =>
  path === root || path.startsWith(`${root}/`);

const isWithin = (error: TLocalizedValidationError, union: TLocalizedValidationError): boolean =>
  error === union ||
  (error.schemaPath.startsWith(`${union.schemaPath}/anyOf/`) &&
    isBelow(error.instancePath, union.instancePath));

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
  if (error.keyword === 'additionalProperties') {
    // The value of an unknown field may be a secret.
    return error.params.additionalProperties.map((field) => ({
      path: [...path, field],
      keyword: error.keyword,
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

const schemaAt = (schema: unknown, schemaPath: string): unknown =>
  at(schema, pointerParts(schemaPath.slice(1)));

function messagesAt(schema: unknown, schemaPath: string): RefusalMessages {
  const parts = pointerParts(schemaPath.slice(1));
  const messages: { -readonly [Name in keyof RefusalMessages]: RefusalMessages[Name] } = {};
  for (let length = 0; length <= parts.length; length++) {
    const part = at(schema, parts.slice(0, length));
    const [title, message] = [at(part, ['title']), at(part, ['errorMessage'])];
    if (typeof title === 'string') messages.title = title;
    if (typeof message === 'string') messages.errorMessage = message;
    if (at(part, ['writeOnly']) === true) messages.writeOnly = true;
  }
  return messages;
}

function unionExpectation(union: unknown): Pick<SchemaFailure, 'keyword' | 'expected'> {
  const branches = branchesOf(union);
  const names = branches.map((branch) => at(branch, ['const']) ?? at(branch, ['type']));
  const isChoice =
    branches.some((branch) => at(branch, ['const']) !== undefined) &&
    branches.every(
      (branch) => at(branch, ['const']) !== undefined || at(branch, ['type']) === 'null',
    );
  return { keyword: isChoice ? 'enum' : 'type', expected: names.map(String) };
}

/** Returns the branches of a union, with nested unions flattened. */
function branchesOf(union: unknown): readonly unknown[] {
  const branches = at(union, ['anyOf']);
  if (!Array.isArray(branches)) return [];
  return branches.flatMap((branch) =>
    at(branch, ['anyOf']) === undefined ? [branch] : branchesOf(branch),
  );
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
