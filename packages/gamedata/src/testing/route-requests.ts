import {
  decodeBody,
  type HttpAnswer,
  type HttpHead,
  inputReader,
  pathOf,
  type Route,
  type RouteTable,
  refusalOf,
} from '@plinth/kernel';

/** A path has one parameter of this kind a segment; `*` is the rest. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)').replace('*', '(?<rest>.*)')}$`);

interface FoundRoute {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Finds the routes of one table as the server's router does, except for HEAD. */
export class RouteFinder {
  readonly #routes: readonly { readonly route: Route; readonly pattern: RegExp }[];

  constructor({ routes }: RouteTable) {
    // A segment as it is goes before a parameter.
    const order = ({ path }: Route): string => path.replaceAll(/[:*]/g, '\uffff');
    this.#routes = routes
      .toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
      .map((route) => ({ route, pattern: patternOf(route.path) }));
  }

  find(method: string, path: string): FoundRoute | undefined {
    for (const { route, pattern } of this.#routes) {
      const match = route.method === method ? pattern.exec(path) : null;
      if (match === null) continue;
      const { rest, ...named } = match.groups ?? {};
      const raw = { ...named, ...(rest !== undefined && { '*': rest }) };
      try {
        const decoded = Object.entries(raw).map(([name, text]) => [name, decodeURIComponent(text)]);
        if (decoded.some(([, text]) => text?.includes('\0'))) return undefined;
        return { route, parameters: Object.fromEntries(decoded) };
      } catch {
        return undefined; // broken percent-encoding
      }
    }
    return undefined;
  }

  methodsOf(path: string): readonly string[] {
    return ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
      (method) => this.find(method === 'HEAD' ? 'GET' : method, path) !== undefined,
    );
  }
}

/** In the order of the server's request pipeline: credential, route, access, check of the head, body, input, handler. */
export async function answerRequest(
  head: HttpHead,
  sent: Uint8Array,
  { dialect, finder }: Pick<RouteTable, 'dialect'> & { readonly finder: RouteFinder },
): Promise<HttpAnswer> {
  const path = pathOf(head.url);
  const methods = finder.methodsOf(path);
  if (head.method === 'OPTIONS') {
    const preflight = dialect.answerPreflight?.(head, methods);
    if (preflight !== undefined) return preflight;
  }
  try {
    const found = finder.find(head.method, path);
    const principal = await dialect.identify(head, found?.route.access);
    if (found === undefined) {
      return dialect.answerNotFound(head, methods.length > 0 ? [...methods, 'OPTIONS'] : []);
    }
    const { route, parameters } = found;
    if (route.access !== 'public' && principal.kind !== route.access) {
      throw refusalOf(route.access, principal);
    }
    const request = Object.assign(head, { principal, parameters, body: sent });
    route.check?.(request);
    const encoding = head.headers['content-encoding'];
    if (route.body !== undefined) {
      request.body = await decodeBody(sent, encoding, route.body.maxBytes);
    }
    return await route.handle(request, inputReader(route)(request));
  } catch (error) {
    return dialect.answerError(error, head);
  }
}
