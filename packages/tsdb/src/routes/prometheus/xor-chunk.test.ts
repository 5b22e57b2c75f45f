// The expected bytes are those of `chunkenc.NewXORChunk` of Prometheus 2.42, without the empty byte that it appends to a full one.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { XorChunk } from './xor-chunk.js';

const TIME_MS = 1_735_549_200_000;

const bits = (value: number): bigint => {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
};

const chunk = new XorChunk(120);
function check(times: readonly number[], values: readonly bigint[], expected: string): void {
  for (const [i, timeMs] of times.entries()) {
    const value = values[i] ?? 0n;
    chunk.add(timeMs, Number(value & 0xffffffffn), Number(value >> 32n));
  }
  assert.equal(chunk.count, times.length);
  assert.equal(Buffer.from(chunk.take()).toString('hex'), expected);
  assert.equal(chunk.count, 0);
}

it('encodes the first sample with its time and value', () => {
  check([TIME_MS], [bits(1.5)], '0001809ad9ec82653ff8000000000000');
  check([-1000, -1], [bits(0), bits(-0.5)], '0002cf0f0000000000000000e707c05dff');
});

it('encodes every width of time differences', () => {
  const deltas = [
    15_000, 15_000, 15_001, 23_193, 15_002, 80_538, 15_002, 539_290, 15_003, 615_002, 10,
  ];
  const times = [TIME_MS];
  for (const delta of deltas) times.push((times.at(-1) as number) + delta);
  const values = [bits(12), ...deltas.map((_, i) => bits(i * 1.25))];
  check(
    times,
    values,
    '000c809ad9ec826540280000000000009875c26402b119ffb000384bfff4001b03b4003ac4dd0000d826f780004fd00001a87ffd000030bf00000000000927bf82ffffffffffffb4ed847c',
  );
});

it('encodes every window of value bits', () => {
  const values = [
    ...[bits(1), bits(1), bits(2), bits(3), 0x7ff0000000000002n, 0xffffffffffffffffn, 0n, 1n],
    ...[0x8000000000000000n, bits(Infinity), bits(1 / 3), bits(1 / 3 + 1e-16)],
    ...[0x00000001ffffffffn, 0x0000000100000000n, 0xf0f0f0f000000000n],
  ];
  check(
    values.map((_, i) => TIME_MS + i * 15_000),
    values,
    '000f809ad9ec82653ff000000000000098753097ffdb01b17bffc0000000000016002003ffffffffffff57fffffffffffffffa000000000000000150000000000000002bffc00000000000012012aaaaaaaaaaaaa000000000000000247faaaaa955555550800000003fffffffd78787878800000000',
  );
});
