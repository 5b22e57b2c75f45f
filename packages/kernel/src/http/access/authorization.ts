const TITLES = { bearer: 'Bearer', token: 'Token', basic: 'Basic' } as const;
const isKnown = (word: string): word is keyof typeof TITLES => Object.hasOwn(TITLES, word);

/** What an `Authorization` header presents. */
export interface Authorization {
  /** `undefined`: none of those that are taken somewhere, or with more than one word behind it. */
  readonly scheme: keyof typeof TITLES | undefined;
  /** Empty where the scheme stands alone. */
  readonly credential: string;
}

/** The one reader of it: the scheme in any letters, spaces, the credential. Source: RFC 9110, sections 11.1 and 11.4. */
export function readAuthorization(header = ''): Authorization | undefined {
  const text = header.trim();
  if (text === '') return undefined;
  const [first = ''] = text.split(' ', 1);
  const word = first.toLowerCase();
  const credential = text.slice(first.length).trimStart();
  return { scheme: isKnown(word) && !credential.includes(' ') ? word : undefined, credential };
}

/** The same where clients are held to one spelling: two words with one space, the first as in its standard. */
export function readExactAuthorization(header: string): Authorization | undefined {
  const { scheme, credential = '' } = readAuthorization(header) ?? {};
  const isExact = scheme !== undefined && header === `${TITLES[scheme]} ${credential}`;
  return isExact && credential !== '' ? { scheme, credential } : undefined;
}

/** The token of a bearer. */
export function bearerOf(header: string | undefined): string | undefined {
  const { scheme, credential } = readAuthorization(header) ?? {};
  return scheme === 'bearer' && credential !== '' ? credential : undefined;
}
