const TITLES = { bearer: 'Bearer', token: 'Token', basic: 'Basic' } as const;
const isKnown = (name: string): name is keyof typeof TITLES => Object.hasOwn(TITLES, name);

/** The content of an `Authorization` header. */
export interface Authorization {
  /** `undefined` for an unsupported scheme, or when more than one word follows the scheme. */
  readonly scheme: keyof typeof TITLES | undefined;
  /** Empty when only the scheme is given. */
  readonly credential: string;
}

/** The only parser of the header: a case-insensitive scheme, spaces, the credential. Source: RFC 9110, sections 11.1 and 11.4. */
export function readAuthorization(header = ''): Authorization | undefined {
  const text = header.trim();
  if (text === '') return undefined;
  const [first = ''] = text.split(' ', 1);
  const name = first.toLowerCase();
  const credential = text.slice(first.length).trimStart();
  return { scheme: isKnown(name) && !credential.includes(' ') ? name : undefined, credential };
}

/** Like `readAuthorization`, but requires exactly one space and the scheme in its standard letter case. */
export function readExactAuthorization(header: string): Authorization | undefined {
  const { scheme, credential = '' } = readAuthorization(header) ?? {};
  const isExact = scheme !== undefined && header === `${TITLES[scheme]} ${credential}`;
  return isExact && credential !== '' ? { scheme, credential } : undefined;
}

/** Returns the bearer token of the header. */
export function bearerOf(header: string | undefined): string | undefined {
  const { scheme, credential } = readAuthorization(header) ?? {};
  return scheme === 'bearer' && credential !== '' ? credential : undefined;
}
