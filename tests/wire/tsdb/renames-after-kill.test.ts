// Source: docs/SCHEMA-CHANGES.md; docs/adr/0165-schema-changes.md.
// Own process: it is killed.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { startNext } from '../../crash/next-round.js';
import { runCli } from '../../harness/cli.js';
import {
  assertEmpty,
  Chance,
  FLUSH_AT_ONCE,
  type RunningServer,
  rows,
  ServerInProcess,
  temporaryFolder,
  untilInFiles,
  write,
} from '../../harness/index.js';

const headers = { 'content-type': 'application/json' };
const db = 'renamed';
const ROUND_COUNT = 2;

/** The expected rows, by column ids that never change. */
class Model {
  table = 'm';
  readonly names = new Map([
    ['host', 'host'],
    ['room', 'room'],
    ['v', 'v'],
    ['w', 'w'],
  ]);
  readonly rows: { host: string; room: string | undefined; v: number; w: string }[] = [];
  nameCount = 0;

  nameOf(column: string): string {
    return this.names.get(column) as string;
  }

  get expected(): object[] {
    return this.rows.map((row) =>
      Object.fromEntries(
        Object.entries(row)
          .filter(([, value]) => value !== undefined)
          .map(([column, value]) => [this.nameOf(column), value]),
      ),
    );
  }
}

async function addRow(server: RunningServer, model: Model, chance: Chance): Promise<void> {
  const row = {
    host: chance.pick(['a', 'b', 'c']),
    room: chance.happens(0.5) ? chance.pick(['1', '2']) : undefined,
    v: model.rows.length,
    w: chance.pick(['x', 'y']),
  };
  const room = row.room === undefined ? '' : `,${model.nameOf('room')}=${row.room}`;
  const tags = `${model.nameOf('host')}=${row.host}${room}`;
  const fields = `${model.nameOf('v')}=${row.v},${model.nameOf('w')}="${row.w}"`;
  const line = `${model.table},${tags} ${fields} ${(row.v + 1) * 3600 * 1e9}`;
  assertEmpty(await write(server, { db }, line));
  model.rows.push(row);
}

function nextRename(model: Model, chance: Chance) {
  const newName = `${chance.pick(['A', 'z', 'n', '_'])}${model.nameCount++}`;
  const column = chance.pick(['table', 'host', 'room', 'v', 'w']);
  const json =
    column === 'table'
      ? { db, table: model.table, new_name: newName }
      : { db, table: model.table, column: model.nameOf(column), new_name: newName };
  const path = `/api/v3/configure/${column === 'table' ? 'table' : 'column'}/rename`;
  const apply = () => {
    if (column === 'table') model.table = newName;
    else model.names.set(column, newName);
  };
  return { apply, newName, path, body: JSON.stringify(json) };
}

async function check(server: RunningServer, model: Model): Promise<void> {
  const columns = [...model.names.values()].map((name) => `"${name}"`).join(', ');
  const all = `SELECT ${columns} FROM "${model.table}" ORDER BY time`;
  assert.deepEqual(await rows(server, db, all), model.expected);
  const host = model.nameOf('host');
  const q = `SELECT count("${model.nameOf('v')}") FROM "${model.table}" WHERE "${host}" = 'a'`;
  const { text } = await server.http.send(`/query?${new URLSearchParams({ db, q })}`);
  const count = model.rows.filter((row) => row.host === 'a').length;
  const { series } = JSON.parse(text).results[0];
  assert.equal(series?.[0].values[0][1] ?? 0, count, text);
}

const compact = (server: RunningServer, table: string) =>
  server.http.send('/ops/v1/tsdb/storage/compact', {
    body: JSON.stringify({ db, table }),
    headers,
  });

it('keeps every row under its present names over renames, flushes, compactions and kills', async () => {
  const chance = new Chance(20_165);
  const folder = await temporaryFolder();
  const model = new Model();
  const flags = ['--without-auth', ...FLUSH_AT_ONCE];
  let server = await startNext({ dataDir: folder, flags }, false);
  for (let round = 0; round < ROUND_COUNT; round++) {
    for (let step = 0; step < 10; step++) {
      for (let i = chance.between(1, 3); i > 0; i--) await addRow(server, model, chance);
      if (chance.happens(0.3)) await untilInFiles(server);
      if (chance.happens(0.3)) await compact(server, model.table);
      const { apply, path, body } = nextRename(model, chance);
      const renamed = await server.http.send(path, { body, headers });
      assert.equal(renamed.status, 200, renamed.text);
      apply();
      await check(server, model);
    }
    // A rename that the kill interrupts is complete or not begun.
    const { apply, newName, path, body } = nextRename(model, chance);
    const interrupted = server.http.send(path, { body, headers }).catch(() => undefined);
    if (round % 2 === 1) await interrupted;
    await server.kill();
    await interrupted;
    server = await startNext({ dataDir: folder, flags }, round === ROUND_COUNT - 1);
    const names = await rows(
      server,
      db,
      "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'iox'",
    );
    const isRenamed = JSON.stringify(names).includes(`"${newName}"`);
    if (round % 2 === 1) assert.ok(isRenamed, 'an acknowledged rename is lost');
    if (isRenamed) apply();
    await check(server, model);
  }
  const backup = join(await temporaryFolder(), 'backup');
  const copy = join(await temporaryFolder(), 'restored');
  const done = async (...args: string[]) => assert.equal((await runCli(args)).code, 0);
  await done('backup', '--to', backup, '--host', server.url);
  await server.close();
  await done('verify', '--from', backup);
  await done('restore', '--from', backup, '--data-dir', copy);
  await using restored = await ServerInProcess.start({ dataDir: copy, flags });
  await check(restored, model);
});
