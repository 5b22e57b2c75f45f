// Source: tsdb-http, "Semantics of a line", "Parse error messages", "Line failures".

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  assertJson,
  badLine,
  refusal,
  rows,
  SharedServer,
  WRITE_APIS,
  write,
} from '../../harness/index.js';

let server: SharedServer;
before(async () => {
  server = await SharedServer.get();
});
after(async () => await server.close());

/** Asserts that each write endpoint refuses the line, both as a single line and after a good line of the same table; `db` stays unchanged. */
async function assertRefused(line: string, message: string, db = 'refused'): Promise<void> {
  for (const api of WRITE_APIS) {
    const alone = await write(server, { api, db }, line);
    assertJson(alone, 400, refusal(api, [badLine(line, 1, message)]));
    const second = await write(server, { api, db }, `good f=1 1\n${line}`);
    assertJson(second, 400, refusal(api, [badLine(line, 2, message)], { isPartial: true }));
  }
}

const trailing = (text: string) =>
  `Could not parse entire line. Found trailing content: \`${text}\``;

describe('a line that cannot be parsed', () => {
  const cases: readonly (readonly [line: string, message: string])[] = [
    ['measurement', 'Expected at least one space character, got end of input'],
    [',tag=1 f=1', 'Invalid measurement was provided'],
    ['\0m f=1', 'Invalid measurement was provided'],
    ['foo 1234', 'No fields were provided'],
    ['m f=hi', 'No fields were provided'],
    ['m f=', 'No fields were provided'],
    ['field=1 1234', 'No fields were provided'],
    ['J,#', 'Tag set malformed: could not find equals sign in `#`'],
    ['J,', 'Expected tag key, got end of input'],
    ['t, bar=1i', 'Expected tag key, got ` bar=1i`'],
    ['0,,=', 'Expected tag value, got end of input'],
    ['t,foo= sed=1i', 'Expected tag value, got ` sed=1i`'],
    ['t,foo=,baz=x f=1', 'Expected tag value, got `,baz=x f=1`'],
    ['m f=1i,baz=', trailing('baz=')],
    ['m f=1,g=2,baz=', trailing(',baz=')],
    ['m f=1 abc', trailing(' abc')],
    ['m f=1.', trailing('.')],
    ['m f=99999999999999999999i', 'Unable to parse integer value `99999999999999999999`'],
    ['m f=99999999999999999999u', 'Unable to parse unsigned integer value `99999999999999999999`'],
    ['m f=1 9223372036854775808', 'Unable to parse timestamp value `9223372036854775808`'],
    ['m f=1 -9223372036854775809', 'Unable to parse timestamp value `-9223372036854775809`'],
    ...['m\\\\ f=1', 'm,t\\\\=a f=1', 'm,t=a\\', 'm f\\\\=1'].map(
      (line) =>
        [
          line,
          'Measurements, tag keys and values, and field keys may not end with a backslash',
        ] as const,
    ),
  ];

  it('L-04 is refused with the message of its fault', async () => {
    for (const [line, message] of cases) await assertRefused(line, message);
  });

  it('L-04 is shown by 10 characters when more than 10 bytes follow the fault', async () => {
    await assertRefused('t,foo=,baz= bar=1i', 'Expected tag value, got `,baz= bar=...`');
    await assertRefused('m f=1 abcdefghi', trailing(' abcdefghi'));
    await assertRefused('m f=1 abcdefghij', trailing(' abcdefghi...'));
    await assertRefused('m f=1 ääääää', trailing(' ääääää...'));
    await assertRefused('m f=1 ääääääääää', trailing(' äääääääää...'));
    await assertRefused(
      'J,#aaaaaaaaaaaaaaa',
      'Tag set malformed: could not find equals sign in `#aaaaaaaaa...`',
    );
  });

  it('L-04 has a tab that is no separator, a sign before u, or a second timestamp', async () => {
    await assertRefused('m\tf=1 1', 'Expected at least one space character, got `\tf=1 1`');
    await assertRefused('m f=1\t1', trailing('\t1'));
    await assertRefused('m f=-1u', trailing('u'));
    await assertRefused('m f=1.5i', trailing('i'));
    await assertRefused('m f=1 1.5', trailing('.5'));
    await assertRefused('m f=+1 1', 'No fields were provided');
  });

  it('L-04 is numbered by the physical line where it begins', async () => {
    const body = '# one\n\nm s="three\nfour" 1\nfive\r\n  six\nm,t=a\\\nb f=1 7\nnine f=';
    for (const api of WRITE_APIS) {
      const response = await write(server, { api, db: `numbers_${api}` }, body);
      const none = 'Expected at least one space character, got end of input';
      const data = [
        badLine('five', 5, none),
        badLine('  six', 6, none),
        badLine('nine f=', 9, 'No fields were provided'),
      ];
      assertJson(response, 400, refusal(api, data, { isPartial: true }));
    }
  });

  it('L-04 is shown up to 1024 bytes, cut at a character', async () => {
    const response = await write(server, { db: 'refused' }, `x${'ä'.repeat(600)}`);
    const none = 'Expected at least one space character, got end of input';
    assertJson(response, 400, refusal('write_lp', [badLine(`x${'ä'.repeat(511)}`, 1, none)]));
  });

  it('L-04 is reported with all others, up to 1000 of them', async () => {
    const response = await write(server, { db: 'refused' }, 'x\n'.repeat(1500));
    const none = 'Expected at least one space character, got end of input';
    const data = Array.from({ length: 1000 }, (_, index) => badLine('x', index + 1, none));
    assertJson(response, 400, refusal('write_lp', data));
  });

  it('L-04 has a time that its precision carries beyond 64 bits', async () => {
    const check = async (precision: string, time: string, name: string) => {
      const line = `m f=1 ${time}`;
      const message = `timestamp, ${time}, out of range for precision: ${name}`;
      for (const api of WRITE_APIS) {
        const to = { api, db: 'range', parameters: `precision=${precision}` };
        assertJson(await write(server, to, line), 400, refusal(api, [badLine(line, 1, message)]));
      }
    };
    await check('s', '9223372037', 'Second');
    await check('s', '-9223372037', 'Second');
    await check('ms', '9223372036855', 'Millisecond');
    await check('us', '9223372036854776', 'Microsecond');
  });
});

describe('a line that says something twice', () => {
  it('L-03 is refused for a field or a tag of the same name', async () => {
    const twice = (key: string, what: string) =>
      `invalid line protocol - multiple instances of '${key}' ${what} found`;
    await assertRefused('m f=1,f=1 1', twice('f', 'field'));
    await assertRefused('m a=1,f=1i,f=2 1', twice('f', 'field'));
    await assertRefused('m f\\ x=1,f\\ x=2 1', twice('f x', 'field'));
    await assertRefused('m,t=1,t=1 f=1 1', twice('t', 'tag'));
  });

  it('L-03 is refused for a tag and a field of one name', async () => {
    await assertRefused(
      'm,a=1 a=1 1',
      "invalid column type for column 'a', expected iox::column_type::tag, got iox::column_type::field::float",
    );
  });

  it('L-03 is refused for a column that is named time, in a new table', async () => {
    await assertRefused('new time=1 1', "'time' is a reserved column");
    await assertRefused('new,time=a f=1 1', "'time' is a reserved column");
    await assertRefused('new __chunk_order=1i 1', "'__chunk_order' is a reserved column");
    await assertRefused('new,__chunk_order=a f=1 1', "'__chunk_order' is a reserved column");
  });

  it('L-03 is refused for a column that is named time, in an existing table', async () => {
    assertEmpty(await write(server, { db: 'refused' }, 'old f=1 1'));
    const types = {
      'old time=1 1': 'field::float',
      'old time=1i 1': 'field::integer',
      'old time=1u 1': 'field::uinteger',
      'old time="x" 1': 'field::string',
      'old time=t 1': 'field::boolean',
      'old,time=a f=1 1': 'tag',
    };
    for (const [line, type] of Object.entries(types)) {
      await assertRefused(
        line,
        `invalid column type for column 'time', expected iox::column_type::timestamp, got iox::column_type::${type}`,
      );
    }
  });

  it('L-03 leaves nothing behind when it is refused', async () => {
    const tables = await rows(
      server,
      'refused',
      "SELECT table_name FROM information_schema.tables WHERE table_schema = 'iox' ORDER BY 1",
    );
    assert.deepEqual(tables, [{ table_name: 'good' }, { table_name: 'old' }]);
  });
});
