// Source: tsdb-http, "SQL SHOW and catalog"; query-languages, "SQL schema views".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertEmpty, assertError, query, rows, SharedServer, write } from '../../harness/index.js';

let server: SharedServer;
before(async () => {
  server = await SharedServer.get();
  // Byte order sorts Z before a, and U+FF5E before U+1F600; UTF-16 order reverses the latter.
  const body = [
    'cpu,host=a,dc=x f=1,i=1i,u=1u,b=t,s="x",Z=1,z=1 1',
    'Mem f=1 1',
    'zone f=1 1',
    '\u{1f600} f=1 1',
    '\uff5e f=1 1',
  ];
  assertEmpty(await write(server, { db: 'q07' }, body.join('\n')));
  assertEmpty(await write(server, { db: 'q07other' }, 'elsewhere f=1 1'));
});
after(async () => await server.close());

const csv = async (q: string, db = 'q07') => await query(server, { db, q, format: 'csv' });
const ask = async (q: string) =>
  await server.http.send(`/api/v3/query_sql?db=q07&q=${encodeURIComponent(q)}`);

const TABLES = ['Mem', 'cpu', 'zone', '\uff5e', '\u{1f600}'];
const VIEWS = ['tables', 'views', 'columns', 'df_settings', 'schemata', 'routines', 'parameters'];

const COLUMNS: readonly (readonly [name: string, type: string, isNullable: 'YES' | 'NO'])[] = [
  ['Z', 'Float64', 'YES'],
  ['b', 'Boolean', 'YES'],
  ['dc', 'Dictionary(Int32, Utf8)', 'YES'],
  ['f', 'Float64', 'YES'],
  ['host', 'Dictionary(Int32, Utf8)', 'YES'],
  ['i', 'Int64', 'YES'],
  ['s', 'Utf8', 'YES'],
  ['time', 'Timestamp(Nanosecond, None)', 'NO'],
  ['u', 'UInt64', 'YES'],
  ['z', 'Float64', 'YES'],
];
const cell = (text: string) => (text.includes(',') ? `"${text}"` : text);

describe('SHOW TABLES', () => {
  it('Q-07 lists user tables by name, then system tables by name, then the views', async () => {
    for (const q of ['SHOW TABLES', 'show tables;', 'SELECT * FROM information_schema.tables']) {
      const [header, ...lines] = (await csv(q)).trimEnd().split('\n');
      assert.equal(header, 'table_catalog,table_schema,table_name,table_type');
      const isSystem = (line: string) => line.startsWith('public,system,');
      const system = lines.filter(isSystem);
      assert.deepEqual(system, system.toSorted());
      for (const line of system) assert.match(line, /^public,system,[a-z_]+,BASE TABLE$/);
      assert.deepEqual(lines, [
        ...TABLES.map((name) => `public,iox,${name},BASE TABLE`),
        ...system,
        ...VIEWS.map((name) => `public,information_schema,${name},VIEW`),
      ]);
    }
  });

  it('Q-07 lists the tables of its own database only', async () => {
    const q = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'iox'";
    assert.deepEqual(await rows(server, 'q07other', q), [{ table_name: 'elsewhere' }]);
  });

  it('Q-07 refuses clauses that it does not know', async () => {
    const prefix = 'This feature is not implemented: ';
    const check = async (q: string, what: string) =>
      assertError(await ask(q), 405, `${prefix}${what}`);
    await check("SHOW TABLES LIKE 'c%'", 'SHOW TABLES FILTER not supported');
    await check('SHOW TABLES FROM iox', 'SHOW TABLES IN not supported');
    await check('SHOW FULL TABLES', 'SHOW FULL TABLES not supported');
    await check(
      "SHOW COLUMNS FROM cpu LIKE 'c%'",
      'SHOW COLUMNS with WHERE or LIKE is not supported',
    );
  });
});

describe('SHOW COLUMNS', () => {
  const listed = (table: string, columns: typeof COLUMNS) =>
    columns.map(([name, type, isNullable]) =>
      ['public', 'iox', table, name, cell(type), isNullable].join(','),
    );

  it('Q-07 lists columns by name, with FROM and IN and any qualification', async () => {
    const expected = [
      'table_catalog,table_schema,table_name,column_name,data_type,is_nullable',
      ...listed('cpu', COLUMNS),
      '',
    ].join('\n');
    for (const from of ['FROM cpu', 'IN cpu', 'FROM CPU', 'FROM iox.cpu', 'FROM public.iox.cpu']) {
      assert.equal(await csv(`SHOW COLUMNS ${from}`), expected, from);
    }
  });

  it('Q-07 lists all that is known of columns with FULL or EXTENDED', async () => {
    const view =
      "SELECT * FROM information_schema.columns WHERE table_schema = 'iox' AND table_name = 'cpu' " +
      'ORDER BY ordinal_position';
    for (const word of ['FULL', 'EXTENDED']) {
      assert.equal(await csv(`SHOW ${word} COLUMNS FROM cpu`), await csv(view));
    }
  });

  it('Q-07 reads table names as any statement does: folded unless quoted', async () => {
    const found = (await csv('SHOW COLUMNS FROM "Mem"')).split('\n').slice(1, -1);
    const expected = listed(
      'Mem',
      COLUMNS.filter(([name]) => name === 'f' || name === 'time'),
    );
    assert.deepEqual(found, expected);
    assertError(
      await ask('SHOW COLUMNS FROM Mem'),
      400,
      "Error during planning: table 'public.iox.mem' not found",
    );
  });

  it('Q-07 answers as series in the documented json', async () => {
    const response = await ask('SHOW COLUMNS FROM zone');
    const header =
      '["table_catalog","table_schema","table_name","column_name","data_type","is_nullable"]';
    const values =
      '["public","iox","zone","f","Float64","YES"],["public","iox","zone","time","Timestamp(Nanosecond, None)","NO"]';
    assert.equal(
      response.text,
      `{"results":[{"series":[{"name":"result","columns":${header},"values":[${values}]}]}]}`,
    );
  });
});

describe('DESCRIBE', () => {
  it('Q-07 names columns, types and whether they can be NULL', async () => {
    const expected = [
      'column_name,data_type,is_nullable',
      ...COLUMNS.map(([name, type, isNullable]) => `${name},${cell(type)},${isNullable}`),
      '',
    ].join('\n');
    assert.equal(await csv('DESCRIBE cpu'), expected);
    assert.equal(await csv('DESC iox.cpu'), expected);
  });

  it('Q-07 shows a column from the moment a write brings it', async () => {
    assertEmpty(await write(server, { db: 'q07grow' }, 'm f=1 1'));
    const names = async () => (await csv('DESCRIBE m', 'q07grow')).split('\n').slice(1, -1);
    const time = 'time,"Timestamp(Nanosecond, None)",NO';
    assert.deepEqual(await names(), ['f,Float64,YES', time]);
    assertEmpty(await write(server, { db: 'q07grow' }, 'm,a=x z=1u 2'));
    const tag = 'a,"Dictionary(Int32, Utf8)",YES';
    assert.deepEqual(await names(), [tag, 'f,Float64,YES', time, 'z,UInt64,YES']);
  });
});

describe('information_schema', () => {
  it('Q-07 has the columns of all tables, numbered from 1', async () => {
    const q =
      'SELECT column_name, ordinal_position, data_type, is_nullable FROM information_schema.columns ' +
      "WHERE table_catalog = 'public' AND table_schema = 'iox' AND table_name = 'cpu' ORDER BY ordinal_position";
    assert.deepEqual(
      await rows(server, 'q07', q),
      COLUMNS.map(([column_name, data_type, is_nullable], index) => ({
        column_name,
        ordinal_position: index + 1,
        data_type,
        is_nullable,
      })),
    );
  });

  it('Q-07 has its columns in the documented order', async () => {
    const [header = ''] = (await csv('SELECT * FROM information_schema.columns')).split('\n');
    const names = header.split(',');
    assert.deepEqual(names.slice(0, 8), [
      'table_catalog',
      'table_schema',
      'table_name',
      'column_name',
      'ordinal_position',
      'column_default',
      'is_nullable',
      'data_type',
    ]);
  });

  it('Q-07 says that columns of a database with more than 100,000 are too many', async () => {
    const fields = Array.from({ length: 450 }, (_, i) => `f${i}=1`).join(',');
    const lines = Array.from({ length: 250 }, (_, i) => `t${i} ${fields} 1`).join('\n');
    const written = await server.http.send('/write?db=q07many', { body: lines });
    assert.equal(written.status, 204, written.text);
    const q = encodeURIComponent('SELECT count(*) FROM information_schema.columns');
    const response = await server.http.send(`/api/v3/query_sql?db=q07many&q=${q}`);
    assert.ok(
      (response.status >= 400 && response.status < 500) || response.status === 501,
      response.text,
    );
    assert.match(response.text, /more than 100000 rows/);
  });

  it('Q-07 has schemata, views, settings, routines and parameters', async () => {
    const schemas = await rows(
      server,
      'q07',
      'SELECT schema_name FROM information_schema.schemata ORDER BY schema_name',
    );
    assert.deepEqual(
      schemas,
      ['information_schema', 'iox', 'system'].map((schema_name) => ({ schema_name })),
    );
    const setting =
      "SELECT value FROM information_schema.df_settings WHERE name = 'datafusion.catalog.default_schema'";
    assert.deepEqual(await rows(server, 'q07', setting), [{ value: 'iox' }]);
    for (const view of VIEWS) {
      assert.equal((await ask(`SELECT * FROM information_schema.${view}`)).status, 200, view);
    }
  });

  it('Q-07 is not changed by tables of its name', async () => {
    assertEmpty(await write(server, { db: 'q07named' }, 'tables f=1 1\ninformation_schema f=2 1'));
    assert.deepEqual(await rows(server, 'q07named', 'SELECT f FROM tables'), [{ f: 1 }]);
    assert.deepEqual(await rows(server, 'q07named', 'SELECT f FROM information_schema'), [
      { f: 2 },
    ]);
    const q =
      "SELECT table_name FROM information_schema.tables WHERE table_schema = 'iox' ORDER BY table_name";
    assert.deepEqual(await rows(server, 'q07named', q), [
      { table_name: 'information_schema' },
      { table_name: 'tables' },
    ]);
  });
});

describe('statements of the other language', () => {
  it('Q-07 are refused', async () => {
    for (const q of ['SHOW MEASUREMENTS', 'SHOW TAG KEYS', 'SHOW FIELD KEYS FROM cpu']) {
      assert.equal((await ask(q)).status, 400, q);
    }
  });
});

it('looks tables up in the catalog that a name says', async () => {
  assert.equal((await ask('SELECT f FROM public.iox.cpu')).status, 200);
  for (const name of ['other.iox.cpu', 'other.information_schema.tables']) {
    assertError(
      await ask(`SELECT * FROM ${name}`),
      400,
      `Error during planning: table '${name}' not found`,
    );
  }
});
