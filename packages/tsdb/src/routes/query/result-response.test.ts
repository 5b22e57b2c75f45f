import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PiecePool } from '../formats/piece-pool.js';
import { PRETTY } from '../formats/pretty.js';
import { resultResponse } from './result-response.js';

it('other requests are served while all rows are gathered before the first is written', async () => {
  const values = Float64Array.from({ length: 2048 }, (_, row) => row);
  const chunks = async function* () {
    for (let count = 0; count < 200; count++) {
      yield { rowCount: values.length, columns: [{ values, validity: undefined }] };
    }
  };
  const columns = [
    { name: 'v', type: { kind: 'float', bits: 64 }, tableColumnKind: undefined },
  ] as const;
  let turnCount = 0;
  const count = setInterval(() => {
    turnCount++;
  });
  await resultResponse(
    { columns, tableName: undefined, chunks: chunks() },
    PRETTY,
    new PiecePool(),
  );
  clearInterval(count);
  assert.ok(turnCount > 3, `${turnCount} turns`);
});
