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
  /** Names of unsupported states in countries without a list of all states. */
  readonly state_names: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  readonly postal_prefixes: Readonly<Record<string, readonly string[]>>;
}

const subdivisions = referenceTable<SubdivisionTable>('subdivisions');
const postalCodes = referenceTable<PostalCodeTable>('postal-codes');
const unsupported = referenceTable<UnsupportedPlaceTable>('unsupported-places');

/**
 * Maps each country to its subdivisions: folded names and codes, each with the subdivision's code.
 */
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

/** Whether states of this country are checked against a list. */
export function hasStateList(country: string): boolean {
  return statesByName().has(country);
}

/** Returns the code part (`CA` of `US-CA`) of a state given as code, full code or name. */
export function stateCode(country: string, state: string): string | undefined {
  return statesByName().get(country)?.get(foldName(state));
}

/**
 * Returns the code part of a state that is unsupported by default, in a country without a list of
 * all states.
 */
export function unsupportedStateCode(country: string, state: string): string | undefined {
  return unsupportedByName().get(country)?.get(foldName(state));
}

/**
 * Whether the service's own tables accept a postal code; `undefined` if a library pattern must
 * decide.
 */
export function knownPostalCode(country: string, postalCode: string): boolean | undefined {
  if (postalCodes().free.includes(country)) return true;
  const pattern = postalPatterns().get(country);
  return pattern?.test(postalCode.trim().toUpperCase()) ? true : undefined;
}

/** Checks postal codes of countries without a known pattern. */
export function isPlausiblePostalCode(postalCode: string): boolean {
  return fallbackPattern().test(postalCode.trim());
}

/** Removes case, accents and punctuation from a name. */
function foldName(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
