// Source: the Arrow schema in files of InfluxDB 3 marks the tag columns (`iox::column::type`).
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { pythonWith, runProgram, ServerInProcess } from '../../harness/index.js';

const PYTHON = {
  name: 'clients',
  packages: ['influxdb3-python', 'adbc-driver-flightsql', 'pyarrow'],
  probe: 'import influxdb_client_3, adbc_driver_flightsql, pyarrow.flight',
};
const WRITE = `
import sys
import pyarrow as pa
import pyarrow.parquet as pq

def of(kind):
    return {"iox::column::type": "iox::column_type::" + kind}

schema = pa.schema([
    pa.field("host", pa.dictionary(pa.int32(), pa.string()), metadata=of("tag")),
    pa.field("note", pa.string(), metadata=of("field::string")),
    pa.field("usage", pa.float64(), metadata=of("field::float")),
    pa.field("time", pa.timestamp("ns"), metadata=of("timestamp")),
])
hosts = pa.array(["a", "b", None]).dictionary_encode()
table = pa.table([hosts, ["x", None, "y"], [1.5, 2.5, 3.5], [1, 2, 3]], schema=schema)
pq.write_table(table, sys.argv[1])
`;

it('tags of a file of InfluxDB 3 are tags here without being named', async (context) => {
  const python = await pythonWith(PYTHON, context);
  if (python === undefined) return;
  const folder = await mkdtemp(join(tmpdir(), 'plinth-influxdb3-'));
  try {
    const file = join(folder, 'cpu.parquet');
    await runProgram(python, ['-c', WRITE, file]);
    await using server = await ServerInProcess.start();
    const args = ['import', '--host', server.url, '-d', 'moved', '--table', 'cpu', file];
    const { code, stderr } = await runCli(args);
    assert.equal(code, 0, stderr);
    const q =
      "SELECT key, data_type FROM system.influxdb_schema WHERE measurement = 'cpu' ORDER BY key";
    const shown = await runCli([
      'query',
      '--host',
      server.url,
      '-d',
      'moved',
      '--format',
      'csv',
      q,
    ]);
    assert.equal(
      shown.stdout,
      'key,data_type\nhost,tag\nnote,string\ntime,time\nusage,float\n',
      shown.stderr,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
