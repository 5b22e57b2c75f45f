// Renames and a conversion, which leave the rows under other names and types, and the deletion of one field.
import { setTimeout as sleep } from 'node:timers/promises';
import { stocks } from './data.mjs';

const db = 'schema';
const TABLE = '/api/v3/configure/table';
const COLUMN = '/api/v3/configure/column';

export async function showSchemaChanges(narrator, client) {
  narrator.title('Other names and types for stored rows');
  const all = stocks();
  const send = async (method, path, { expected = 200, ...options } = {}) => {
    const { status, text } = await client.call(method, path, options);
    if (status !== expected) throw new Error(`${path}: ${status} ${text.slice(0, 300)}`);
    return text;
  };
  const post = (path, body, expected) =>
    send('POST', path, {
      ...(expected !== undefined && { expected }),
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ db, ...body }),
    });
  await narrator.step('write prices with their day as an integer', () =>
    send('POST', '/api/v3/write_lp', {
      expected: 204,
      query: { db, precision: 'millisecond' },
      body: all
        .map(
          ({ symbol, price, timeMs }, i) => `price,symbol=${symbol} p=${price},n=${i}i ${timeMs}`,
        )
        .join('\n'),
    }),
  );
  await narrator.step('rename the table, the tag and the field', async () => {
    await post(`${TABLE}/rename`, { table: 'price', new_name: 'stock' });
    await post(`${COLUMN}/rename`, { table: 'stock', column: 'symbol', new_name: 'ticker' });
    await post(`${COLUMN}/rename`, { table: 'stock', column: 'p', new_name: 'dollars' });
  });
  const first = all[0].symbol;
  const sum = all.filter(({ symbol }) => symbol === first).reduce((s, { price }) => s + price, 0);
  await narrator.check(
    'the rows have the new names',
    async () => {
      const q = `SELECT sum(dollars) AS s FROM stock WHERE ticker = '${first}'`;
      return (await client.query(db, q))[0].s.toFixed(6);
    },
    sum.toFixed(6),
    (text) => `${first} ${text}`,
  );
  await narrator.check(
    'a query under the old name fails',
    async () => {
      const query = { db, q: 'SELECT * FROM price' };
      const { status, text } = await client.call('GET', '/api/v3/query_sql', { query });
      return `${status} ${/renamed to 'stock'/.test(text)}`;
    },
    '400 true',
    () => "renamed to 'stock'",
  );
  await narrator.check(
    'convert the integers to floats',
    async () => {
      await post(`${COLUMN}/convert`, { table: 'stock', column: 'n', to: 'float64' }, 202);
      for (;;) {
        const [latest] = JSON.parse(await send('GET', `${COLUMN}/convert`)).conversions;
        if (latest.state !== 'running') break;
        await sleep(100);
      }
      const [row] = await client.query(
        db,
        'SELECT sum(n) AS s, arrow_typeof(sum(n)) AS t FROM stock',
      );
      return `${row.s} ${row.t}`;
    },
    `${(all.length * (all.length - 1)) / 2} Float64`,
    (text) => `sum ${text}`,
  );
  await narrator.check(
    'delete one field of one series',
    async () => {
      await send('POST', '/api/v2/delete', {
        expected: 204,
        query: { bucket: db },
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          start: '1970-01-01T00:00:00Z',
          stop: '2100-01-01T00:00:00Z',
          predicate: `_measurement="stock" AND _field="n" AND ticker="${first}"`,
        }),
      });
      const q = 'SELECT count(*) AS prices, count(n) AS days, count(dollars) AS dollars FROM stock';
      return (await client.query(db, q))[0];
    },
    {
      prices: all.length,
      days: all.filter(({ symbol }) => symbol !== first).length,
      dollars: all.length,
    },
    ({ prices, days }) => `${prices - days} of ${prices} values`,
  );
}
