import type { Kind } from '../../model/kinds.js';
import { normalText } from '../../model/normal-text.js';
import type { DataSet } from '../data/data-set.js';
import { nameLineOf, type TextScope, visitNames } from './search/search-texts.js';

/** Values of a filter that stand for records of a kind. */
export interface NamedWanted {
  readonly kind: Kind;
  readonly values: readonly string[];
}

/** A name with more commas than this is found by its slug or id. */
const MAX_JOINED_COUNT = 8;

/**
 * Ids of the records that values of a filter mean: by id, slug or name, whatever its case. Commas stand between values
 * and inside of names: neighbours that together are a name are that name.
 * @param inLanguage index of the language that the client chose where that is not the default one; its names count, too.
 */
export async function idsNamed(
  set: DataSet,
  { kind, values }: NamedWanted,
  inLanguage?: Omit<TextScope, 'set'>,
): Promise<ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const span of spansOf(values)) for (const key of keysOf(span)) found.set(key, new Set());
  await set.collectNamed(kind, found);
  if (inLanguage !== undefined && nameLineOf(kind, 'name') !== undefined) {
    const { rows } = set.tables[kind];
    await visitNames({ set, ...inLanguage }, (name, position) => {
      const id = rows[position]?.id;
      if (id !== undefined && name !== '') found.get(name)?.add(id);
    });
  }
  return idsOfLongest(values, found);
}

/** Every run of neighbours, as it was before it was cut at its commas. */
function* spansOf(values: readonly string[]): Generator<string> {
  for (let start = 0; start < values.length; start++) {
    const last = Math.min(values.length, start + MAX_JOINED_COUNT);
    for (let end = start + 1; end <= last; end++) yield values.slice(start, end).join(',');
  }
}

const keysOf = (text: string): readonly string[] => [text.trim().toLowerCase(), normalText(text)];

function idsOfLongest(
  values: readonly string[],
  found: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlySet<string> {
  const ids = new Set<string>();
  let start = 0;
  while (start < values.length) {
    let length = Math.min(MAX_JOINED_COUNT, values.length - start);
    let hits: readonly string[] = [];
    for (; length > 0 && hits.length === 0; length--) {
      const span = values.slice(start, start + length).join(',');
      hits = keysOf(span).flatMap((key) => [...(found.get(key) ?? [])]);
    }
    for (const id of hits) ids.add(id);
    // What nobody knows may still be named by a record whose target is missing.
    ids.add(values[start] ?? '');
    start += hits.length === 0 ? 1 : length + 1;
  }
  return ids;
}
