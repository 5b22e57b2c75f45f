import type { components, paths } from './schema.js';

export type { components, paths };

type Schemas = components['schemas'];
export type Item = Schemas['Item'];
export type Ammunition = Schemas['Ammunition'];
export type Trader = Schemas['Trader'];
export type Quest = Schemas['Quest'];
export type GameMap = Schemas['Map'];
export type HideoutModule = Schemas['HideoutModule'];
export type ItemPreset = Schemas['ItemPreset'];
export type Level = Schemas['Level'];
export type StorylineElement = Schemas['StorylineElement'];

/** Paths with a GET operation. */
export type ReadablePath = {
  [P in keyof paths]: paths[P] extends { get: { responses: { 200: unknown } } } ? P : never;
}[keyof paths] &
  string;

type Get<P extends ReadablePath> = paths[P] extends { get: infer G } ? G : never;
type Parameters<P extends ReadablePath> =
  Get<P> extends { parameters: infer Given } ? Given : Record<never, never>;
type QueryOf<P extends ReadablePath> =
  Parameters<P> extends { query?: infer Q }
    ? unknown extends Q
      ? Record<string, never>
      : NonNullable<Q>
    : Record<string, never>;
type PathOf<P extends ReadablePath> = Parameters<P> extends { path: infer V } ? V : undefined;
export type ReplyOf<P extends ReadablePath> =
  Get<P> extends { responses: { 200: { content: { 'application/json': infer Body } } } }
    ? Body
    : unknown;

export interface ClientOptions {
  /** For example `https://data.example.org`, without a trailing slash. */
  readonly baseUrl: string;
  /** Editor token; public reads need none. */
  readonly token?: string;
  /** Defaults to the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface GetOptions<P extends ReadablePath> {
  readonly query?: Partial<QueryOf<P>>;
  readonly path?: PathOf<P>;
  readonly signal?: AbortSignal;
}

/** The server returned an error; `code`, `param` and `details` come from its body. */
export class GameDataFailure extends Error {
  override readonly name = 'GameDataFailure';
  readonly status: number;
  readonly body: Schemas['Error'];
  constructor(status: number, body: Schemas['Error']) {
    super(body.error);
    this.status = status;
    this.body = body;
  }
}

export interface GameDataClient {
  /**
   * Reads one path with typed parameters and response. Throws `GameDataFailure`, and the errors of
   * `fetch`.
   */
  get<P extends ReadablePath>(path: P, options?: GetOptions<P>): Promise<ReplyOf<P>>;
}

export function createGameDataClient(options: ClientOptions): GameDataClient {
  const send = options.fetch ?? globalThis.fetch;
  return {
    async get<P extends ReadablePath>(path: P, given: GetOptions<P> = {}): Promise<ReplyOf<P>> {
      const headers: Record<string, string> = { accept: 'application/json' };
      if (options.token !== undefined) headers['authorization'] = `Bearer ${options.token}`;
      const response = await send(`${options.baseUrl}${urlOf(path, given)}`, {
        headers,
        ...(given.signal !== undefined && { signal: given.signal }),
      });
      const body: unknown = await response.json();
      if (response.ok) return body as ReplyOf<P>; // the server conforms to its API description
      throw new GameDataFailure(response.status, body as Schemas['Error']);
    },
  };
}

function urlOf<P extends ReadablePath>(path: P, { query, path: values }: GetOptions<P>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(String(Reflect.get(Object(values), name))),
  );
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? filled : `${filled}?${text}`;
}
