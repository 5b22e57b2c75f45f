/** The nine collections, in listing order. The name of a kind is its path segment. */
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

/** Differences between the kinds on the wire. Source: gamedata, sections 1.2, 2.3 and 2.6. */
export interface KindWire {
  /** Name in editor paths and in counts. */
  readonly typeKey: string;
  /** Member that contains the records in a list response; `undefined` if the list has another shape. */
  readonly listKey?: string;
  readonly notFound: string;
  /** Whether lists without `limit` have a default page size instead of returning all records. */
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

/** Finds a kind by its path segment or type key. */
export function findKind(name: string): Kind | undefined {
  return BY_NAME.get(name);
}

export function mapKinds<T>(make: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(KINDS.map((kind) => [kind, make(kind)])) as Record<Kind, T>; // has all kinds
}

/** Values by type key, as on the wire. */
export function byTypeKey<T>(values: Readonly<Record<Kind, T>>): Record<string, T> {
  return Object.fromEntries(KINDS.map((kind) => [KIND_WIRE[kind].typeKey, values[kind]]));
}
