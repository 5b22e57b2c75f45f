import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance, LiveStream, type OwnServer } from '../harness/index.js';
import { startNext } from './next-round.js';

/** Frequent flushes and new log files. */
const FLAGS = [
  '--without-auth',
  ...['--tsdb-buffer-flush-age-ms', '300', '--tsdb-buffer-flush-bytes', '65536'],
];
const READER_COUNT = 3;
const WRITER_COUNT = 2;
/** A reader that has not disconnected within this time is also killed with the server. */
const LONGEST_STREAM_MS = 700;

interface Row {
  readonly w: string;
  readonly n: number;
}

/** Reads a live query, and reconnects with the last position again and again. */
class Reader {
  readonly #chance: Chance;
  readonly received: Row[] = [];
  gapCount = 0;
  #position = '0';

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** Reads until `isOver`, or until the server is gone. */
  async run(server: OwnServer, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const stream = await this.#open(server).catch(() => undefined);
      if (stream === undefined) return;
      const endMs = performance.now() + this.#chance.between(50, LONGEST_STREAM_MS);
      while (!isOver() && !stream.isOver && performance.now() < endMs) await sleep(10);
      stream.close();
      this.#keep(stream);
    }
  }

  /** Reads everything that was missed. */
  async finish(server: OwnServer, isComplete: () => boolean): Promise<void> {
    const stream = await this.#open(server);
    await stream.until(() => {
      this.#keep(stream);
      return isComplete();
    }, 60_000);
    stream.close();
  }

  async #open(server: OwnServer): Promise<LiveStream> {
    const path = `/api/v3/subscribe?${new URLSearchParams({ db: 'd', q: 'SELECT w, n FROM m', since: this.#position })}`;
    const stream = await LiveStream.openPath(server.url, path);
    assert.equal(stream.status, 200, stream.text);
    return stream;
  }

  /** Takes the events that have arrived. Their ids belong to complete events only. */
  #keep(stream: LiveStream): void {
    for (const { event, id, data } of stream.events.splice(0)) {
      if (event === 'gap' || event === 'dropped') this.gapCount++;
      if (event === '') this.received.push(...(data as Row[]));
      if (id !== '') this.#position = id;
    }
  }
}

/** Kills the server under load while clients read live queries, and compares what they received with the table. */
export async function runLiveRounds(options: {
  readonly seed: number;
  readonly roundCount: number;
  readonly report: (line: string) => void;
}): Promise<void> {
  const { seed, roundCount, report } = options;
  const chance = new Chance(seed);
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-live-crash-'));
  const readers = Array.from({ length: READER_COUNT }, (_, i) => new Reader(new Chance(seed + i)));
  let server = await startNext({ dataDir, flags: FLAGS }, false);
  let next = 0;
  const write = async (name: string, isOver: () => boolean): Promise<void> => {
    while (!isOver()) {
      const lines = Array.from({ length: chance.between(1, 40) }, () => {
        next++;
        return `m,w=${name} n=${next}i ${next}`;
      });
      const isWritten = await server.http
        .send('/api/v3/write_lp?db=d&precision=nanosecond', { body: lines.join('\n') })
        .then(({ status }) => status === 204)
        .catch(() => false);
      if (!isWritten) return;
      await sleep(chance.between(0, 5));
    }
  };
  await server.http.send('/api/v3/write_lp?db=d', { body: 'm,w=first n=0i 0' });
  for (let round = 1; round <= roundCount; round++) {
    let isOver = false;
    const work = [
      ...readers.map((reader) => reader.run(server, () => isOver)),
      ...Array.from({ length: WRITER_COUNT }, (_, i) => write(`w${i}`, () => isOver)),
    ];
    await sleep(chance.between(400, 2000));
    if (chance.between(0, 4) === 0) await server.stop();
    else await server.kill();
    isOver = true;
    await Promise.all(work);
    server = await startNext({ dataDir, flags: FLAGS }, round === roundCount);
    await verify(server, readers);
    report(`seed ${seed}, round ${round} of ${roundCount}: ${readers[0]?.received.length} rows`);
  }
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
}

async function verify(server: OwnServer, readers: readonly Reader[]): Promise<void> {
  const parameters = new URLSearchParams({ db: 'd', q: 'SELECT n FROM m', format: 'json_rows' });
  const response = await server.http.send(`/api/v3/query_sql?${parameters}`);
  const stored = (JSON.parse(response.text) as Row[]).map(({ n }) => n).sort((a, b) => a - b);
  for (const reader of readers) {
    await reader.finish(server, () => reader.received.length >= stored.length);
    const received = reader.received.map(({ n }) => n).sort((a, b) => a - b);
    assert.deepEqual(received, stored, 'each row once');
    assert.equal(reader.gapCount, 0);
  }
}
