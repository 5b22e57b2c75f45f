import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  accessOf,
  createLogger,
  loadSettings,
  NodeFileSystem,
  openRelationalStore,
  SystemClock,
  sendJson,
} from '@plinth/kernel';
import { ManualClock, SeededRandom } from '@plinth/kernel/testing';
import { type FastifyInstance, fastify } from 'fastify';
import { IDENTITY_SETTINGS } from '../config.js';
import { AdminTokens } from '../domain/admin-tokens.js';
import { PlatformKeys } from '../domain/platform-keys.js';
import { createIdentity, type Identity, isIdentityError, toErrorAnswer } from '../index.js';
import { PlatformKeyStore } from '../storage/platform-key-store.js';
import { TokenStore } from '../storage/token-store.js';

export interface TestIdentity extends AsyncDisposable {
  readonly identity: Identity;
  /** A server like the real one: the gate before routing, 404 for what is left. */
  readonly app: FastifyInstance;
  readonly clock: ManualClock;
  /** Everything that was logged. */
  readonly logged: string[];
  /** What another node on the same store has of it. */
  openOther(
    maxAgeSec?: number,
  ): Promise<{ readonly tokens: AdminTokens; readonly keys: PlatformKeys }>;
  /** Ends the service and starts it again on what it stored. */
  restart(flags?: Readonly<Record<string, string>>): Promise<TestIdentity>;
}

const OPENABLE = [
  ['health', '/health'],
  ['ping', '/ping'],
  ['metrics', '/metrics'],
  ['pprof', '/debug/pprof/heap'],
] as const;

export const START_MS = Date.UTC(2025, 3, 18, 14, 2, 45, 331);

export async function openTestIdentity(
  flags: Readonly<Record<string, string>> = {},
): Promise<TestIdentity> {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-identity-'));
  return await open(folder, flags, new ManualClock(START_MS));
}

async function open(
  folder: string,
  flags: Readonly<Record<string, string>>,
  clock: ManualClock,
): Promise<TestIdentity> {
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
  const pages = { bind: '127.0.0.1:8181' };
  const identity = createIdentity({ config, store, clock, random, files, log, pages });
  const app = await composeApp(identity);
  const stop = async () => {
    await app.close();
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
    app,
    clock,
    logged,
    openOther: async (maxAgeSec = Number.POSITIVE_INFINITY) => {
      const about = { clock, random, maxAgeSec };
      const tokens = new AdminTokens({ store: new TokenStore(store), ...about });
      const keys = new PlatformKeys({ store: new PlatformKeyStore(store), ...about });
      await tokens.load();
      await keys.load();
      return { tokens, keys };
    },
    restart: async (changed = flags) => {
      await stop();
      await clock.advanceMs(1);
      return await open(folder, changed, clock);
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function composeApp(identity: Identity): Promise<FastifyInstance> {
  const app = fastify();
  app.addHook('onRequest', async (request, reply) => {
    try {
      identity.check(request.raw, accessOf(request));
    } catch (error) {
      if (!isIdentityError(error)) throw error;
      const answer = toErrorAnswer(error, request.url.split('?', 1)[0] ?? '');
      return sendJson(reply.headers(answer.headers), answer.status, answer.body);
    }
    return undefined;
  });
  app.setNotFoundHandler((_, reply) => sendJson(reply, 404, { error: 'Not found', data: {} }));
  await app.register((scope) => identity.register(scope));
  for (const [openable, path] of OPENABLE) {
    app.get(path, { config: { access: { openable } } }, async () => 'OK');
  }
  return app;
}
