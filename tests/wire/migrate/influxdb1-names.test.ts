// Source: docs/MIGRATE.md; the formats of `influxd backup -portable` and `influx_inspect export` of InfluxDB 1.x, which takes any name.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CliRun, runCli } from '../../harness/cli.js';
import { ServerInProcess, temporaryFolder } from '../../harness/index.js';
import { NO_INFLUXDB, OldInfluxdb, queryOf } from './old-influxdb.js';

const moved = async (server: ServerInProcess, ...args: string[]): Promise<CliRun> =>
  await runCli(['migrate', 'influxdb1', '--host', server.url, ...args]);

async function valuesOf(server: ServerInProcess, q: string, db = ''): Promise<unknown> {
  const [result] = await queryOf(server.url, q, db);
  return result?.error ?? result?.series?.[0]?.values;
}

/** Each retention policy of an old server with its target database; the field of every point names its policy. */
const PLACES = [
  { db: 'old_db', rp: 'autogen', here: 'old_db' },
  { db: 'old.db', rp: 'autogen', here: 'old_db_2' },
  { db: 'old.db', rp: 'year_x', here: 'old_db_2/year_x' },
  { db: 'old.db', rp: 'year.x', here: 'old_db_2/year_x_2' },
  { db: 'my-db two', rp: 'autogen', here: 'my-db_two' },
  { db: 'my-db two', rp: 'two weeks', here: 'my-db_two/two_weeks' },
] as const;
const POINT_NS = 1_764_000_000_000_000_000n;

async function checkPlaces(server: ServerInProcess): Promise<void> {
  for (const { db, rp, here } of PLACES) {
    const [database, policy = 'autogen'] = here.split('/');
    assert.deepEqual(
      await valuesOf(server, `SELECT v FROM "${policy}"."m"`, database),
      [[Number(POINT_NS), `${db} ${rp}`]],
      here,
    );
  }
}

describe('names of InfluxDB 1.x that have other characters', () => {
  let folder = '';
  before(async () => {
    folder = await temporaryFolder();
  });

  it('are made plain in a text, in its statements as well, and told', async () => {
    await using server = await ServerInProcess.start();
    const path = join(folder, 'export.lp');
    const ddl = PLACES.map(
      ({ db, rp }) => `CREATE DATABASE ${/^\w+$/.test(db) ? db : `"${db}"`} WITH NAME "${rp}"`,
    );
    const points = PLACES.map(
      ({ db, rp }) =>
        `# CONTEXT-DATABASE:${db}\n# CONTEXT-RETENTION-POLICY:${rp}\n# writing tsm data\nm v="${db} ${rp}" ${POINT_NS}`,
    );
    const own =
      '# CONTEXT-DATABASE:_internal\n# CONTEXT-RETENTION-POLICY:monitor\nruntime v=1 1000';
    const text = [
      '# INFLUXDB EXPORT: 1677-09-21T00:12:43Z - 2262-04-11T23:47:16Z',
      '# DDL',
      'CREATE DATABASE "_internal" WITH NAME monitor',
      ...ddl,
      'CREATE RETENTION POLICY "two weeks" ON "my-db two" DURATION INF REPLICATION 1',
      '# DML',
      own,
      ...points,
    ];
    await writeFile(path, `${text.join('\n')}\n`);
    const looked = await moved(server, path, '--dry-run');
    assert.equal(looked.code, 0, looked.stderr);
    assert.match(
      looked.stderr,
      /^database old\.db is renamed to old_db_2: names may contain only/m,
    );
    assert.match(looked.stderr, /^retention policy year\.x of old\.db is renamed to year_x_2: /m);
    assert.deepEqual(await valuesOf(server, 'SHOW DATABASES'), [['_internal']]);
    const { code, stderr, stdout } = await moved(server, path);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^retention policy two weeks of my-db two is renamed to two_weeks: /m);
    assert.match(stdout, /^my-db_two\/two_weeks +m +1 +1$/m);
    assert.match(stdout, /^total: 6 points in 6 tables$/m);
    await checkPlaces(server);
  });

  describe('in a backup', { skip: NO_INFLUXDB }, () => {
    let old: OldInfluxdb;
    let backup = '';
    before(async () => {
      old = await OldInfluxdb.start();
      for (const { db, rp } of PLACES) {
        if (rp === 'autogen') await old.query(`CREATE DATABASE "${db}"`);
        else
          await old.query(
            `CREATE RETENTION POLICY "${rp}" ON "${db}" DURATION INF REPLICATION 1 DEFAULT`,
          );
        await old.write(db, rp, [`m v="${db} ${rp}" ${POINT_NS}`]);
      }
      const statements = [
        "CREATE USER root WITH PASSWORD 'secret' WITH ALL PRIVILEGES",
        "CREATE USER zoe WITH PASSWORD 'word'",
        'GRANT READ ON "my-db two" TO zoe',
        'CREATE CONTINUOUS QUERY cq ON "old.db" BEGIN SELECT max(n) INTO "old.db"."year.x"."cpu_10m" FROM cpu GROUP BY time(10m), * END',
      ];
      for (const statement of statements) await old.query(statement);
      backup = await old.backup();
    });
    after(async () => await old[Symbol.asyncDispose]());

    it('are made plain the same way, also in grants and continuous queries', async () => {
      await using server = await ServerInProcess.start();
      const args = [backup, '--users'];
      const looked = await moved(server, ...args, '--dry-run');
      assert.equal(looked.code, 0, looked.stderr);
      assert.match(
        looked.stderr,
        /^database old\.db is renamed to old_db_2: names may contain only/m,
      );
      assert.match(looked.stdout, /^continuous query cq of old_db_2 would be created:$/m);
      const { code, stderr } = await moved(server, ...args);
      assert.equal(code, 0, stderr);
      await checkPlaces(server);
      assert.deepEqual(await valuesOf(server, 'SHOW GRANTS FOR zoe'), [['my-db_two', 'READ']]);
      const policies = (await valuesOf(
        server,
        'SHOW RETENTION POLICIES',
        'my-db_two',
      )) as unknown[][];
      assert.deepEqual(
        policies.map(([name, , , , isDefault]) => [name, isDefault]),
        [
          ['autogen', false],
          ['two_weeks', true],
        ],
      );
      const shown = await queryOf(server.url, 'SHOW CONTINUOUS QUERIES', '');
      const queries = shown[0]?.series?.flatMap(({ values }) => values ?? []);
      assert.deepEqual(queries, [
        [
          'cq',
          'CREATE CONTINUOUS QUERY cq ON old_db_2 BEGIN SELECT max(n) INTO old_db_2.year_x_2.cpu_10m FROM old_db_2.year_x_2.cpu GROUP BY time(10m), * END',
        ],
      ]);
    });

    it('users that are there keep their passwords, and everything else goes on', async () => {
      await using server = await ServerInProcess.start();
      await queryOf(server.url, "CREATE USER root WITH PASSWORD 'others'", '');
      const args = [backup, '--users'];
      const first = await moved(server, ...args);
      assert.equal(first.code, 0, first.stderr);
      assert.match(first.stderr, /^user root already exists and keeps its password$/m);
      assert.match(first.stderr, /to restore the privileges, run GRANT ALL PRIVILEGES TO "root"/);
      assert.match(first.stdout, /^user zoe {2}password \S{20}$/m);
      assert.doesNotMatch(first.stdout, /^user root/m);
      const second = await moved(server, ...args);
      assert.equal(second.code, 0, second.stderr);
      assert.match(second.stderr, /^user zoe already exists and keeps its password$/m);
      assert.doesNotMatch(second.stdout, /password/);
      assert.deepEqual(await valuesOf(server, 'SHOW GRANTS FOR zoe'), [['my-db_two', 'READ']]);
      assert.match(second.stdout, /^continuous query cq of old_db_2 created$/m);
    });

    it('a continuous query that the server rejects is reported, and everything else goes on', async () => {
      await using server = await ServerInProcess.start();
      await queryOf(server.url, 'CREATE DATABASE old_db_2', '');
      await queryOf(
        server.url,
        'CREATE CONTINUOUS QUERY cq ON old_db_2 BEGIN SELECT max(n) INTO x FROM y GROUP BY time(1m) END',
        '',
      );
      const { code, stderr } = await moved(server, backup);
      assert.equal(code, 1);
      assert.match(stderr, /continuous query already exists/);
      await checkPlaces(server);
    });
  });
});
