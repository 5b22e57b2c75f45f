import { escapedKey, escapedTable, floatText, quotedText } from '@plinth/line-protocol';
import type { ReadLine } from '@plinth/tsdb';

type Kind = ReadLine['fields'][number]['value']['type'];

/** Suffixes for the values of a field whose type differs from the type of most values. */
const SUFFIX: Readonly<Record<Kind, string>> = {
  int64: 'integer',
  uint64: 'unsigned',
  float64: 'float',
  bool: 'boolean',
  utf8: 'string',
};
/** Names that tags and fields cannot have on this server, each with the reason. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  ['time', 'the name of the time column'],
  ['__chunk_order', 'a reserved name'],
]);
const MAX_COLUMN_COUNT = 1_000_000;

interface Table {
  lineCount: number;
  readonly tags: Set<string>;
  readonly fields: Map<string, Map<Kind, number>>;
  change: Change | undefined;
}

/** Changes to lines of a table, because each column has one name and one type here. */
interface Change {
  readonly tags: ReadonlyMap<string, string>;
  /** Fields whose integers become floats. */
  readonly floats: ReadonlySet<string>;
  readonly fields: ReadonlyMap<string, ReadonlyMap<Kind, string>>;
}

/** The columns of all tables in a migration, collected in the first pass. */
export class TableFacts {
  readonly #tables = new Map<string, Map<string, Table>>();
  #columnCount = 0;

  add(database: string, { series, fields }: ReadLine): void {
    const tables = this.#tables.get(database) ?? new Map<string, Table>();
    if (tables.size === 0) this.#tables.set(database, tables);
    let table = tables.get(series.table);
    if (table === undefined) {
      table = { lineCount: 0, tags: new Set(), fields: new Map(), change: undefined };
      tables.set(series.table, table);
    }
    table.lineCount += 1;
    for (const key of series.tagKeys) {
      if (!table.tags.has(key)) this.#count(table.tags.add(key));
    }
    for (const { name, value } of fields) {
      const kinds = table.fields.get(name) ?? new Map<Kind, number>();
      if (kinds.size === 0) this.#count(table.fields.set(name, kinds));
      kinds.set(value.type, (kinds.get(value.type) ?? 0) + 1);
    }
  }

  #count(_added: unknown): void {
    this.#columnCount += 1;
    if (this.#columnCount > MAX_COLUMN_COUNT) {
      throw new RangeError(
        `the input has more than ${MAX_COLUMN_COUNT} columns; migrate fewer tables at a time`,
      );
    }
  }

  /** Decides which columns to rename. @returns a message for each. */
  renameColumns(): string[] {
    const notes: string[] = [];
    for (const [database, tables] of this.#tables) {
      for (const [name, table] of tables) {
        const where = `table ${name} of ${database}`;
        const tags = new Map<string, string>();
        for (const tag of table.tags) {
          if (!RESERVED.has(tag) && !table.fields.has(tag)) continue;
          const other = freeName(`${tag}_tag`, table);
          tags.set(tag, other);
          const why = RESERVED.get(tag) ?? 'both a tag and a field';
          notes.push(`${where}: "${tag}" is ${why}; the tag is renamed to "${other}"`);
        }
        const floats = new Set<string>();
        const fields = new Map<string, ReadonlyMap<Kind, string>>();
        for (const [field, counts] of table.fields) {
          const kinds = [...counts.keys()];
          const reserved = RESERVED.get(field);
          if (reserved !== undefined) {
            const names = new Map<Kind, string>();
            for (const kind of kinds)
              names.set(
                kind,
                freeName(`${field}_${kinds.length === 1 ? 'field' : SUFFIX[kind]}`, table),
              );
            fields.set(field, names);
            notes.push(
              `${where}: "${field}" is ${reserved}; the field is renamed to "${[...names.values()].join('", "')}"`,
            );
            continue;
          }
          if (counts.size < 2) continue;
          if (counts.has('float64') && !counts.has('bool') && !counts.has('utf8')) {
            floats.add(field);
            notes.push(
              `${where}: "${field}" contains integers and floats; all values become floats`,
            );
            continue;
          }
          const main = kinds.reduce((a, b) =>
            (counts.get(b) ?? 0) > (counts.get(a) ?? 0) ? b : a,
          );
          const names = kinds
            .filter((kind) => kind !== main)
            .map((kind) => [kind, freeName(`${field}_${SUFFIX[kind]}`, table)] as const);
          fields.set(field, new Map(names));
          for (const [kind, other] of names)
            notes.push(
              `${where}: "${field}" contains values of several types; its ${SUFFIX[kind]} values are written to "${other}"`,
            );
        }
        if (tags.size + floats.size + fields.size > 0) table.change = { tags, floats, fields };
      }
    }
    return notes;
  }

  /** Returns whether any table of the database needs changed lines. */
  changes(database: string): boolean {
    for (const { change } of this.#tables.get(database)?.values() ?? []) if (change) return true;
    return false;
  }

  /** Returns the changed line; `undefined` if it is unchanged. */
  rewritten(database: string, line: ReadLine): string | undefined {
    const change = this.#tables.get(database)?.get(line.series.table)?.change;
    return change === undefined ? undefined : textOf(line, change);
  }

  /** Returns the name of a tag on this server. */
  tagName(database: string, table: string, tag: string): string {
    return this.#tables.get(database)?.get(table)?.change?.tags.get(tag) ?? tag;
  }

  /** Yields every table with its number of lines. */
  *counts(): Generator<{
    readonly database: string;
    readonly table: string;
    readonly lineCount: number;
  }> {
    for (const [database, tables] of this.#tables)
      for (const [table, { lineCount }] of tables) yield { database, table, lineCount };
  }
}

function freeName(preferred: string, { tags, fields }: Table): string {
  let name = preferred;
  for (let i = 2; tags.has(name) || fields.has(name); i++) name = `${preferred}_${i}`;
  return name;
}

function textOf({ series, fields, timestamp }: ReadLine, change: Change): string {
  const tags = series.tagKeys.map(
    (key, i) =>
      `,${escapedKey(change.tags.get(key) ?? key)}=${escapedKey(series.tagValues[i] ?? '')}`,
  );
  const values = fields.map(({ name, value }) => {
    const key = change.fields.get(name)?.get(value.type) ?? name;
    return `${escapedKey(key)}=${valueText(value, change.floats.has(name))}`;
  });
  const table = escapedTable(series.table);
  return `${table}${tags.join('')} ${values.join(',')}${timestamp === undefined ? '' : ` ${timestamp}`}\n`;
}

function valueText(value: ReadLine['fields'][number]['value'], isFloat: boolean): string {
  if (value.type === 'utf8') return quotedText(Buffer.from(value.value).toString());
  if (value.type === 'float64') return floatText(value.value);
  if (value.type === 'bool' || isFloat) return String(value.value);
  return `${value.value}${value.type === 'int64' ? 'i' : 'u'}`;
}
