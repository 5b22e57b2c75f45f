import { queryRows } from '../../api/tsdb.js';
import { quoteName } from '../../lib/query/identifiers.js';

const MAX_VALUE_COUNT = 100;

/** Returns the values of a tag that start with the typed text. */
export async function tagValues(
  db: string,
  at: { readonly table: string; readonly tag: string; readonly typed: string },
): Promise<readonly string[]> {
  if (db === '' || at.table === '') return [];
  const name = (text: string) => quoteName(text, 'influxql');
  const begin = at.typed.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  const where = begin === '' ? '' : ` WHERE ${name(at.tag)} =~ /^${begin}/`;
  const rows = await queryRows<{ readonly value: string }>({
    db,
    lang: 'influxql',
    text: `SHOW TAG VALUES FROM ${name(at.table)} WITH KEY = ${name(at.tag)}${where} LIMIT ${MAX_VALUE_COUNT}`,
  });
  return rows.map(({ value }) => value);
}
