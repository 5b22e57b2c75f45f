import { ConfigInvalid } from '@plinth/kernel';

const DEFAULT_CATALOG = 'plinth';
const DEFAULT_USER = 'plinth';

/** The parts of `query.wide_url`. */
export interface TrinoEndpoint {
  readonly origin: string;
  readonly catalog: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads the setting. Throws `ConfigInvalid`, whose message does not contain the password. */
export function trinoEndpoint(text: string): TrinoEndpoint {
  const { origin, user, password, path } = partsOf(text);
  const name = user === '' ? DEFAULT_USER : user;
  const login = Buffer.from(`${name}:${password}`).toString('base64');
  return {
    origin,
    catalog: path || DEFAULT_CATALOG,
    headers: {
      'X-Trino-User': name,
      'X-Trino-Source': 'plinth',
      'X-Trino-Time-Zone': 'UTC',
      'User-Agent': 'plinth',
      ...(password !== '' && { Authorization: `Basic ${login}` }),
    },
  };
}

function partsOf(text: string) {
  try {
    const { origin, username, password, pathname } = new URL(text);
    return {
      origin,
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      path: decodeURIComponent(pathname.slice(1)),
    };
  } catch {
    throw new ConfigInvalid([
      'query.wide_url: not a valid URL; use a URL such as http://trino.internal:8080/plinth, with % in names and passwords as %25',
    ]);
  }
}
