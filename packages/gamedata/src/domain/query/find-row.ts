import { gameDataError } from '../../errors.js';
import { KIND_WIRE, type Kind } from '../../model/kinds.js';
import type { DataSet } from '../data/data-set.js';
import type { Row } from '../data/row.js';

/** Maximum alias hops of one record, because an import may contain a cycle. */
const MAX_MOVES = 100;

/** Returns the row with this id or slug on a single-record path. Throws `moved` and `not_found`. */
export function findRow(set: DataSet, kind: Kind, idOrName: string): Row {
  const table = set.tables[kind];
  const byId = table.get(idOrName);
  if (byId !== undefined) return byId;
  const lower = idOrName.toLowerCase();
  const isByName = kind === 'traders' || kind === 'maps';
  const bySlug = table.bySlug(isByName ? lower : idOrName);
  if (bySlug !== undefined) return bySlug;
  if (isByName) {
    const [id] = set.resolve(kind, idOrName);
    const row = id === undefined ? undefined : table.get(id);
    if (row !== undefined) return row;
  }
  if (kind === 'quests') {
    const [id, ...others] = set.relations.gameIds.of(idOrName);
    const row = id === undefined || others.length > 0 ? undefined : table.get(id);
    if (row !== undefined) return row;
  }
  const id = movedTo(set, kind, idOrName);
  if (id !== undefined) throw gameDataError('moved', { recordKind: kind, id });
  throw gameDataError('not_found', KIND_WIRE[kind].notFound);
}

/** Returns the current id of a replaced record, following all aliases. */
function movedTo(set: DataSet, kind: Kind, idOrName: string): string | undefined {
  const aliases = set.metadata.aliases[kind] ?? {};
  let id = idOrName;
  for (let moves = 0; moves < MAX_MOVES && Object.hasOwn(aliases, id); moves += 1) {
    id = aliases[id] ?? '';
    if (set.tables[kind].get(id) !== undefined) return id;
  }
  return undefined;
}
