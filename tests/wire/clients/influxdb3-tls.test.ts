// Source: tsdb-http, "Transport and common behavior" and "Arrow Flight / Flight SQL", under TLS.
import assert from 'node:assert/strict';
import { it } from 'node:test';
// Does not import the complete harness, because a part of it loads the gRPC library, which must be loaded after the
// variable below is set.
import { ServerInProcess } from '../../harness/server-in-process.js';
import { testCertificate, tlsFlags } from '../../harness/test-certificate.js';

it('T-01 F-01 @influxdata/influxdb3-client writes and queries over https', async () => {
  const certificate = testCertificate('first');
  // Read when the client's gRPC library is loaded.
  process.env['GRPC_DEFAULT_SSL_ROOTS_FILE_PATH'] = certificate.certFile;
  const { InfluxDBClient } = await import('@influxdata/influxdb3-client');
  const flags = ['--without-auth', ...tlsFlags(certificate)];
  await using server = await ServerInProcess.start({ flags });
  const client = new InfluxDBClient({
    host: server.url,
    token: 'any',
    database: 'tls',
    transportOptions: { ca: certificate.ca },
  });
  try {
    await client.write('m,host=a v=1i 1000000');
    const rows: unknown[] = [];
    for await (const row of client.query('SELECT host, v FROM m')) rows.push(row);
    assert.deepEqual(rows, [{ host: 'a', v: 1 }]);
  } finally {
    await client.close();
  }
});
