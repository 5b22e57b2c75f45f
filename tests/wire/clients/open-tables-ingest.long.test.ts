// Source: docs/SCALE.md; docs/OPEN-TABLES-BUCKET.md. Two nodes of Trino read a bucket while the server ingests; the test
// prints both speeds. Own process: its CPU time is measured.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { bucketFlags, ServerProcess, startVersitygw, Trino } from '../../harness/index.js';
import { trinoBucket, trinoCatalog } from './open-tables-session.js';

const SERIES_COUNT = 1000;
const BATCH_ROWS = 5000;
const SETTLED_ROWS = 2_000_000;
const WRITER_COUNT = 2;
const MEASURE_MS = 20_000;
const FIRST_SEC = 1_700_000_000;
const PUBLISH = ['--open-tables-databases', 'home', '--open-tables-interval-ms', '2000'];
const FLUSH = ['--open-tables-flush-age-ms', '2000'];
const SUMS =
  'SELECT CAST(count(*) AS varchar), CAST(sum(i) AS varchar) FROM bucket."home__jvm"."m"';
const BY_HOST =
  'SELECT host, avg(f), CAST(max(time_ns) AS varchar) FROM bucket."home__jvm"."m" GROUP BY host';

/** Row n has the value n, so that the sum of n rows is known. */
const linesFrom = (start: number): string =>
  Array.from({ length: BATCH_ROWS }, (_, k) => {
    const n = start + k;
    const sec = FIRST_SEC + Math.floor(n / SERIES_COUNT);
    return `m,host=h${n % SERIES_COUNT} i=${n}i,f=${n % 100}.5 ${sec}`;
  }).join('\n');

const sumBelow = (count: number): string => String((BigInt(count) * BigInt(count - 1)) / 2n);

/** CPU seconds of a process. Source: proc(5), fields 14 and 15 of `stat`, in 1/100 s. */
function cpuSecOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Writes batches one after another, with several writers. */
class Ingest {
  readonly #server: ServerProcess;
  #sentRows = 0;

  constructor(server: ServerProcess) {
    this.#server = server;
  }

  get rowCount(): number {
    return this.#sentRows;
  }

  async until(isDone: () => boolean): Promise<void> {
    const write = async (): Promise<void> => {
      while (!isDone()) {
        const body = linesFrom(this.#sentRows);
        this.#sentRows += BATCH_ROWS;
        const path = '/api/v3/write_lp?db=home&precision=second';
        const { status, text } = await this.#server.http.send(path, { method: 'POST', body });
        assert.equal(status, 204, text);
      }
    };
    await Promise.all(Array.from({ length: WRITER_COUNT }, write));
  }

  /** Rows per second, and per CPU second of the server, while other work runs. */
  async measure(): Promise<string> {
    const [rows, cpuSec, startMs] = [this.#sentRows, cpuSecOf(this.#server.pid), performance.now()];
    await this.until(() => performance.now() - startMs > MEASURE_MS);
    const count = this.#sentRows - rows;
    const perSec = count / ((performance.now() - startMs) / 1000);
    const perCpuSec = count / (cpuSecOf(this.#server.pid) - cpuSec);
    return `${Math.round(perSec)} rows/s, ${Math.round(perCpuSec)} rows per CPU second`;
  }
}

it('two nodes of Trino read a bucket while the server ingests', async (context) => {
  const store = await startVersitygw(context);
  if (store === undefined) return;
  context.after(() => store[Symbol.asyncDispose]());
  const flags = ['--without-auth', '--services', 'tsdb', ...PUBLISH, ...FLUSH];
  const server = await ServerProcess.start({ flags: [...flags, ...bucketFlags(store)] });
  context.after(() => server.close());
  const bucket = { ...trinoCatalog(server), ...trinoBucket(store) };
  const trino = await Trino.start(context, { bucket }, { workerCount: 1 });
  if (trino === undefined) return;
  context.after(() => trino[Symbol.asyncDispose]());

  const ingest = new Ingest(server);
  await ingest.until(() => ingest.rowCount >= SETTLED_ROWS);
  const publish = async () => {
    await server.http.send('/ops/v1/tsdb/storage/flush', { method: 'POST' });
    const { status, text } = await server.http.send('/ops/v1/tsdb/open-tables/publish', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"db":"home"}',
    });
    assert.ok(status < 300, text);
  };
  await publish();
  const total = String(ingest.rowCount);
  assert.deepEqual(await trino.query(SUMS), [[total, sumBelow(ingest.rowCount)]]);
  context.diagnostic(`ingest without readers: ${await ingest.measure()}`);

  const durations: number[] = [];
  let isIngesting = true;
  let seenRows = 0;
  const reading = (async () => {
    while (isIngesting) {
      const startMs = performance.now();
      const [[count] = []] = await trino.query(SUMS);
      assert.ok(Number(count) >= seenRows, 'published rows stay readable');
      assert.ok(Number(count) <= ingest.rowCount, 'only rows that were written are readable');
      seenRows = Number(count);
      assert.equal((await trino.query(BY_HOST)).length, SERIES_COUNT);
      durations.push((performance.now() - startMs) / 2);
    }
  })();
  const speed = await ingest.measure();
  isIngesting = false;
  await reading;
  const median = durations.toSorted((a, b) => a - b)[Math.floor(durations.length / 2)] ?? 0;
  context.diagnostic(`ingest while Trino reads: ${speed}`);
  context.diagnostic(
    `Trino while the server ingests: ${2 * durations.length} queries, median ${Math.round(median)} ms, up to ${seenRows} rows`,
  );
  assert.ok(seenRows > SETTLED_ROWS, 'new rows became readable');
  await publish();
  assert.deepEqual(await trino.query(SUMS), [[String(ingest.rowCount), sumBelow(ingest.rowCount)]]);
});
