import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import {
  Chance,
  FLUSH_AT_ONCE,
  ServerInProcess,
  StartFailed,
  untilInFiles,
  WITH_SAMPLE_DATA,
  write,
} from '../harness/index.js';

const FLAGS = ['--without-auth', '--tsdb-internal-metrics-interval-ms=0'];
/** Rows stay in the log, however slow the machine is. */
const UNFLUSHED = ['--tsdb-buffer-flush-age-ms', '3600000'];
const ROW_COUNT = 60;
/** The kinds of files in a data folder; the first match counts. */
const KINDS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['journal', /^plinth\.db-wal$/],
  ['catalog', /^plinth\.db$/],
  ['log', /^tsdb-log\/\d+\.log$/],
  ['quarantine', /\.damaged$/],
  ['stored file', /^objects\/tsdb\//],
  ['game data', /^objects\/gamedata\//],
  ['audit log', /^audit\//],
  ['snapshot', /^snapshots\//],
  ['other', /^(?!server\.(?:lock|pid)|plinth\.db-shm)/],
];

type Outcome = 'served' | 'reported' | 'refused' | 'repaired';

/**
 * Flips a byte at `placeCount` random offsets in each kind of file in a copy of one data folder, and starts a server on it. The
 * server must return only written rows, and report missing rows with their file.
 */
export async function runFlippedBytes(options: {
  readonly seed: number;
  readonly placeCount: number;
  /** Names of the kinds to test; all by default. */
  readonly kinds?: readonly string[] | undefined;
  readonly report: (line: string) => void;
}): Promise<ReadonlySet<string>> {
  const chance = new Chance(options.seed);
  const root = await mkdtemp(join(tmpdir(), 'plinth-flipped-'));
  const seen = new Set<string>();
  try {
    const template = join(root, 'template');
    await fill(template);
    const files = await filesOf(template);
    for (const [kind] of KINDS) {
      if (options.kinds?.includes(kind) === false) continue;
      const ofKind = files.filter((file) => kindOf(file) === kind);
      if (ofKind.length === 0) continue;
      for (let place = 0; place < options.placeCount; place++) {
        const file = chance.pick(ofKind);
        const { size } = await stat(join(template, file));
        const at = chance.between(0, size - 1);
        const mask = 1 << chance.between(0, 7);
        const copy = join(root, 'copy');
        await cp(template, copy, { recursive: true });
        const what = `seed ${options.seed}: bit ${mask} at ${at} of ${file}`;
        const outcome = await startOn(copy, { file, at, mask, kind, what });
        options.report(`${what}: ${outcome}`);
        seen.add(`${kind}: ${outcome}`);
        await rm(copy, { recursive: true });
      }
    }
    return seen;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const kindOf = (file: string): string | undefined =>
  KINDS.find(([, pattern]) => pattern.test(file))?.[0];

/** Creates rows in files and in two log files, deleted rows and a quarantined file; then the server is killed. */
async function fill(dataDir: string): Promise<void> {
  const first = await ServerInProcess.start({
    dataDir,
    flags: [...FLAGS, ...FLUSH_AT_ONCE],
    env: WITH_SAMPLE_DATA,
  });
  await write(first, { db: 'd' }, lines(0, 20));
  const deletion = new URLSearchParams({ db: 'd', q: `DELETE FROM m WHERE t = 'gone'` });
  const deleted = await first.http.send(`/query?${deletion}`, { method: 'POST' });
  assert.equal(deleted.status, 200, deleted.text);
  await untilInFiles(first);
  assert.equal(await first.stop(), 0);
  for (const from of [20, 40]) {
    const server = await ServerInProcess.start({ dataDir, flags: [...FLAGS, ...UNFLUSHED] });
    for (let n = from; n < from + 20; n++) await write(server, { db: 'd' }, lines(n, n + 1));
    await server.kill();
  }
  await writeFile(join(dataDir, 'tsdb-log', '000000000001.log.damaged'), 'PLINTHLG');
}

/** `v` is the number of the row; those with the tag `gone` are deleted later. */
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => {
    const n = from + i;
    const gone = n < 20 ? `\nm,t=gone v=${1000 + n}i ${n}` : '';
    return `m,t=t${n % 7} v=${n}i ${n}${gone}`;
  }).join('\n');

async function filesOf(dataDir: string): Promise<readonly string[]> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dataDir, join(entry.parentPath, entry.name)));
  const sizes = await Promise.all(
    files.map(async (file) => (await stat(join(dataDir, file))).size),
  );
  return files.filter((_, index) => (sizes[index] ?? 0) > 0).sort();
}

interface Flip {
  readonly file: string;
  readonly at: number;
  readonly mask: number;
  readonly kind: string;
  readonly what: string;
}

async function startOn(dataDir: string, flip: Flip): Promise<Outcome> {
  const path = join(dataDir, flip.file);
  const bytes = await readFile(path);
  bytes[flip.at] = (bytes[flip.at] ?? 0) ^ flip.mask;
  await writeFile(path, bytes);
  try {
    return await look(dataDir, flip, []);
  } catch (error) {
    if (!(error instanceof StartFailed)) throw error;
    assertNamed(error, path, flip);
  }
  try {
    await look(dataDir, flip, ['--repair']);
    return 'repaired';
  } catch (error) {
    if (!(error instanceof StartFailed)) throw error;
    assertNamed(error, path, flip);
    return 'refused';
  }
}

/** A refused start is an expected result: its message names the file and the fix. */
function assertNamed({ code, message }: StartFailed, path: string, { what }: Flip): void {
  assert.ok(code === 1 || code === 2, `${what}: ${message}`);
  assert.ok(message.includes(basename(path)), `${what}: ${message}`);
  assert.match(message, /restore|--repair|backup|put back|put the key back/i, what);
  assert.doesNotMatch(message, /\n +at /, `${what}: it is no bug, so it has no stack`);
}

/** Compares the server's results with its reports of missing rows. */
async function look(
  dataDir: string,
  { kind, what }: Flip,
  flags: readonly string[],
): Promise<Outcome> {
  const server = await ServerInProcess.start({ dataDir, flags: [...FLAGS, ...flags] });
  try {
    const q = 'SELECT t, v, CAST(time AS BIGINT) AS n FROM m ORDER BY n';
    const params = new URLSearchParams({ db: 'd', q, format: 'csv' });
    const { status, text } = await server.http.send(`/api/v3/query_sql?${params}`);
    const hasReport = /"level":"?(?:warn|error|40|50)/.test(server.logText);
    if (status !== 200) {
      // A segment is read only when it is needed. A table whose catalog entry changed is not found.
      const isKnown = /is corrupt/.test(text) || kind === 'catalog';
      assert.ok(isKnown, `${what}: ${status} ${text}`);
      return 'reported';
    }
    const rows = text
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','))
      .map(([t, v, n]) => ({ t, v: Number(v), n: Number(n) }));
    for (const row of rows) {
      const isWritten = row.t === `t${row.n % 7}` && row.v === row.n && row.n < ROW_COUNT;
      assert.ok(isWritten, `${what}: ${JSON.stringify(row)} was never written or is deleted`);
    }
    assert.equal(new Set(rows.map(({ n }) => n)).size, rows.length, `${what}: rows twice`);
    if (rows.length === ROW_COUNT) return 'served';
    assert.ok(hasReport, `${what}: ${ROW_COUNT - rows.length} rows are missing without a report`);
    return 'reported';
  } finally {
    await server.kill();
  }
}
