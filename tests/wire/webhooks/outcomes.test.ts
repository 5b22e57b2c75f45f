// Source: webhooks, sections 5.4 and 9.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { freePorts, ServerInProcess, WebhookApp, WebhookReceiver } from '../../harness/index.js';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start({
    flags: [
      ...['--without-auth', '--services=webhooks', '--webhooks-timeout-ms=1s'],
      '--webhooks-allow-private-targets=127.0.0.0/8',
    ],
  });
});
after(() => server.close());

describe('the record of an attempt', () => {
  it('has the status of the response, or says that none came in time', async () => {
    await using receiver = await WebhookReceiver.start(({ headers }, response) => {
      if (headers['x-vendor-event'] !== 'silence') response.writeHead(503).end();
    });
    const app = await WebhookApp.register(server, { url: receiver.url, events: ['*'] });
    const recordOf = async (event: string) => {
      await app.publish(event);
      const [record] = await app.untilRecorded(`?event=${event}`, 1);
      return JSON.parse((await app.call(`/api/v3/app/hook/deliveries/${record?.id}`)).text);
    };
    const failed = await recordOf('failure');
    assert.deepEqual([failed.status, failed.status_code], ['Invalid HTTP Response: 503', 503]);
    const silent = await recordOf('silence');
    assert.deepEqual(
      [silent.status, silent.status_code, silent.response],
      ['timed out', 504, { headers: null, payload: null }],
    );
    assert.ok(silent.duration >= 1 && silent.duration < 3, String(silent.duration));
  });
});

describe('the ports of the server itself', () => {
  it('get no delivery by a range or a name that is allowed: one of them hands out admin tokens', async () => {
    const [port = 0, recovery = 0] = await freePorts(2);
    await using guarded = await ServerInProcess.start({
      flags: [
        ...[`--http-bind=127.0.0.1:${port}`, '--services=webhooks'],
        `--admin-token-recovery-http-bind=127.0.0.1:${recovery}`,
        '--webhooks-allow-private-targets=127.0.0.0/8,localhost',
      ],
    });
    const made = await guarded.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const headers = { authorization: `Bearer ${JSON.parse(made.text).token}` };
    const path = '/api/v3/configure/token/admin/regenerate';
    const register = (host: string, at: number) =>
      guarded.http.send('/ops/v1/apps', {
        headers,
        body: JSON.stringify({
          name: `${host} ${at}`,
          webhook: { url: `http://${host}:${at}${path}` },
        }),
      });
    for (const host of ['127.0.0.1', '127.9.9.9', '[::ffff:127.0.0.1]'])
      for (const at of [port, recovery])
        assert.equal((await register(host, at)).status, 422, `${host} ${at}`);
    // The host name is resolved at the time of the call.
    const { id } = JSON.parse((await register('localhost', recovery)).text) as { id: number };
    const pinged = `/ops/v1/apps/${id}/deliveries`;
    for (;;) {
      const { text } = await guarded.http.send(pinged, { headers });
      const [record] = JSON.parse(text) as { status: string }[];
      if (record === undefined) continue;
      assert.equal(record.status, 'failed to connect to host');
      break;
    }
    assert.equal((await guarded.http.send('/ops/v1/apps', { headers })).status, 200);
  });
});
