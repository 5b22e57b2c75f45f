import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger, Metrics } from '@plinth/kernel';
import { RefusedConnections } from './refused-connections.js';

it('counts every refusal by reason, and logs one line a minute for each reason', async () => {
  let nowMs = 5;
  const lines: Record<string, unknown>[] = [];
  const metrics = new Metrics();
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const refused = new RefusedConnections({
    clock: { monotonicMs: () => nowMs },
    log: createLogger({ level: 'warn', destination, isText: false }),
    metrics,
  });
  const logged = () =>
    lines.splice(0).map(({ level, msg, reason, count, lastAddress }) => {
      assert.deepEqual([level, msg], ['warn', 'connections refused']);
      return [reason, count, lastAddress];
    });
  for (let times = 0; times < 1000; times++) refused.count('server_limit', `10.0.0.${times % 9}`);
  refused.count('address_limit', '10.0.0.7');
  assert.deepEqual(logged(), [
    ['server_limit', 1, '10.0.0.0'],
    ['address_limit', 1, '10.0.0.7'],
  ]);
  nowMs += 59_999;
  refused.count('server_limit', '10.0.0.1');
  assert.deepEqual(logged(), []);
  nowMs += 1;
  refused.count('server_limit', '10.0.0.2');
  refused.count('server_limit', '10.0.0.3');
  // 999 connections in the first minute, one shortly before its end, and one that triggers the log line.
  assert.deepEqual(logged(), [['server_limit', 1001, '10.0.0.2']]);
  refused.count('tls_handshake');
  assert.deepEqual(logged(), [['tls_handshake', 1, undefined]]);
  const { text } = await metrics.page();
  for (const [reason, count] of [
    ['server_limit', 1003],
    ['address_limit', 1],
    ['proxy_header', 0],
    ['tls_handshake', 1],
    ['plain_text', 0],
  ]) {
    assert.ok(text.includes(`plinth_connections_refused_total{reason="${reason}"} ${count}\n`));
  }
});
