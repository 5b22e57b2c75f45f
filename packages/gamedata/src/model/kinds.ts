/** The nine collections, in the order in which every listing names them. A kind is called as in its path. */
export const KINDS = [
  'items',
  'ammunition',
  'traders',
  'quests',
  'maps',
  'hideout',
  'item-presets',
  'levels',
  'storyline',
] as const;

export type Kind = (typeof KINDS)[number];

/** What differs on the wire from kind to kind. Source: gamedata, sections 1.2, 2.3 and 2.6. */
export interface KindWire {
  /** In the editor's paths and in counts. */
  readonly typeKey: string;
  /** Member that holds the records in the list envelope; `undefined`: the list has a shape of its own. */
  readonly listKey?: string;
  readonly notFound: string;
  /** Lists without `limit` show so many, or all. */
  readonly isPaged: boolean;
}

export const KIND_WIRE: Readonly<Record<Kind, KindWire>> = {
  items: { typeKey: 'items', listKey: 'items', notFound: 'Item not found', isPaged: true },
  ammunition: {
    typeKey: 'ammunition',
    listKey: 'ammunition',
    notFound: 'Ammunition not found',
    isPaged: true,
  },
  traders: { typeKey: 'traders', notFound: 'Trader not found', isPaged: false },
  quests: { typeKey: 'quests', listKey: 'quests', notFound: 'Quest not found', isPaged: true },
  maps: { typeKey: 'maps', notFound: 'Map not found', isPaged: false },
  hideout: { typeKey: 'hideout', notFound: 'Module not found', isPaged: false },
  'item-presets': {
    typeKey: 'itemPresets',
    listKey: 'presets',
    notFound: 'Preset not found',
    isPaged: true,
  },
  levels: { typeKey: 'levels', notFound: 'Level not found', isPaged: false },
  storyline: {
    typeKey: 'storyline',
    listKey: 'storylines',
    notFound: 'Element not found',
    isPaged: true,
  },
};

const BY_NAME: ReadonlyMap<string, Kind> = new Map(
  KINDS.flatMap((kind) => [
    [kind, kind],
    [KIND_WIRE[kind].typeKey, kind],
  ]),
);

/** The kind with this path name or type key. */
export function findKind(name: string): Kind | undefined {
  return BY_NAME.get(name);
}

/** One value per kind. */
export function mapKinds<T>(make: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(KINDS.map((kind) => [kind, make(kind)])) as Record<Kind, T>; // all kinds are there
}

/** Counts by type key, as the wire shows them. */
export function byTypeKey<T>(values: Readonly<Record<Kind, T>>): Record<string, T> {
  return Object.fromEntries(KINDS.map((kind) => [KIND_WIRE[kind].typeKey, values[kind]]));
}
