import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it } from 'node:test';
import { connectTo } from './connect.js';
import { TargetGuard } from './target-guard.js';

const v4 = (address: string): LookupAddress => ({ address, family: 4 });

describe('connectTo', () => {
  it('goes to the address that was checked, and looks the name up once', async () => {
    const listener = createServer((socket) => socket.end());
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    // A name that says something else to everybody who asks again.
    const answers = [[v4('10.0.0.7'), v4('127.0.0.1')], [v4('10.0.0.7')], [v4('169.254.169.254')]];
    let askedCount = 0;
    const settings = {
      guard: new TargetGuard({ allowed: ['127.0.0.0/8'] }),
      lookup: async () => answers[askedCount++] ?? [],
      authorities: [],
      proxy: undefined,
    };
    const url = new URL(`http://rebound.example:${port}/`);
    const options = { insecure: false, signal: AbortSignal.timeout(5000) };
    const socket = await connectTo(url, settings, options);
    assert.equal(askedCount, 1);
    assert.equal(socket.remoteAddress, '127.0.0.1');
    socket.destroy();
    for (const blocked of ['10.0.0.7', '169.254.169.254']) {
      await assert.rejects(connectTo(url, settings, options), (error: Error) => {
        assert.equal(Reflect.get(error, 'failure'), 'host_unreachable');
        assert.match(String(error.cause), new RegExp(`blocked address: ${blocked}`));
        return true;
      });
    }
    listener.close();
  });
});
