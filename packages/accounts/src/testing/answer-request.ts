import {
  type Dialect,
  type HttpAnswer,
  type HttpHead,
  inputReader,
  pathOf,
  type Route,
  type RouteTable,
  refusalOf,
} from '@plinth/kernel';
import { requestHead } from '@plinth/kernel/testing';

export interface TestRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

/** What a client receives. */
export interface TestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

const BASE = 'http://127.0.0.1:8181';
/** Routes that each kind of principal may use. */
const GRANTED: Readonly<Record<string, readonly string[]>> = {
  admin: ['public', 'admin'],
  anonymous: ['public'],
  platform_key: ['public', 'platform'],
};

/** The answer of the route with this method and path, with the headers of its dialect. */
export async function answerRequest(
  tables: readonly RouteTable[],
  url: string,
  { method = 'GET', headers, body }: TestRequest,
): Promise<TestAnswer> {
  const bytes = Buffer.from(body ?? '');
  const length = body === undefined ? {} : { 'content-length': String(bytes.length) };
  const address = { from: '127.0.0.1', base: BASE, publicBase: BASE };
  const head = requestHead({ method, url, headers: { ...length, ...headers }, ...address });
  for (const { dialect, routes } of tables) {
    for (const route of routes) {
      const found = patternOf(route.path).exec(pathOf(url));
      if (found === null || route.method !== method) continue;
      const request = Object.assign(head, { parameters: { ...found.groups }, body: bytes });
      const answer = await handle(request, dialect, route);
      const listed = [...(dialect.headers?.(head) ?? []), ...answer.headers];
      const text = String(answer.body ?? '');
      return { status: answer.status, headers: Object.fromEntries(listed), text };
    }
  }
  throw new Error(`no route for ${method} ${url}`);
}

/** In the order of the server's request pipeline: credential, access, check of the head, input, handler. */
async function handle(
  head: HttpHead & { readonly parameters: Record<string, string>; readonly body: Uint8Array },
  dialect: Dialect,
  route: Route,
): Promise<HttpAnswer> {
  try {
    const principal = await dialect.identify(head, route.access);
    const request = Object.assign(head, { principal });
    const isGranted = GRANTED[principal.kind]?.includes(String(route.access));
    if (isGranted !== true) throw refusalOf(route.access, principal);
    route.check?.(request);
    return await route.handle(request, inputReader(route)(request));
  } catch (error) {
    return dialect.answerError(error, head);
  }
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`);
