import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it } from 'node:test';
import { connectTo } from './connect.js';
import { TargetGuard } from './target-guard.js';

const v4 = (address: string): LookupAddress => ({ address, family: 4 });

describe('connectTo', () => {
  const guard = new TargetGuard({ allowed: ['127.0.0.0/8'] });
  const noLookup = async (): Promise<never> => assert.fail('looked up');
  const options = () => ({ insecure: false, signal: AbortSignal.timeout(5000) });
  const failureIs = (failure: string) => (error: Error) =>
    Reflect.get(error, 'failure') === failure;

  it('speaks TLS where the URL asks for it, and hands out nothing less', async () => {
    const listener = createServer((socket) => {
      socket.on('error', () => {}); // reset by who gives up
      socket.end('no TLS');
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const settings = { guard, lookup: noLookup, authorities: [], proxy: undefined };
    await assert.rejects(connectTo(new URL(`https://127.0.0.1:${port}/`), settings, options()), {
      name: 'TransportFailed',
    });
    // An address is not looked up.
    const plain = await connectTo(new URL(`http://127.0.0.1:${port}/`), settings, options());
    plain.destroy();
    listener.close();
  });

  it('tells a name that nobody knows from a delivery that was given up', async () => {
    const url = new URL('http://nobody.example/');
    const about = { guard, authorities: [], proxy: undefined };
    const unknown = async (): Promise<never> => {
      throw new Error('ENOTFOUND');
    };
    await assert.rejects(
      connectTo(url, { ...about, lookup: unknown }, options()),
      failureIs('host_unreachable'),
    );
    const giving = new AbortController();
    const slow = async (): Promise<never> => {
      giving.abort(new Error('given up'));
      return await new Promise<never>(() => {});
    };
    await assert.rejects(
      connectTo(url, { ...about, lookup: slow }, { insecure: false, signal: giving.signal }),
      { message: 'given up' },
    );
    await assert.rejects(
      connectTo(url, { ...about, lookup: unknown }, { insecure: false, signal: giving.signal }),
      { message: 'given up' },
    );
  });

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
