// Source: docs/SECURITY-DATA.md, "Data folder": only the server's own user can access its files.
// Own process: one test sets a umask, another one sends signals.
import assert from 'node:assert/strict';
import { chmod, chown, cp, lstat, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { query, ServerInProcess, ServerProcess, temporaryFolder } from '../../harness/index.js';

const SKIP = process.platform === 'win32' ? 'rights are those of the folder above' : false;
const OTHERS = 0o077;

let root: string;
beforeEach(async () => {
  root = await temporaryFolder();
});

/** Permissions of group and others on a folder and everything in it. */
async function openToOthers(folder: string): Promise<readonly string[]> {
  const names = ['.', ...(await readdir(folder, { recursive: true }))];
  const found = await Promise.all(
    names.map(async (name) => {
      // A running server removes files in the meantime.
      const { mode } = await lstat(join(folder, name)).catch(() => ({ mode: 0 }));
      return (mode & OTHERS) === 0 ? [] : [`${name} ${(mode & 0o777).toString(8)}`];
    }),
  );
  return found.flat();
}

describe('with a umask of 0', { skip: SKIP }, () => {
  it('keeps the data folder and all files private, at runtime and afterwards', async () => {
    const dataDir = join(root, 'data');
    const plugins = join(dataDir, 'plugins');
    await mkdir(plugins, { recursive: true });
    await chmod(dataDir, 0o755);
    const flags = ['--without-auth', '--tsdb-buffer-flush-age-ms', '100', '--plugin-dir', plugins];
    const server = await ServerProcess.start({ dataDir, flags, limits: 'umask 000' });
    try {
      assert.equal((await stat(dataDir)).mode & 0o777, 0o700);
      const written = await server.http.send('/api/v3/write_lp?db=d', { body: 'm,t=a v=1i 1' });
      assert.equal(written.status, 204);
      const body = JSON.stringify({ plugin_name: 'p.py', content: 'x = 1' });
      const headers = { 'content-type': 'application/json' };
      const uploaded = await server.http.send('/api/v3/plugins/files', {
        method: 'POST',
        ...{ body, headers },
      });
      assert.equal(uploaded.status, 200, uploaded.text);
      const isSegment = (name: string): boolean => name.endsWith('.parquet');
      for (let tries = 0; ; tries++) {
        if ((await readdir(dataDir, { recursive: true })).some(isSegment)) break;
        assert.ok(tries < 600, 'no segment');
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const format = 'parquet';
      await query(server, { db: 'd', q: 'SELECT * FROM m', format });
      const names = await readdir(dataDir, { recursive: true });
      for (const name of ['plinth.db', 'plinth.db-wal', 'plinth.db-shm', 'plugins/p.py']) {
        assert.ok(names.includes(name), `${name} is looked at`);
      }
      // An existing folder is protected by its parent.
      const found = (await openToOthers(dataDir)).filter((each) => !each.startsWith('plugins 7'));
      assert.deepEqual(found, []);
    } finally {
      assert.equal(await server.stop(), 0);
    }
    const found = (await openToOthers(dataDir)).filter((each) => !each.startsWith('plugins 7'));
    assert.deepEqual(found, []);
  });

  it('keeps backups and restored folders private, and gives exports the mode of the umask', async () => {
    await using server = await ServerInProcess.start();
    const written = await server.http.send('/api/v3/write_lp?db=d', { body: 'm,t=a v=1i 1' });
    assert.equal(written.status, 204);
    const [backup, data, out] = ['backup', 'data', 'out.csv'].map((name) => join(root, name));
    assert.ok(backup !== undefined && data !== undefined && out !== undefined);
    const umask = process.umask(0o022);
    try {
      for (const args of [
        ['backup', '--to', backup, '--host', server.url],
        ['restore', '--from', backup, '--data-dir', data],
        ['query', '--host', server.url, '-d', 'd', '-f', 'csv', '-o', out, 'SELECT * FROM m'],
      ]) {
        const run = await runCli(args);
        assert.equal(run.code, 0, run.stderr);
      }
    } finally {
      process.umask(umask);
    }
    for (const folder of [backup, data]) assert.deepEqual(await openToOthers(folder), []);
    assert.equal((await stat(out)).mode & 0o777, 0o644);
  });
});

describe('The master key', () => {
  const KEY = 'a key that nobody else should know';

  it('is no longer in the environment of a running server', { skip: SKIP }, async () => {
    const dump = join(root, 'env.json');
    const preload = join(root, 'dump.mjs');
    await writeFile(
      preload,
      `import { writeFileSync } from 'node:fs';
       process.on('SIGUSR2', () => writeFileSync(${JSON.stringify(dump)}, JSON.stringify(process.env)));`,
    );
    await using server = await ServerProcess.start({
      env: {
        PLINTH_MASTER_KEY: KEY,
        INFLUXDB3_LOG_FILTER: 'info',
        NODE_OPTIONS: `--import ${preload}`,
      },
    });
    server.signal('SIGUSR2');
    while ((await stat(dump).catch(() => undefined))?.size === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { default: env } = await import(dump, { with: { type: 'json' } });
    assert.equal(Reflect.get(env, 'PATH'), process.env['PATH']);
    assert.deepEqual(
      Object.keys(env).filter((name) => /^(PLINTH|INFLUXDB3)_(?!TEST_)/.test(name)),
      [],
    );
    assert.ok(!JSON.stringify(env).includes(KEY));
  });

  it('can also come from a file', async () => {
    const dataDir = join(root, 'data');
    const file = join(root, 'key');
    await writeFile(file, `${KEY}\n`);
    const flags = ['--without-auth', '--server-master-key-file', file];
    await (await ServerInProcess.start({ dataDir, flags })).close();
    assert.ok(!(await readdir(dataDir)).includes('master.key'));
    await (await ServerInProcess.start({ dataDir, env: { PLINTH_MASTER_KEY: KEY } })).close();
    await assert.rejects(
      ServerInProcess.start({ dataDir, env: { PLINTH_MASTER_KEY: `another, ${KEY}` } }),
      /a stored secret cannot be decrypted with this master key/,
    );
  });

  it('prevents the start if invalid, without showing it', async () => {
    const short = join(root, 'short');
    await writeFile(short, 'too short\n');
    for (const [flags, why] of [
      [['--server-master-key-file', short], /short has 9 characters; use at least 32/],
      [['--server-master-key-file', join(root, 'none')], /cannot be read: ENOENT/],
      [
        ['--server-master-key-file', short, '--server-master-key', KEY],
        /server.master_key is also set/,
      ],
    ] as const) {
      const dataDir = join(root, 'data');
      await assert.rejects(
        ServerInProcess.start({ dataDir, flags: [...flags] }),
        (error: Error) =>
          why.test(error.message) &&
          !error.message.includes(KEY) &&
          Reflect.get(error, 'code') === 2,
      );
    }
  });
});

describe('A data folder of another user', {
  skip: process.geteuid?.() === 0 ? false : 'only root can give files to another user',
}, () => {
  const USER = 65_534;

  /** A folder used by a server of `USER`, who owns everything in it. */
  async function foreignFolder(): Promise<string> {
    const dataDir = join(root, 'data');
    await chmod(root, 0o755);
    const server = await ServerInProcess.start({ dataDir });
    assert.equal(await server.stop(), 0);
    for (const name of ['.', ...(await readdir(dataDir, { recursive: true }))])
      await chown(join(dataDir, name), USER, USER);
    return dataDir;
  }

  const filesOfRoot = async (folder: string): Promise<readonly string[]> => {
    const names = await readdir(folder, { recursive: true });
    const owners = await Promise.all(names.map((name) => lstat(join(folder, name))));
    return names.filter((_, index) => owners[index]?.uid === 0);
  };

  it('is not written by root, which is told the right command', async () => {
    const dataDir = await foreignFolder();
    const backup = join(root, 'backup');
    await using server = await ServerInProcess.start();
    const made = await runCli(['backup', '--to', backup, '--host', server.url]);
    assert.equal(made.code, 0, made.stderr);
    const empty = join(root, 'empty');
    await mkdir(empty);
    await chown(empty, USER, USER);
    const snapshots = join(dataDir, 'snapshots');
    await mkdir(snapshots, { recursive: true });
    const name = 'plinth-20260131T120000Z.db';
    await cp(join(dataDir, 'plinth.db'), join(snapshots, name));
    for (const each of [snapshots, join(snapshots, name)]) await chown(each, USER, USER);
    const as = `setpriv --reuid=${USER} --regid=${USER} --clear-groups`;
    for (const [args, command] of [
      [['serve', '--data-dir', dataDir], `${as} plinth serve --data-dir ${dataDir}`],
      [['serve', '--repair', '--data-dir', dataDir], `${as} plinth serve --data-dir ${dataDir}`],
      [
        ['snapshot', '--data-dir', dataDir, '--restore', name],
        `${as} plinth snapshot --data-dir ${dataDir} --restore ${name}`,
      ],
      [
        ['aside', '--data-dir', dataDir, '--remove'],
        `${as} plinth aside --data-dir ${dataDir} --remove`,
      ],
      [
        ['restore', '--from', backup, '--data-dir', empty],
        `${as} plinth restore --from ${backup} --data-dir ${empty}`,
      ],
    ] as const) {
      const { code, stderr } = await runCli(args);
      assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
      assert.ok(stderr.includes(command), stderr);
    }
    assert.deepEqual(await filesOfRoot(dataDir), []);
    assert.deepEqual(await readdir(empty), []);
    const args = ['snapshot', '--data-dir', dataDir, '--restore', name];
    const asUser = await runCli(args, { uid: USER });
    assert.equal(asUser.code, 0, asUser.stderr);
  });

  it('is read by root without changes: verify, and lists of snapshots and quarantined files', async () => {
    const dataDir = await foreignFolder();
    for (const args of [['verify'], ['snapshot'], ['aside']]) {
      const { code, stderr } = await runCli([...args, '--data-dir', dataDir]);
      assert.equal(code, 0, stderr);
    }
    assert.deepEqual(await filesOfRoot(dataDir), []);
  });

  it('may be written by root if root owns the data, whoever owns the parent folder', async () => {
    const dataDir = join(root, 'data');
    await mkdir(dataDir);
    await chown(dataDir, USER, USER); // A mounted folder in a container that runs as root.
    for (let starts = 0; starts < 2; starts++)
      assert.equal(await (await ServerInProcess.start({ dataDir })).stop(), 0);
  });
});
