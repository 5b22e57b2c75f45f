import { spawnSync } from 'node:child_process';
import { InfluxDBClient } from '@influxdata/influxdb3-client';
import { ServerProcess } from './dist/harness/index.js';

const server = await ServerProcess.start({
  flags: process.argv[3] ? process.argv[3].split(' ') : undefined,
});
try {
  const c = new InfluxDBClient({ host: server.url, token: 'x', database: 'db' });
  await c.write(
    'm,host=a,r=x f=1.5,i=3i,u=7u,s="hällo",b=true 1000000000\nm,host=b f=2 2000000000\nm,r=y f=3,i=-4i 3000000000',
    'db',
  );
  await c.close();
  const child = (await import('node:child_process')).spawn(
    '/tmp/fl/venv/bin/python',
    [process.argv[2], server.url],
    { stdio: 'inherit' },
  );
  await new Promise((r) => child.once('exit', r));
} catch (e) {
  console.log(e);
} finally {
  console.log(server.logText.slice(-1500));
  await server.close();
}
