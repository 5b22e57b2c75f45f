import { once, referenceTable } from './read-reference.js';

interface SubdivisionTable {
  readonly countries: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

interface PostalCodeTable {
  readonly patterns: Readonly<Record<string, string>>;
  readonly fallback: string;
  readonly free: readonly string[];
}

interface UnsupportedPlaceTable {
  readonly states: Readonly<Record<string, readonly string[]>>;
  /** Of countries without a list of their own states: what such a state is called. */
  readonly state_names: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  readonly postal_prefixes: Readonly<Record<string, readonly string[]>>;
}

const subdivisions = referenceTable<SubdivisionTable>('subdivisions');
const postalCodes = referenceTable<PostalCodeTable>('postal-codes');
const unsupported = referenceTable<UnsupportedPlaceTable>('unsupported-places');

/** Country to folded name or code of a subdivision to its code. */
type StateIndex = ReadonlyMap<string, ReadonlyMap<string, string>>;

const statesByName = once(() => indexStates(subdivisions().countries));
const unsupportedByName = once(() => indexStates(unsupported().state_names));

function indexStates(countries: SubdivisionTable['countries']): StateIndex {
  const index = new Map<string, ReadonlyMap<string, string>>();
  for (const [country, states] of Object.entries(countries)) {
    const names = new Map<string, string>();
    for (const [code, spellings] of Object.entries(states)) {
      for (const name of [code, `${country}-${code}`, ...spellings])
        names.set(foldName(name), code);
    }
    index.set(country, names);
  }
  return index;
}

const postalPatterns = once(
  () =>
    new Map(
      Object.entries(postalCodes().patterns).map(([country, pattern]) => [
        country,
        new RegExp(`^(?:${pattern})$`),
      ]),
    ),
);
const fallbackPattern = once(() => new RegExp(`^(?:${postalCodes().fallback})$`));

/** Defaults of the platform settings `unsupported_states` and `unsupported_postal_codes`. */
export function defaultUnsupportedPlaces(): Pick<
  UnsupportedPlaceTable,
  'states' | 'postal_prefixes'
> {
  const { states, postal_prefixes } = unsupported();
  return { states, postal_prefixes };
}

/** Whether states of this country are checked against a list at all. */
export function hasStateList(country: string): boolean {
  return statesByName().has(country);
}

/** Code part (`CA` of `US-CA`) of a state given as code, full code or name. */
export function stateCode(country: string, state: string): string | undefined {
  return statesByName().get(country)?.get(foldName(state));
}

/** Code part of a state that is not served by default, of a country whose states are not listed. */
export function unsupportedStateCode(country: string, state: string): string | undefined {
  return unsupportedByName().get(country)?.get(foldName(state));
}

/** What the service's own tables say about a postal code; `undefined` leaves it to a library's pattern. */
export function knownPostalCode(country: string, postalCode: string): boolean | undefined {
  if (postalCodes().free.includes(country)) return true;
  const pattern = postalPatterns().get(country);
  return pattern?.test(postalCode.trim().toUpperCase()) ? true : undefined;
}

/** For countries of which no pattern is known. */
export function isPlausiblePostalCode(postalCode: string): boolean {
  return fallbackPattern().test(postalCode.trim());
}

/** Case, accents and punctuation of a name do not count. */
function foldName(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
