/**
 * An expected failure: a kind of its service's closed catalog (`name`), and the details of its message. Status codes are
 * only in the service's `routes/to-wire.ts`.
 */
export class DomainError<Kind extends string = string, Details = unknown> extends Error {
  override readonly name: string;
  readonly kind: Kind;
  readonly details: Details;
  /** The request field that the error is about. Set by routes that name it in the response. */
  field?: string | undefined;
  constructor(details: {
    readonly name: string;
    readonly kind: Kind;
    readonly details: Details;
    readonly message: string;
    readonly cause?: unknown;
  }) {
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = details.name;
    this.kind = details.kind;
    this.details = details.details;
  }
}

/** Distinguishes an expected failure from a bug, for any class. Platform errors have a `code`, never a `kind`. */
export function isDomainError(error: unknown): error is Error & { readonly kind: string } {
  return error instanceof Error && 'kind' in error && typeof error.kind === 'string';
}

/** The message of each kind, or a function that formats it from the details. */
export type ErrorTexts = Readonly<Record<string, string | ((details: never) => string)>>;

type DetailsOf<Text> = Text extends (details: infer Details) => string ? Details : undefined;

/** The errors of a catalog, distinguished by their `kind`. */
export type ErrorOf<Texts extends ErrorTexts, Kind extends keyof Texts = keyof Texts> = {
  [K in Kind & string]: DomainError<K, DetailsOf<Texts[K]>>;
}[Kind & string];

/** Creates the errors of one catalog, and recognizes them. */
export interface ErrorCatalogue<Texts extends ErrorTexts> {
  /** Creates an error: `throw tsdbError('table_not_known', { database, table })`. */
  <Kind extends keyof Texts & string>(
    kind: Kind,
    ...rest: undefined extends DetailsOf<Texts[Kind]>
      ? [details?: DetailsOf<Texts[Kind]>, cause?: unknown]
      : [details: DetailsOf<Texts[Kind]>, cause?: unknown]
  ): DomainError<Kind, DetailsOf<Texts[Kind]>>;
  /** Whether `error` belongs to this catalog, and has one of these kinds if any are given. */
  is<Kind extends keyof Texts & string>(
    error: unknown,
    ...kinds: readonly Kind[]
  ): error is ErrorOf<Texts, Kind>;
}

/** @param name name of all errors in the catalog; must be unique. */
export function errorCatalogue<const Texts extends ErrorTexts>(
  name: string,
  texts: Texts,
): ErrorCatalogue<Texts> {
  const make = (kind: string, details?: unknown, cause?: unknown): DomainError => {
    const text: string | ((details: never) => string) = texts[kind] ?? kind;
    // The catalog's signature guarantees the details that the message needs.
    const message = typeof text === 'string' ? text : text(details as never);
    return new DomainError({ name, kind, details, message, cause });
  };
  const is = (error: unknown, ...kinds: readonly string[]): error is never =>
    error instanceof DomainError &&
    error.name === name &&
    (kinds.length === 0 || kinds.includes(error.kind));
  return Object.assign(make, { is }) as ErrorCatalogue<Texts>; // the same function with types
}

/** For kinds whose complete message is given by the caller. */
export const asGiven = (message: string): string => message;
