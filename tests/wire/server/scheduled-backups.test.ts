// Source: docs/BACKUPS.md, "Schedule backups"; docs/SETTINGS.md, section backup.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCli } from '../../harness/cli.js';
import { ServerInProcess, StartFailed } from '../../harness/index.js';

const PATIENCE_MS = 60_000;
let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-scheduled-'));
});
after(async () => await rm(folder, { recursive: true }));

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (const endMs = Date.now() + PATIENCE_MS; Date.now() < endMs; await sleep(100)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error('it did not come');
}

const flags = (to: string, keep: number) => [
  ...['--without-auth', '--backup-schedule', '* * * * * *'],
  ...['--backup-folder', to, '--backup-keep', String(keep)],
];

const metric = async (server: Pick<ServerInProcess, 'http'>, name: string): Promise<number> => {
  const { text } = await server.http.send('/metrics');
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
};

it('scheduled backups are complete, restorable and limited in number', async () => {
  const to = join(folder, 'nightly');
  const foreign = [
    'mine.txt',
    'plinth-20200101T000000Z', // Without backup.json.
    'plinth-20200101T000000Z.another-folder.part',
    'plinth-20200102T000000Z',
  ];
  await mkdir(join(to, foreign[1] ?? ''), { recursive: true });
  await mkdir(join(to, foreign[2] ?? ''));
  await writeFile(join(to, 'mine.txt'), 'stays');
  await symlink(folder, join(to, foreign[3] ?? ''));
  const server = await ServerInProcess.start({ flags: flags(to, 2) });
  await server.http.send('/api/v3/write_lp?db=home', { method: 'POST', body: 'air temp=21.5 1' });
  const names = async () =>
    (await readdir(to))
      .filter((name) => /^plinth-\d{8}T\d{6}Z$/.test(name) && !foreign.includes(name))
      .sort();
  const [first] = await until(async () => ((await names()).length > 0 ? await names() : undefined));
  await until(async () => ((await names()).includes(first ?? '') ? undefined : true));
  assert.ok((await metric(server, 'plinth_backup_last_success_timestamp_seconds')) > 1_700_000_000);
  await server.close();
  const left = await names();
  assert.equal(left.length, 2, left.join());
  assert.deepEqual((await readdir(to)).filter((name) => !left.includes(name)).sort(), foreign);
  assert.equal((await stat(join(to, left[1] ?? ''))).mode & 0o777, 0o700);
  const restored = join(folder, 'restored');
  const verified = await runCli(['verify', '--from', join(to, left[1] ?? '')]);
  assert.equal(verified.code, 0, verified.stderr);
  const made = await runCli(['restore', '--from', join(to, left[1] ?? ''), '--data-dir', restored]);
  assert.equal(made.code, 0, made.stderr);
  await using again = await ServerInProcess.start({ dataDir: restored });
  const { text } = await again.http.send(
    '/api/v3/query_sql?db=home&format=csv&q=SELECT%20temp%20FROM%20air',
  );
  assert.equal(text, 'temp\n21.5\n');
});

it('a schedule that is due during a start waits until all services have started', async () => {
  const [to, dataDir] = [join(folder, 'early'), join(folder, 'long-log')];
  const server = await ServerInProcess.start({ dataDir, flags: ['--without-auth'] });
  // Enough data for several seconds of startup, during which all of it is read.
  for (let part = 0; part < 20; part++) {
    const lines = Array.from({ length: 20_000 }, (_, n) => `m,host=h${n} a=${n},b=${part} ${part}`);
    const { status } = await server.http.send('/api/v3/write_lp?db=d', { body: lines.join('\n') });
    assert.equal(status, 204);
  }
  await server.kill();
  await using again = await ServerInProcess.start({ dataDir, flags: flags(to, 2) });
  await until(async () => again.logged('backup created'));
  assert.equal(again.logged('backup failed'), undefined);
  assert.equal(await metric(again, 'plinth_backup_failures_total'), 0);
});

it('a restored copy with the same configuration does not remove backups of the first server', async () => {
  const to = join(folder, 'shared');
  const names = async () => (await readdir(to)).filter((name) => /Z$/.test(name)).sort();
  const server = await ServerInProcess.start({ flags: flags(to, 2) });
  await until(async () => ((await names()).length >= 2 ? true : undefined));
  await server.close();
  const real = await names();
  const drill = join(folder, 'drill');
  const restored = await runCli([
    'restore',
    '--from',
    join(to, real[0] ?? ''),
    '--data-dir',
    drill,
  ]);
  assert.equal(restored.code, 0, restored.stderr);
  const copy = await ServerInProcess.start({ dataDir: drill, flags: flags(to, 1) });
  await until(async () => ((await names()).length > real.length ? true : undefined));
  const first = (await names()).find((name) => !real.includes(name)) ?? '';
  await until(async () => ((await names()).includes(first) ? undefined : true)); // The copy keeps one of its own backups.
  assert.ok(copy.logged('backups of another data folder are not removed'), copy.logText);
  assert.equal(await copy.stop(), 0);
  assert.deepEqual((await names()).slice(0, real.length), real);
});

it('two servers with one folder create complete backups, without touching those of the other', async () => {
  const to = join(folder, 'of-two');
  const [one, two] = await Promise.all([
    ServerInProcess.start({ flags: flags(to, 50) }),
    ServerInProcess.start({ flags: flags(to, 50) }),
  ]);
  const names = async () =>
    (await readdir(to).catch(() => [])).filter((name) => !name.endsWith('.part'));
  await until(async () => ((await names()).length >= 6 ? true : undefined));
  const failures = async (server: ServerInProcess) =>
    await metric(server, 'plinth_backup_failures_total');
  const failed = await Promise.all([failures(one), failures(two)]);
  await Promise.all([one.close(), two.close()]);
  assert.deepEqual(failed, [0, 0]);
  const ids = new Set<string>();
  for (const name of await names()) {
    const verified = await runCli(['verify', '--from', join(to, name)]);
    assert.equal(verified.code, 0, `${name}: ${verified.stderr}`);
    const manifest = JSON.parse(await readFile(join(to, name, 'backup.json'), 'utf8'));
    ids.add(manifest.folder_id);
  }
  assert.equal(ids.size, 2);
});

it('a server removes only unfinished backups of its own data folder', async () => {
  const to = join(folder, 'unfinished');
  const first = await ServerInProcess.start({ flags: flags(to, 50) });
  const { dataDir } = first;
  const complete = async () => (await readdir(to)).find((name) => /Z$/.test(name));
  const name = (await until(complete)) ?? '';
  await first.stop();
  const { folder_id } = JSON.parse(await readFile(join(to, name, 'backup.json'), 'utf8'));
  const own = join(to, `plinth-20200101T000000Z.${folder_id}.part`);
  const other = join(to, 'plinth-20200101T000000Z.x.part');
  for (const part of [own, other]) await mkdir(part);
  await using second = await ServerInProcess.start({ dataDir, flags: flags(to, 50) });
  await until(async () => ((await readdir(to)).includes(basename(own)) ? undefined : true));
  assert.ok((await readdir(to)).includes(basename(other)), second.logText);
});

it('a failed backup is counted and logged, and the server continues', async () => {
  const to = join(folder, 'no-folder');
  await writeFile(to, 'a file');
  await using server = await ServerInProcess.start({ flags: flags(to, 2) });
  assert.match(server.logText, /backup folder is not writable/, 'reported by the start');
  await until(async () =>
    (await metric(server, 'plinth_backup_failures_total')) > 0 ? true : undefined,
  );
  assert.equal(await metric(server, 'plinth_backup_last_success_timestamp_seconds'), 0);
  assert.equal((await server.http.send('/health')).status, 200);
});

it('an invalid schedule, or one without a folder, prevents the start', async () => {
  const start = (schedule: string, ...more: string[]) =>
    ServerInProcess.start({ flags: ['--without-auth', '--backup-schedule', schedule, ...more] });
  const says = (words: RegExp) => (error: unknown) =>
    error instanceof StartFailed && words.test(error.message);
  await assert.rejects(
    start('nightly', '--backup-folder', folder),
    says(/backup\.schedule: cron expressions have 6 fields .*, but "nightly" has 1/),
  );
  await assert.rejects(start('@daily'), says(/backup\.folder: required by backup\.schedule/));
});

it('a scheduled backup waits for other backups', async () => {
  const to = join(folder, 'waits');
  const nightly = ['--backup-schedule', '*/20 * * * * *', '--backup-folder', to];
  await using server = await ServerInProcess.start({ flags: ['--without-auth', ...nightly] });
  const holders = [1, 2].map(() => new AbortController());
  // An unreferenced response is garbage collected, which closes its connection.
  const responses = await Promise.all(
    holders.map(({ signal }) => fetch(`${server.url}/ops/v1/backups`, { method: 'POST', signal })),
  );
  for (const { status } of responses) assert.equal(status, 201);
  const line = await until(async () => server.logged('scheduled backup is waiting'));
  assert.match(String(line['why']), /too many backups are in progress/);
  for (const holder of holders) holder.abort();
  await until(async () => server.logged('backup created'));
  assert.equal(server.logged('backup failed'), undefined);
  assert.equal(responses.length, 2); // keeps them until here
});
