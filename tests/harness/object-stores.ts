import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-ports.js';
import { pythonWith } from './python.js';
import { runProgram } from './run-program.js';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url));
const START_TRIES = 300;
const INSTALL_TIMEOUT_MS = 180_000;
export const BUCKET = 'plinth';
const KEY = 'plinth-test-key';
const SECRET = 'plinth-test-secret';

/** A running S3-compatible store with the bucket `BUCKET`. */
export interface ObjectStoreProcess extends AsyncDisposable {
  readonly url: string;
  readonly key: string;
  readonly secret: string;
  /** `versitygw` stores each object as a file in a folder below it, named like the bucket. */
  readonly folder: string;
}

type Skip = Pick<TestContext, 'skip'>;

/** Flags of a server that publishes to a store, which may be reached through another address. */
export const bucketFlags = (
  store: Pick<ObjectStoreProcess, 'url' | 'key' | 'secret'>,
): readonly string[] => [
  ...['--open-tables-store', 's3', '--bucket', BUCKET, '--aws-allow-http'],
  ...['--aws-endpoint', store.url, '--aws-access-key-id', store.key],
  ...['--aws-secret-access-key', store.secret],
];

/** `versitygw`, which keeps all guarantees of S3 that the server needs; `undefined` (and skipped) if it is not installed. */
export async function startVersitygw(context: Skip): Promise<ObjectStoreProcess | undefined> {
  const program = ['versitygw', join(homedir(), 'go', 'bin', 'versitygw')].find(
    (name) => spawnSync(name, ['--version']).status === 0,
  );
  if (program === undefined) {
    context.skip(
      'versitygw is not installed; run go install github.com/versity/versitygw/cmd/versitygw@latest',
    );
    return undefined;
  }
  return await startStore(
    { key: KEY, secret: SECRET },
    (port, folder) => [
      program,
      ...['--access', KEY, '--secret', SECRET, '--port', `127.0.0.1:${port}`, '--quiet'],
      ...['posix', folder],
    ],
    async (folder) => {
      await mkdir(join(folder, BUCKET));
    },
  );
}

/** `moto`, which does not verify checksums; `undefined` (and skipped) if it cannot be installed. */
export async function startMoto(context: Skip): Promise<ObjectStoreProcess | undefined> {
  const python = await pythonWith(
    { name: 'moto', packages: ['moto[server]==5.2.*'], probe: 'import moto.server' },
    context,
  );
  if (python === undefined) return undefined;
  const store = await startStore({ key: KEY, secret: SECRET }, (port) => [
    python,
    ...['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)],
  ]);
  await fetch(`${store.url}/${BUCKET}`, { method: 'PUT' });
  return store;
}

/** `s3rver`, which overwrites objects; `undefined` (and skipped) if it cannot be installed. */
export async function startS3rver(context: Skip): Promise<ObjectStoreProcess | undefined> {
  const folder = join(CACHE, 'plinth-npm-s3rver');
  const program = join(folder, 'node_modules', 's3rver', 'bin', 's3rver.js');
  if (spawnSync(process.execPath, [program, '--version']).status !== 0) {
    await mkdir(folder, { recursive: true });
    const install = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts'];
    const timeoutMs = INSTALL_TIMEOUT_MS;
    try {
      await runProgram('npm', [...install, 's3rver@3.7.1'], { timeoutMs });
    } catch {
      context.skip('the npm package s3rver cannot be installed');
      return undefined;
    }
  }
  return await startStore({ key: 'S3RVER', secret: 'S3RVER' }, (port, data) => [
    process.execPath,
    ...[program, '--directory', data, '--address', '127.0.0.1', '--port', String(port)],
    ...['--configure-bucket', BUCKET, '--silent'],
  ]);
}

async function startStore(
  login: { readonly key: string; readonly secret: string },
  commandOf: (port: number, folder: string) => readonly string[],
  prepare: (folder: string) => Promise<void> = async () => undefined,
): Promise<ObjectStoreProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-bucket-'));
  await prepare(folder);
  const port = await freePort();
  const [program = '', ...args] = commandOf(port, folder);
  const child = spawn(program, args, { stdio: 'ignore' });
  const close = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilListening(child, port);
  } catch (error) {
    await close();
    throw error;
  }
  return { ...login, folder, url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  for (let tries = 0; tries < START_TRIES && child.exitCode === null; tries++) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${child.spawnfile} does not listen on port ${port}`);
}
