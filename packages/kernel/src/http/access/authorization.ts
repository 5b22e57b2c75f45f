const TITLES = { bearer: 'Bearer', token: 'Token', basic: 'Basic' } as const;
export type AuthScheme = keyof typeof TITLES;
const isKnown = (word: string): word is AuthScheme => Object.hasOwn(TITLES, word);

/** What an `Authorization` header presents. */
export interface Authorization {
  /** `undefined`: none of those that are taken somewhere, or with more than one word behind it. */
  readonly scheme: AuthScheme | undefined;
  /** Empty where the scheme stands alone. */
  readonly credential: string;
}

/**
 * The one reader of `Authorization`: the scheme in any letters, spaces, the credential. `undefined`: there is nothing.
 * Source: RFC 9110, sections 11.1 and 11.4.
 */
export function readAuthorization(header = ''): Authorization | undefined {
  const text = header.trim();
  if (text === '') return undefined;
  const space = text.indexOf(' ');
  const word = (space === -1 ? text : text.slice(0, space)).toLowerCase();
  const credential = space === -1 ? '' : text.slice(space).trimStart();
  return { scheme: isKnown(word) && !credential.includes(' ') ? word : undefined, credential };
}

/** The same where clients are held to one spelling: two words with one space, the first as in its standard. */
export function readExactAuthorization(header: string): Authorization | undefined {
  const read = readAuthorization(header);
  if (read?.scheme === undefined || read.credential === '') return undefined;
  return header === `${TITLES[read.scheme]} ${read.credential}` ? read : undefined;
}

/** The bearer token of a header that has one. */
export function bearerOf(header: string | undefined): string | undefined {
  const { scheme, credential } = readAuthorization(header) ?? {};
  return scheme === 'bearer' && credential !== '' ? credential : undefined;
}
