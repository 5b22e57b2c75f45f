// Source: docs/SETTINGS.md, `tsdb.memory_bytes` and the settings of its parts; docs/adr/0120.
import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { describe, it } from 'node:test';
import { ServerInProcess, StartFailed } from '../../harness/index.js';

const MIB = 1024 * 1024;

const start = (...flags: string[]): Promise<ServerInProcess> =>
  ServerInProcess.start({ flags: ['--without-auth', ...flags] });

/** Returns the memory limit of each part in bytes. */
async function limits(server: ServerInProcess): Promise<Record<string, number>> {
  const { text } = await server.http.send('/metrics');
  const samples = text.matchAll(/^plinth_tsdb_memory_limit_bytes\{part="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...samples].map(([, part, value]) => [part, Number(value)]));
}

async function limitsWith(...flags: string[]): Promise<Record<string, number>> {
  const server = await start(...flags);
  try {
    return await limits(server);
  } finally {
    await server.close();
  }
}

describe('the memory of the time-series service', () => {
  it('is a quarter of what the process may use, in parts that make no more than it', async () => {
    const { columns = 0, engine = 0, buffer = 0 } = await limitsWith();
    const allBytes = columns + engine + buffer;
    // A container may have less memory than the machine; the budget is at least 256 MiB.
    assert.ok(allBytes <= Math.max(256 * MIB, totalmem() / 4), `${allBytes} of ${totalmem()}`);
    assert.ok(allBytes >= 255 * MIB, `${allBytes}`);
  });

  it('is what is set, and each part what is set of it', async () => {
    assert.deepEqual(await limitsWith('--tsdb-memory-bytes', '1GiB'), {
      columns: 512 * MIB,
      engine: 384 * MIB,
      buffer: 128 * MIB,
    });
    const given = ['--exec-mem-pool-bytes', '64MiB', '--tsdb-column-cache-bytes', '0'];
    assert.deepEqual(await limitsWith('--tsdb-memory-bytes', '256MiB', ...given), {
      columns: 0,
      engine: 64 * MIB,
      // At most a third of DuckDB's part, through which rows pass when they are flushed.
      buffer: Math.floor((64 * MIB) / 3),
    });
  });

  it('is refused where it makes no sense, all that is wrong at once', async () => {
    for (const [flags, problem] of [
      [['--tsdb-memory-bytes', '1kb'], /--tsdb-memory-bytes: expected .*got \\"1kb\\"/],
      [
        ['--tsdb-memory-bytes', String(totalmem() + MIB)],
        /tsdb\.memory_bytes: \d+ exceeds the \d+ bytes available to this process/,
      ],
      [
        ['--tsdb-memory-bytes', '256MiB', '--tsdb-query-memory-bytes', '256MiB'],
        /tsdb\.query_memory_bytes, tsdb\.column_cache_bytes: 402653184 bytes together exceed tsdb\.memory_bytes \(268435456\)/,
      ],
      [
        ['--tsdb-buffer-flush-bytes', '2MiB', '--tsdb-buffer-limit-bytes', '1MiB'],
        /tsdb\.buffer_flush_bytes: 2097152 is more than tsdb\.buffer_limit_bytes \(1048576\)/,
      ],
    ] as const)
      await assert.rejects(start(...flags), (error) => {
        assert.ok(error instanceof StartFailed);
        assert.match(error.message.replaceAll('\\"', '"').replaceAll('"', '\\"'), problem);
        return true;
      });
  });
});
