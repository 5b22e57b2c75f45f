import type { Kind } from '../../model/kinds.js';
import { normalText } from '../../model/normal-text.js';
import type { DataSet } from '../data/data-set.js';
import { nameLineOf, type TextScope, visitNames } from './search/search-texts.js';

/** Filter values that name records of a kind. */
export interface NameLookup {
  readonly kind: Kind;
  readonly values: readonly string[];
}

/** Names with more commas can only be found by slug or id. */
const MAX_JOINED_COUNT = 8;

/**
 * Returns the ids of the records that filter values name by id, slug or name, ignoring case. Commas
 * separate values but also occur in names, so adjacent values that together form a name match it.
 * @param inLanguage index of the client's language if it is not the default one; names in it match
 * too.
 */
export async function idsNamed(
  set: DataSet,
  { kind, values }: NameLookup,
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

/** Yields every run of adjacent values, joined by commas again. */
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
    // An unknown value may be the id of a missing record to which others still refer.
    ids.add(values[start] ?? '');
    start += hits.length === 0 ? 1 : length + 1;
  }
  return ids;
}
