// Source: `parquet.thrift` of Apache Parquet (PageHeader.crc, Statistics, FileMetaData.num_rows); files are made by pyarrow.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { pythonWith, runProgram, SharedServer, temporaryFolder } from '../../harness/index.js';

const PYTHON = {
  name: 'clients',
  packages: ['influxdb3-python', 'adbc-driver-flightsql', 'pyarrow'],
  probe: 'import influxdb_client_3, adbc_driver_flightsql, pyarrow.flight',
};
const ROW_COUNT = 1000;
const START_NS = 1_764_000_000_000_000_000n;
/** Two files with the same rows, with and without page checksums; prints the positions of the timestamps in them. */
const WRITE = `
import sys
import pyarrow as pa
import pyarrow.parquet as pq

start = ${START_NS}
table = pa.table({
    "time": pa.array([start + i * 1000 for i in range(${ROW_COUNT})], pa.timestamp("ns")),
    "v": [i * 0.5 for i in range(${ROW_COUNT})],
})
for name, sums in (("summed", True), ("plain", False)):
    path = sys.argv[1] + "/" + name + ".parquet"
    pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=sums)
    column = pq.ParquetFile(path).metadata.row_group(0).column(0)
    print(column.data_page_offset, column.total_compressed_size)
`;

it('a corrupt Parquet file is refused with the problem, and nothing is written', async (context) => {
  const python = await pythonWith(PYTHON, context);
  if (python === undefined) return;
  const folder = await temporaryFolder();
  const printed = await runProgram(python, ['-c', WRITE, folder]);
  const [summed, plain] = printed
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number) as [number, number]);
  await using server = await SharedServer.get();
  const imported = async (name: string) => {
    const args = ['import', '--host', server.url, '-d', name, '--table', 'm'];
    return await runCli([...args, join(folder, `${name}.parquet`)]);
  };
  for (const name of ['summed', 'plain']) {
    const whole = await imported(name);
    assert.equal(whole.code, 0, whole.stderr);
    assert.match(whole.stderr, new RegExp(`wrote ${ROW_COUNT} lines`));
  }
  const damaged = async (
    from: string,
    name: string,
    [start, size]: readonly [number, number],
    change: (page: Buffer) => void,
  ) => {
    const bytes = await readFile(join(folder, `${from}.parquet`));
    change(bytes.subarray(start, start + size));
    await writeFile(join(folder, `${name}.parquet`), bytes);
    const { code, stderr } = await imported(name);
    assert.equal(code, 1, stderr);
    const databases = await server.http.send('/query?q=SHOW+DATABASES');
    assert.doesNotMatch(databases.text, new RegExp(`"${name}"`), 'nothing was written');
    return stderr;
  };
  const flipped = await damaged('summed', 'flipped', summed ?? [0, 0], (page) => {
    page[page.length - 5] = (page[page.length - 5] ?? 0) ^ 1;
  });
  assert.match(
    flipped,
    /flipped\.parquet: the file is corrupt: column time: the page at byte \d+ does not match its checksum/,
  );
  // Without checksums any value is valid, but timestamps have bounds in the file footer.
  const blank = await damaged('plain', 'blank', plain ?? [0, 0], (page) =>
    page.fill(0, page.length - 4000),
  );
  assert.match(
    blank,
    /blank\.parquet: the file is corrupt \(rows with times outside the range in its metadata: 500\)/,
  );
  const head = await damaged('plain', 'head', plain ?? [0, 0], (page) => page.fill(0, 0, 8));
  assert.match(
    head,
    /head\.parquet: the file is corrupt: column time: the page at byte \d+ has no readable header/,
  );
});
