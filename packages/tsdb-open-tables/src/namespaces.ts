import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { Tree } from './iceberg/table-schema.js';

const JVM_SUFFIX = '__jvm';
/** Separates the parts of a name in paths. Source: Apache Iceberg REST catalog specification, `namespace`. */
export const NAMESPACE_SEPARATOR = '\u001f';
const MAX_NAME_BYTES = 255;

/** A namespace of the catalog: one metadata tree of the tables of a database. */
export interface Namespace {
  readonly name: string;
  readonly database: string;
  readonly tree: Tree;
}

/**
 * Returns the namespace of a database. That of a retention policy `db/rp` is `db.rp`; database
 * names contain no dots.
 */
export const plainNamespace = (database: string): string => database.replace('/', '.');

/**
 * Returns the namespaces of published databases. A `__jvm` namespace is not published if a database
 * has the same name.
 * @param databases names of all databases
 */
export function namespacesOf(
  published: readonly string[],
  databases: readonly string[],
): readonly Namespace[] {
  const taken = new Set(databases.map(plainNamespace));
  return published.flatMap((database) => {
    const name = plainNamespace(database);
    const jvm = `${name}${JVM_SUFFIX}`;
    return [
      { name, database, tree: 'plain' as const },
      ...(taken.has(jvm) ? [] : [{ name: jvm, database, tree: 'jvm' as const }]),
    ];
  });
}

/** Returns another name that is the same for Trino, which reads names in lower case. */
export function sameInLowerCase(name: string, names: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  return names.find((other) => other !== name && other.toLowerCase() === lower);
}

/** Returns the reason why a table cannot be published under its name; `undefined` if it can. */
export function nameFault({ name }: Pick<TableSchema, 'name'>): string | undefined {
  if (name.includes('/')) return 'the name contains a slash';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: readers cannot name such tables.
  if (/[\u0000-\u001f\u007f]/.test(name)) return 'the name contains a control character';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES)
    return `the name has more than ${MAX_NAME_BYTES} bytes`;
  return undefined;
}

/** Returns the tables of a database that can be published. */
export const publishableTables = (database: DatabaseSchema): readonly TableSchema[] =>
  [...database.tables.values()].filter((table) => nameFault(table) === undefined);
