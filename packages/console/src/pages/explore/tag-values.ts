import { queryRows } from '@plinth/console-core/api/tsdb.js';
import { quoteName } from '@plinth/console-core/lib/query/identifiers.js';

const MAX_VALUE_COUNT = 100;

/** Returns the values of a tag that start with the typed text. */
export async function tagValues(
  db: string,
  options: { readonly table: string; readonly tag: string; readonly typed: string },
): Promise<readonly string[]> {
  if (db === '' || options.table === '') return [];
  const name = (text: string) => quoteName(text, 'influxql');
  const begin = options.typed.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  const where = begin === '' ? '' : ` WHERE ${name(options.tag)} =~ /^${begin}/`;
  const rows = await queryRows<{ readonly value: string }>({
    db,
    lang: 'influxql',
    text: `SHOW TAG VALUES FROM ${name(options.table)} WITH KEY = ${name(options.tag)}${where} LIMIT ${MAX_VALUE_COUNT}`,
  });
  return rows.map(({ value }) => value);
}
