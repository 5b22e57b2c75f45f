const DEFAULT_CATALOG = 'plinth';
const DEFAULT_USER = 'plinth';

/** The parts of `query.wide_url`. */
export interface TrinoEndpoint {
  readonly origin: string;
  readonly catalog: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** @param text a valid value of the setting. */
export function trinoEndpoint(text: string): TrinoEndpoint {
  const url = new URL(text);
  const [user, password] = [url.username, url.password].map(decodeURIComponent) as [string, string];
  const name = user === '' ? DEFAULT_USER : user;
  const login = Buffer.from(`${name}:${password}`).toString('base64');
  return {
    origin: url.origin,
    catalog: decodeURIComponent(url.pathname.slice(1)) || DEFAULT_CATALOG,
    headers: {
      'X-Trino-User': name,
      'X-Trino-Source': 'plinth',
      'X-Trino-Time-Zone': 'UTC',
      'User-Agent': 'plinth',
      ...(password !== '' && { Authorization: `Basic ${login}` }),
    },
  };
}
