import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ApiConventions,
  createLogger,
  type HttpRequest,
  type HttpResponse,
  inputReader,
  jsonResponse,
  loadSettings,
  NodeFileSystem,
  openRelationalStore,
  pathOf,
  type RouteMethod,
  SystemClock,
} from '@plinth/kernel';
import { ManualClock, SeededRandom } from '@plinth/kernel/testing';
import { IDENTITY_SETTINGS } from '../config.js';
import { ApiTokens } from '../domain/api-tokens.js';
import { PlatformKeys } from '../domain/platform-keys.js';
import { createIdentity, type Identity, isIdentityError, toErrorResponse } from '../index.js';
import { PlatformKeyStore } from '../storage/platform-key-store.js';
import { TokenStore } from '../storage/token-store.js';

export interface TestIdentity extends AsyncDisposable {
  readonly identity: Identity;
  /** Sends a request to its route and returns the response, or the formatted failure. */
  send(request: TestRequest): Promise<HttpResponse>;
  readonly clock: ManualClock;
  /** All log lines. */
  readonly logged: string[];
  /** The claim code as delivered to the owner; `undefined` after it is withdrawn. */
  readonly claimCode: () => string | undefined;
  /** Opens the identity objects of another node on the same store. */
  openOther(
    maxAgeSec?: number,
  ): Promise<{ readonly tokens: ApiTokens; readonly keys: PlatformKeys }>;
  /** Closes the service and opens it again on the stored data. */
  restart(flags?: Readonly<Record<string, string>>): Promise<TestIdentity>;
}

export interface TestRequest {
  readonly method: RouteMethod;
  /** Path and query. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Remote address of the connection; default: this machine. */
  readonly remoteAddress?: string;
}

export interface TestIdentityOptions {
  readonly bind?: string;
  readonly policy?: 'claim' | 'anyone';
}

export const START_MS = Date.UTC(2025, 3, 18, 14, 2, 45, 331);

export async function openTestIdentity(
  flags: Readonly<Record<string, string>> = {},
  options: TestIdentityOptions = {},
): Promise<TestIdentity> {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-identity-'));
  try {
    return await open({ folder, flags, options }, new ManualClock(START_MS));
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function open(
  given: {
    readonly folder: string;
    readonly flags: Readonly<Record<string, string>>;
    readonly options: TestIdentityOptions;
  },
  clock: ManualClock,
): Promise<TestIdentity> {
  const { folder, flags, options } = given;
  const { identity: config } = loadSettings(
    { identity: IDENTITY_SETTINGS },
    { flags: new Map(Object.entries(flags)), env: {} },
  );
  const files = new NodeFileSystem();
  const store = await openRelationalStore({
    path: join(folder, 'plinth.db'),
    clock: new SystemClock(),
    fileSystem: files,
  });
  const logged: string[] = [];
  const log = createLogger({ level: 'trace', destination: { write: (text) => logged.push(text) } });
  const random = new SeededRandom(clock.nowMs());
  const pages = { bind: options.bind ?? '127.0.0.1:8181' };
  const conventions = serverConventions(() => identity);
  // State left by a process that was killed before the server was claimed.
  let code: string | undefined = 'code of an earlier process';
  const delivery = {
    deliver: async (text: string) => {
      code = text;
    },
    withdraw: async () => {
      code = undefined;
    },
  };
  const policy = options.policy ?? 'claim';
  const firstToken = { policy, proxyHeader: 'x-client-address', isBehindProxy: false, delivery };
  const identity = createIdentity({
    ...{ config, store, clock, random, files, log, pages, conventions, firstToken },
  });
  const stop = async () => {
    await identity.close();
    await store.close();
  };
  try {
    await identity.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    identity,
    send: (request) => send(identity, request),
    clock,
    logged,
    claimCode: () => code,
    openOther: async (maxAgeSec = Number.POSITIVE_INFINITY) => {
      const about = { clock, random, maxAgeSec };
      const tokens = new ApiTokens({ store: new TokenStore(store), ...about });
      const keys = new PlatformKeys({ store: new PlatformKeyStore(store), ...about });
      await tokens.load();
      await keys.load();
      return { tokens, keys };
    },
    restart: async (changed = flags) => {
      await stop();
      await clock.advanceMs(1);
      return await open({ folder, flags: changed, options }, clock);
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Same behavior as the server's own API conventions. */
const serverConventions = (identity: () => Identity): ApiConventions => ({
  service: 'tsdb',
  paths: [],
  identify: (request, access) => identity().accessControl.authenticate(request, access),
  errorResponse(error, { url }) {
    if (!isIdentityError(error)) throw error;
    const { status, headers, body } = toErrorResponse(error, pathOf(url));
    return jsonResponse(status, body, Object.entries(headers));
  },
  notFoundResponse: () => jsonResponse(404, {}),
});

async function send(identity: Identity, given: TestRequest): Promise<HttpResponse> {
  const { method, url, headers = {}, body = new Uint8Array() } = given;
  const { remoteAddress = '127.0.0.1' } = given;
  const from = { socket: { remoteAddress }, client: { address: remoteAddress } };
  for (const { conventions, routes } of await identity.routeGroups()) {
    const route = routes.find(
      (one) => one.method === method && patternOf(one.path).test(pathOf(url)),
    );
    if (route === undefined) continue;
    const parameters = patternOf(route.path).exec(pathOf(url))?.groups ?? {};
    const at = { method, url, headers, body, parameters, base: 'http://127.0.0.1', ...from };
    const request = at as unknown as HttpRequest; // all that these routes read
    try {
      const principal = await conventions.identify(request, route.access);
      const recognised = { ...request, principal };
      route.check?.(recognised);
      return await route.handle(recognised, inputReader(route)(recognised));
    } catch (error) {
      return conventions.errorResponse(error, request);
    }
  }
  throw new Error(`no route for ${method} ${url}`);
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`);
