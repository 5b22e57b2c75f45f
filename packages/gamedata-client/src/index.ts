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

/** Paths that can be read. */
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
  /** `https://data.example.org`, without an end slash. */
  readonly baseUrl: string;
  /** Of the editor; reading needs none. */
  readonly token?: string;
  /** The platform's own unless told otherwise. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface GetOptions<P extends ReadablePath> {
  readonly query?: Partial<QueryOf<P>>;
  readonly path?: PathOf<P>;
  readonly signal?: AbortSignal;
}

/** The server refused; `code`, `param` and `details` are its own words. */
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
   * Reads one path; parameters and reply have the types of the description. Throws `GameDataFailure`, and what `fetch`
   * throws.
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
      if (response.ok) return body as ReplyOf<P>; // what the server describes is what it sends
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
